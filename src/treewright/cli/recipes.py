"""The options of a recipe: --algorithm, and one option per choice. A choice not given is the algorithm's own."""

from __future__ import annotations

import dataclasses
import json
import re
import types
import typing
from collections.abc import Callable
from typing import Any, TypeVar

import click

from treewright.cli.help_sections import add_options, section
from treewright.data.schema import Task
from treewright.recipes.branching import BRANCHING_NAMES
from treewright.recipes.criterion import CRITERION_NAMES
from treewright.recipes.missing import MISSING_NAMES
from treewright.recipes.named import ID3, RECIPES, recipe_key
from treewright.recipes.numeric import NUMERIC_NAMES
from treewright.recipes.pruners import PRUNERS, Pruner
from treewright.recipes.recipe import Recipe
from treewright.training.parameters import recipe_with

Command = TypeVar("Command", bound=Callable[..., Any])


def algorithm_name(text: str) -> str:
    """Return a recipe's name as the shell writes it, in lower case and with dashes: c4.5, exhaustive-chaid."""
    key = recipe_key(text)
    return "c4.5" if key == "c45" else key.replace("_", "-") if key in RECIPES else text.lower()


#: Every named recipe by its name in the shell.
ALGORITHMS: dict[str, Recipe] = {algorithm_name(name): recipe for name, recipe in RECIPES.items()}

#: Every pruner by its name with dashes: cost-complexity-cv.
PRUNER_NAMES: dict[str, type[Pruner]] = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "-", pruner.__name__).lower(): pruner for pruner in PRUNERS
}


class OneOf(click.ParamType[str]):
    """One of some names; - and _ are the same."""

    name = "name"

    def __init__(self, names: typing.Iterable[str]) -> None:
        self.names = list(dict.fromkeys(name.replace("_", "-") for name in names))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        written = str(value).lower().replace("_", "-")
        if written not in self.names:
            self.fail(f"{value!r} is not known; choose from {', '.join(self.names)}", param, ctx)
        return written.replace("-", "_")


