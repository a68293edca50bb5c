"""The tree as one SELECT statement.

One row out for each row in, and the prediction is the one `predict` gives, missing and unseen values too. Steps are
common table expressions, each over the one before it: the inputs with NULL for whatever is missing, the leaf, where
needed the weights of several paths, and at last what was requested. A small tree is one CASE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from treewright.data.schema import TIME_KINDS, ColumnSpec, Schema
from treewright.data.value_text import level, listed
from treewright.errors import ExportError
from treewright.export.dialects import Dialect, dialect_of, level_token, name_token, number_token
from treewright.export.linear.sql_models import model_expression, refuse_moments
from treewright.export.program.plan import Plan, PlanStep, level_type, plan_of, refuse_mixed
from treewright.export.sql_fractional import SEVERAL, FractionalNames, ends_of, extreme, fractional_steps
from treewright.export.sql_route import RouteWriter, truth
from treewright.tree.as_tree import TreeLike, as_tree

DialectName = Literal[
    "standard", "duckdb", "postgresql", "postgres", "sqlite", "mysql", "bigquery", "snowflake", "spark"
]  # fmt: skip
Output = Literal["prediction", "probabilities", "leaf", "interval", "set"]

#: Names longer than this are cut short by some databases, so that two of them may become one.
LONGEST_NAME = 60
#: Words that a database takes for a value even in quotes: SQLite drops such a name of a step's column.
RESERVED = frozenset({"true", "false"})
#: The columns of the output "interval".
_INTERVAL = ("interval_low", "interval_high")
#: Entries of a list that is looked through one by one; longer lists are halved first.
SHORT_LIST = 12


def sql(
    tree: TreeLike,
    *,
    dialect: DialectName = "duckdb",
    table: str | Sequence[str] = "rows",
    output: Output | Sequence[Output] = "prediction",
    keep: Sequence[str] = (),
) -> str:
    """Return a SELECT that predicts each row of a table.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    dialect : str, default="duckdb"
        The database.
    table : str or sequence of str, default="rows"
        A name whose parts are separated by dots, a tuple of parts, or a query in parentheses.
    output : {"prediction", "probabilities", "leaf", "interval", "set"} or sequence of these, default="prediction"
        The columns to return. A calibrated tree has "interval" (`interval_low` and `interval_high`) for numbers and
        "set" (a truth value `set_<class>` per class) for classes.
    keep : sequence of str, default=()
        Columns of the table to return before them, such as a key.

    Returns
    -------
    str
        A query that returns the predictions of every row of the table.

    Raises
    ------
    ExportError
        If the target format cannot represent the tree.
    """
    tree = as_tree(tree)
    chosen = dialect_of(dialect)
    outputs = (output,) if isinstance(output, str) else tuple(output)
    for item in outputs:
        if item not in get_args(Output):
            raise ExportError(f"output has {item!r}; choose from {listed(get_args(Output))}")
    plan, kept = plan_of(tree), (keep,) if isinstance(keep, str) else tuple(keep)
    if not outputs:
        raise ExportError(f"output is empty; choose from {listed(get_args(Output))}")
    _refuse(plan, chosen, outputs)
    _refuse_same_name(tree.schema, plan, chosen)
    taken = [name for name in kept if name.lower() in (*outputs, *_INTERVAL)]
    if taken:
        raise ExportError(f"keep has {taken[0]!r}, which is the name of an output; rename it in a query given as table")
    return _Statement(chosen, plan, outputs, kept, _source(chosen, table)).text()


def _refuse(plan: Plan, dialect: Dialect, outputs: tuple[str, ...]) -> None:
    for step in plan.steps:
        if step.band is not None and plan.inputs[step.questions[0].input].kind in TIME_KINDS:
            raise ExportError(
                f"column {plan.inputs[step.questions[0].input].name!r} has a soft threshold, and databases differ in "
                "how they compute with dates and times; learn from numbers, or export the tree before soften"
            )
    refuse_moments(plan)
    for spec in plan.inputs:
        refuse_mixed(spec.levels or (), f"column {spec.name!r}", f"SQL ({dialect.name})")
    if plan.target.classes is not None:
        refuse_mixed(plan.target.classes, f"the target {plan.target.name!r}", f"SQL ({dialect.name})")
    elif "probabilities" in outputs:
        raise ExportError(f"the target {plan.target.name!r} is a number and has no probabilities; choose 'prediction'")
    ranges = {"interval", "set"} & set(outputs)
    other, fitting = ("interval", "set") if plan.target.classes is not None else ("set", "interval")
    if other in ranges:
        kind = "a number" if fitting == "interval" else "a class"
        raise ExportError(f"the target {plan.target.name!r} is {kind} and has no {other}; choose {fitting!r}")
    if ranges and plan.limits is None:
        raise ExportError("the tree is not calibrated; tree = tw.calibrate(tree, rows it has not seen) does that")


def _refuse_same_name(schema: Schema, plan: Plan, dialect: Dialect) -> None:
    """Raise for names that differ in case only, which SQL does not distinguish."""
    if not dialect.folds_case:
        return
    names: dict[str, list[str]] = {}
    for spec in schema.columns:
        names.setdefault(spec.name.lower(), []).append(spec.name)
    for spec in plan.inputs:
        same = names[spec.name.lower()]
        if len(same) > 1:
            raise ExportError(
                f"the columns {listed(same)} differ in case only, which SQL ({dialect.name}) takes for one column; "
                "rename one of them and learn again"
            )


def _source(dialect: Dialect, table: str | Sequence[str]) -> str:
    if isinstance(table, str) and table.lstrip().startswith("("):
        return table
    parts = table.split(".") if isinstance(table, str) else table
    return ".".join(name_token(dialect, part) for part in parts)


@dataclass
class _Names:
    """Names not in use yet, also for databases that do not distinguish a from A."""

    dialect: Dialect
    taken: set[str] = field(default_factory=set)

    def fresh(self, name: str) -> str:
        free, n = name, 1
        while free.lower() in self.taken:
            n += 1
            free = f"{name}_{n}"
        self.taken.add(free.lower())
        return name_token(self.dialect, free)

    def family(self, name: str) -> str:
        """Return the beginning of names that end in a number; no other name begins so."""
        while any(other.startswith(name) for other in self.taken):
            name += "_"
        self.taken.add(name)
        return name


def _looked_up(leaf: str, runs: list[tuple[int, str]]) -> str:
    if len(runs) == 1:
        return runs[0][1]
    if len(runs) > SHORT_LIST:
        half = len(runs) // 2
        low, high = _looked_up(leaf, runs[:half]), _looked_up(leaf, runs[half:])
        return f"CASE WHEN {leaf} <= {runs[half - 1][0]} THEN {low} ELSE {high} END"
    arms = [f"WHEN {leaf} <= {last} THEN {text}" for last, text in runs[:-1]]
    return f"CASE {' '.join(arms)} ELSE {runs[-1][1]} END"


class _Statement:
    """A statement while it is put together, step by step."""

    def __init__(
        self, dialect: Dialect, plan: Plan, outputs: tuple[str, ...], keep: tuple[str, ...], source: str
    ) -> None:
        self.dialect, self.plan, self.outputs, self.keep, self.source = dialect, plan, outputs, keep, source
        names = _Names(dialect)
        aliases = []
        for i, spec in enumerate(plan.inputs):
            name_token(dialect, spec.name)  # refused now if it cannot be written
            plain = len(spec.name.encode()) <= LONGEST_NAME and spec.name.lower() not in RESERVED
            aliases.append(names.fresh(spec.name if plain else f"input_{i}"))
        self.kept = tuple(names.fresh(f"keep_{i}") for i in range(len(keep)))
        self.leaf = names.family("leaf")
        families = [names.family(name) for name in ("weight_", "fork_", "sum_", "heaviest", "heavy_leaf", "cost_")]
        self.spread_names = FractionalNames(self.leaf, *families[:-1])
        self.cost = families[-1]
        self.step_name = "tree_step_"
        while self.step_name in source.lower():
            self.step_name += "_"
        self.writer = RouteWriter(dialect, plan, tuple(aliases))
        self.steps: list[str] = []

    def text(self) -> str:
        self._add(self._inputs(), self.source + " AS source")
        plan, deepest = self.plan, self.dialect.deepest
        if not plan.spreads and plan.depth <= deepest and self.outputs in (("prediction",), ("leaf",)):
            predicted = str if self.outputs == ("leaf",) else self._prediction
            return self._whole(
                [f"{self._guarded(self.writer.nested(0, deepest, predicted, [], '  '))} AS {self.outputs[0]}"]
            )
        self._find_leaf()
        if plan.spreads:
            for carried, made in fractional_steps(self.writer, self.spread_names, (*self.kept, self.leaf)):
                self._add([*carried, *(f"{expression} AS {name}" for name, expression in made.items())])
            if plan.target.costs is not None:
                self._add_costs()
        return self._whole([part for output in self.outputs for part in self._output(output)])

    # --- steps ---

    def _inputs(self) -> list[str]:
        kept = [f"source.{name_token(self.dialect, k)} AS {name}" for k, name in zip(self.keep, self.kept, strict=True)]
        pairs = zip(self.plan.inputs, self.writer.names, strict=True)
        columns = [*kept, *(f"{self._input(spec)} AS {name}" for spec, name in pairs)]
        return columns or ["1 AS no_input"]

    def _input(self, spec: ColumnSpec) -> str:
        """Return a column with NULL for NaN, as the kind it had when the tree was learned."""
        dialect, raw = self.dialect, f"source.{name_token(self.dialect, spec.name)}"
        kind: str = spec.kind
        if spec.levels is not None:
            kind = level_type(spec.levels)
            small = all(abs(x) < 2**53 for x in spec.levels if not isinstance(x, str))
            if kind == "number" or (kind == "whole" and small):
                kind = "numeric"
        elif kind not in dialect.moment:
            kind = "numeric"
        read = dialect.column.get(kind, "{}").format(raw)
        return dialect.known.format(read) if kind == "numeric" else read

    def _find_leaf(self) -> None:
        """Add the leaf of each row: `SEVERAL` for more than one path, NULL where `predict` refuses the row."""
        carried = [*self.kept, *self.writer.names]
        frontier: list[int] = []

        def end(node: int | None) -> str:
            return str(SEVERAL if node is None else node)

        found = self.writer.nested(0, self.dialect.deepest, end, frontier, "    ")
        self._add([*carried, f"{self._guarded(found)} AS {self.leaf}"])
        while frontier:
            starts, frontier = frontier, []
            arms = [
                f"\n      WHEN {node} THEN {self.writer.nested(node, self.dialect.deepest, end, frontier, '      ')}"
                for node in starts
            ]
            self._add([*carried, f"CASE {self.leaf}{''.join(arms)}\n      ELSE {self.leaf}\n    END AS {self.leaf}"])

    def _add_costs(self) -> None:
        """Add the expected cost of each prediction for rows with several paths."""
        carried = [*self.kept, self.leaf, self.spread_names.heaviest_leaf, *self._sums]
        costs = zip(*(self.plan.target.costs or ()), strict=True)
        made = []
        for k, column in enumerate(costs):
            pairs = zip(self._sums, column, strict=True)
            terms = [f"{prediction} * {number_token(self.dialect, cost)}" for prediction, cost in pairs if cost != 0]
            made.append(f"{' + '.join(terms) or number_token(self.dialect, 0.0)} AS {self.cost}{k}")
        self._add([*carried, *made])

    def _guarded(self, expression: str) -> str:
        refused = self.writer.refused()
        return expression if refused is None else f"CASE WHEN {refused} THEN NULL ELSE {expression} END"

    # --- what comes out ---

    def _output(self, output: str) -> list[str]:
        ends, plan = ends_of(self.plan), self.plan
        if output == "leaf":
            return [f"{self._either(self.spread_names.heaviest_leaf, self.leaf)} AS leaf"]
        if output == "prediction":
            found = self._lookup([(i, self._prediction(i)) for i in ends])
            return [f"{self._either(self._decided(), found)} AS prediction"]
        if output == "interval":
            return [self._interval_limit(name, sign) for name, sign in zip(_INTERVAL, "-+", strict=True)]
        names = _Names(self.dialect, {"prediction", "leaf", *_INTERVAL})
        if output == "set":
            return [
                f"{self._either(self._inside_of_several(k), self._inside(k))} AS {names.fresh(f'set_{level(value)}')}"
                for k, value in enumerate(plan.target.classes or ())
            ]
        columns = []
        for k, value in enumerate(plan.target.classes or ()):
            found = self._lookup([(i, number_token(self.dialect, plan.steps[i].value[k])) for i in ends])
            columns.append(f"{self._either(self._sums[k], found)} AS {names.fresh(f'probability_{level(value)}')}")
        return columns

    def _interval_limit(self, name: str, sign: str) -> str:
        """Return one end of the interval: the prediction and the limit of the leaf."""
        limits, dialect = self.plan.limits or (), self.dialect
        if self.plan.models:
            single = [(i, f"{self._prediction(i)} {sign} {number_token(dialect, limits[i])}") for i, _ in self._ends]
        else:
            signed = [(i, step.value[0], limits[i] if sign == "+" else -limits[i]) for i, step in self._ends]
            single = [(i, number_token(dialect, value + limit)) for i, value, limit in signed]
        found = self._lookup(single)
        several = f"{self._sums[0]} {sign} {self._limit_of_several()}"
        return f"{self._either(several, found)} AS {name}"

    def _inside(self, place: int) -> str:
        limits = self.plan.limits or ()
        return self._lookup([(i, truth(1.0 - step.value[place] <= limits[i])) for i, step in self._ends])

    def _inside_of_several(self, place: int) -> str:
        one = number_token(self.dialect, 1.0)
        return f"CASE WHEN {one} - {self._sums[place]} <= {self._limit_of_several()} THEN TRUE ELSE FALSE END"

    def _limit_of_several(self) -> str:
        limits = self.plan.limits or ()
        entries = [(i, number_token(self.dialect, limits[i])) for i, _ in self._ends]
        return self._lookup(entries, self.spread_names.heaviest_leaf)

    @property
    def _ends(self) -> list[tuple[int, PlanStep]]:
        return [(i, self.plan.steps[i]) for i in ends_of(self.plan)]

    def _prediction(self, node: int | None) -> str:
        step = self.plan.steps[node or 0]
        if step.model is not None:
            return model_expression(self.writer, step.model)
        classes = self.plan.target.classes
        return number_token(self.dialect, step.value[0]) if classes is None else self._class(step.prediction)

    def _class(self, place: int) -> str:
        return level_token(self.dialect, (self.plan.target.classes or ())[place])

    @property
    def _sums(self) -> list[str]:
        return [f"{self.spread_names.prediction}{k}" for k in range(self.plan.n_values)]

    def _decided(self) -> str:
        """Return the prediction of a row with several paths: the most probable class, or the cheapest."""
        if self.plan.target.classes is None:
            return self._sums[0]
        function, rated = self.dialect.greatest, self._sums
        if self.plan.target.costs is not None:
            function, rated = self.dialect.least, [f"{self.cost}{k}" for k in range(self.plan.n_values)]
        arms = [f"WHEN {column} THEN {self._class(k)}" for k, column in enumerate(rated)]
        return f"CASE {extreme(function, rated)} {' '.join(arms)} END"

    def _either(self, several: str, single: str) -> str:
        """Return one expression for rows with several paths, another for those with one, NULL for refused ones."""
        refusing = [f"WHEN {self.leaf} IS NULL THEN NULL"] if self.writer.refused() is not None else []
        arms = [f"WHEN {self.leaf} = {SEVERAL} THEN {several}"] if self.plan.spreads else []
        return f"CASE {' '.join([*refusing, *arms])} ELSE {single} END" if refusing or arms else single

    def _lookup(self, entries: list[tuple[int, str]], leaf: str | None = None) -> str:
        """Return what belongs to the leaf: equal entries of neighbours are one."""
        last_of_run = [e for e, after in zip(entries, [*entries[1:], (0, "")], strict=True) if e[1] != after[1]]
        return _looked_up(leaf or self.leaf, last_of_run)

    # --- text ---

    def _add(self, columns: list[str], source: str | None = None) -> None:
        name = f"{self.step_name}{len(self.steps)}"
        origin = source if source is not None else f"{self.step_name}{len(self.steps) - 1}"
        listing = ",\n    ".join(columns)
        self.steps.append(f"{name} AS {self.dialect.fence}(\n  SELECT\n    {listing}\n  FROM {origin}\n)")

    def _whole(self, columns: list[str]) -> str:
        kept = [f"{name} AS {name_token(self.dialect, k)}" for k, name in zip(self.keep, self.kept, strict=True)]
        listing = ",\n  ".join([*kept, *columns])
        steps = ",\n".join(self.steps)
        return f"WITH {steps}\nSELECT\n  {listing}\nFROM {self.step_name}{len(self.steps) - 1}\n"