class Algorithm(click.Choice[str]):
    """One of the named recipes; c45 is c4.5, and - and _ are the same."""

    def __init__(self) -> None:
        super().__init__(list(ALGORITHMS), case_sensitive=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(super().convert(algorithm_name(str(value)), param, ctx))


class Amount(click.ParamType[float]):
    """A count, or with a point a share of all."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return int(value)
        except ValueError:
            try:
                return float(value)
            except ValueError:
                self.fail(f"{value!r} is not a number", param, ctx)


class Features(Amount):
    """A count, a share, sqrt or log2."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value in {"sqrt", "log2"} else super().convert(value, param, ctx)


class Json(click.ParamType[Any]):
    """JSON, or a word that stands for itself."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str) or re.fullmatch(r"[a-z_]+", value):
            return value
        try:
            return json.loads(value)
        except ValueError as error:
            self.fail(f'{value!r} is not JSON ({error}); write it as in \'{{"yes": 2, "no": 1}}\'', param, ctx)


_option = section("Recipe")


def _named(option: str, names: typing.Iterable[str], what: str) -> Any:
    """Return an option that takes one of some names, which its help lists."""
    kind = OneOf(names)
    return _option(option, type=kind, help=f"{what}: {', '.join(kind.names)}.")


_OPTIONS = (
    _option("-a", "--algorithm", type=Algorithm(), default="cart", show_default=True, help="The recipe to start from."),
    _named("--criterion", CRITERION_NAMES, "Criterion that scores splits"),
    _named("--branching", BRANCHING_NAMES, "Branching of levels"),
    _named("--numeric", NUMERIC_NAMES, "Splits of numeric columns"),
    _named("--missing-policy", MISSING_NAMES, "Missing-value policy"),
    _named("--unseen", ("missing", "majority", "error"), "Treatment of unseen levels"),
    _option("--max-depth", type=click.IntRange(0), help="Maximum depth of the tree."),
    _option(
        "--min-split",
        "min_samples_split",
        type=Amount(),
        help="Minimum rows of a node that is split; 0.1 is a fraction.",
    ),
    _option("--min-leaf", "min_samples_leaf", type=Amount(), help="Minimum rows of a leaf; 0.1 is a fraction."),
    _option(
        "--min-leaf-weight", "min_weight_fraction_leaf", type=float, help="Minimum fraction of the weight in a leaf."
    ),
    _option("--max-leaves", "max_leaf_nodes", type=click.IntRange(2), help="Maximum number of leaves."),
    _option("--max-features", type=Features(), help="Columns drawn per node: a count, a fraction, sqrt, log2."),
    _option("--min-decrease", "min_impurity_decrease", type=float, help="Minimum impurity decrease of a split."),
    _option("--max-impurity", type=float, help="Maximum impurity of a leaf: a node at or below it is not split."),
    _option("--significance", type=float, help="Maximum p-value of a split."),
    _option(
        "--pruning",
        metavar="NAME[:KEY=VALUE,...]",
        help=f"Pruning method: none, {', '.join(PRUNER_NAMES)}; as in cost-complexity:alpha=0.01.",
    ),
    _named("--smoothing", ("none", "laplace", "m_estimate", "shrinkage", "shrinkage_cv"), "Smoothing of leaves"),
    _option("--m", type=float, help="For m-estimate and shrinkage: the strength."),
    _option("--alpha-merge", type=float, help="CHAID: p-value above which levels are merged."),
    _option("--alpha-split", type=float, help="CHAID: maximum adjusted p-value of a split."),
    _option("--min-child", type=click.IntRange(1), help="CHAID: minimum rows of a child."),
    _option("--bonferroni/--no-bonferroni", default=None, help="CHAID: adjust p-values."),
)

_CLASS_OPTIONS = (
    _option("--class-weight", type=Json(), metavar="JSON", help="balanced, or weights as JSON."),
    _option("--costs", type=Json(), metavar="JSON", help='Costs of wrong predictions: {"truth": {"predicted": 5}}.'),
    _option("--priors", type=Json(), metavar="JSON", help="Class priors as JSON."),
)


def recipe_options(command: Command) -> Command:
    """Add one option for every choice of a recipe."""
    return add_options(command, (*_OPTIONS, *_CLASS_OPTIONS))


def class_options(command: Command) -> Command:
    """Add the options that give weight to classes."""
    return add_options(command, _CLASS_OPTIONS)


#: The options that `recipe_with` knows, by its names.
CHOICES = (
    "criterion", "branching", "numeric", "unseen", "max_depth", "min_samples_split", "min_samples_leaf",
    "min_weight_fraction_leaf", "max_leaf_nodes", "max_features", "min_impurity_decrease", "max_impurity",
    "significance", "smoothing", "m", "alpha_merge", "alpha_split", "min_child", "bonferroni",
)  # fmt: skip


def recipe_of(settings: dict[str, Any], task: Task, n_rows: int, n_columns: int, weight: float, seed: int) -> Recipe:
    """Return the recipe that the options define."""
    base = ALGORITHMS[settings["algorithm"]]
    chosen = {name: settings[name] for name in CHOICES if settings.get(name) is not None}
    chosen["missing"] = settings.get("missing_policy")
    if base is ID3 and "numeric" not in chosen:
        chosen["numeric"] = "binned"  # ID3 as published splits no numbers; in quantile groups it does
    if settings.get("pruning") is not None:
        chosen["pruning"] = pruner_of(settings["pruning"])
    else:
        chosen["pruning"] = "recipe"
    if seed:
        chosen["seed"] = seed
    return recipe_with(base, task, chosen, n_rows=n_rows, n_columns=n_columns, total_weight=weight)


def pruner_of(text: str, **given: Any) -> Pruner | None:
    """Parse a pruner: cost-complexity:alpha=0.01; `given` are settings from other options."""
    name, _, rest = text.partition(":")
    name = name.strip().lower().replace("_", "-")
    if name == "none":
        return None
    if name not in PRUNER_NAMES:
        raise click.UsageError(f"there is no pruning {name!r}; choose from none, {', '.join(PRUNER_NAMES)}")
    pruner = PRUNER_NAMES[name]
    fields = {field.name: field for field in dataclasses.fields(pruner)}
    types_of = typing.get_type_hints(pruner)
    settings: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        key = key.replace("-", "_")
        if not sign or key not in fields:
            known = ", ".join(fields) or "none"
            raise click.UsageError(f"{name} has no setting {part!r}; its settings are {known}, as in {name}:KEY=VALUE")
        settings[key] = _setting(name, key, value, types_of[key])
    for key, value in given.items():
        if value is not None:
            if key not in fields:
                raise click.UsageError(f"{name} has no setting {key!r}; its settings are {', '.join(fields) or 'none'}")
            settings[key] = value
    needed = [
        field.name for field in fields.values() if field.default is dataclasses.MISSING and field.name not in settings
    ]
    if needed:
        raise click.UsageError(f"{name} needs {needed[0]}: write {name}:{needed[0]}=...")
    return pruner(**settings)


def _setting(name: str, key: str, value: str, kind: Any) -> Any:
    """Return a setting's text as its type."""
    options = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    try:
        if any(typing.get_origin(option) is tuple for option in options):
            item = int if key == "nodes" else float
            return tuple(item(part) for part in value.split("+"))
        if bool in options:
            return {"true": True, "yes": True, "false": False, "no": False}[value.lower()]
        if int in options:
            return int(value)
        return float(value) if float in options else value
    except (ValueError, KeyError):
        raise click.UsageError(f"{name}:{key}={value}: {value!r} is not what {key} takes") from None
