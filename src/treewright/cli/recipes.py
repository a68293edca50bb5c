"""The options that make a recipe.

Comes in: --algorithm, and an option for every choice. Goes out: a `Recipe`, or a pruner.
Always holds: what is not given is as the algorithm has it; names may be written with - or with _.
"""

from __future__ import annotations

import dataclasses
import json
import re
import types
import typing
from collections.abc import Callable
from typing import Any, TypeVar

import click

from treewright.cli.sections import section
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


class Name(click.ParamType[str]):
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


def _names(names: typing.Iterable[str]) -> str:
    return ", ".join(name.replace("_", "-") for name in names)


def recipe_options(command: Command) -> Command:
    """One option for every choice of a recipe."""
    of_recipe = section("The recipe")
    options = (
        of_recipe(
            "-a",
            "--algorithm",
            type=Algorithm(),
            default="cart",
            show_default=True,
            help="The choices to start from.",
        ),
        of_recipe(
            "--criterion", type=Name(CRITERION_NAMES), help=f"What makes a split good: {_names(CRITERION_NAMES)}."
        ),
        of_recipe(
            "--branching", type=Name(BRANCHING_NAMES), help=f"How levels become branches: {_names(BRANCHING_NAMES)}."
        ),
        of_recipe("--numeric", type=Name(NUMERIC_NAMES), help=f"How numbers are asked about: {_names(NUMERIC_NAMES)}."),
        of_recipe(
            "--missing-policy", type=Name(MISSING_NAMES), help=f"Where a missing value goes: {_names(MISSING_NAMES)}."
        ),
        of_recipe(
            "--unseen",
            type=Name(("missing", "majority", "error")),
            help="Where an unknown level goes: missing, majority, error.",
        ),
        of_recipe("--max-depth", type=click.IntRange(0), help="The longest path from the root to a leaf."),
        of_recipe("--min-split", "min_samples_split", type=Amount(), help="Fewest rows to split; 0.1 is a share."),
        of_recipe("--min-leaf", "min_samples_leaf", type=Amount(), help="Fewest rows of a leaf; 0.1 is a share."),
        of_recipe("--min-leaf-weight", "min_weight_fraction_leaf", type=float, help="Least share of weight."),
        of_recipe("--max-leaves", "max_leaf_nodes", type=click.IntRange(2), help="Most leaves."),
        of_recipe("--max-features", type=Features(), help="Columns to look at: a count, a share, sqrt, log2."),
        of_recipe("--min-decrease", "min_impurity_decrease", type=float, help="Least improvement by a split."),
        of_recipe("--max-impurity", type=float, help="A node as pure as this stays a leaf."),
        of_recipe("--significance", type=float, help="Largest p of a split."),
        of_recipe(
            "--pruning",
            metavar="NAME[:KEY=VALUE,...]",
            help=f"How the tree is cut back: none, {', '.join(PRUNER_NAMES)}; as in cost-complexity:alpha=0.01.",
        ),
        of_recipe(
            "--smoothing",
            type=Name(("none", "laplace", "m_estimate")),
            help="Shares to probabilities: none, laplace, m-estimate.",
        ),
        of_recipe("--m", type=float, help="For m-estimate: how many rows are added."),
        of_recipe("--alpha-merge", type=float, help="CHAID: levels that differ less are merged."),
        of_recipe("--alpha-split", type=float, help="CHAID: largest adjusted p of a split."),
        of_recipe("--min-child", type=click.IntRange(1), help="CHAID: fewest rows of a child."),
        of_recipe("--bonferroni/--no-bonferroni", default=None, help="CHAID: whether p is adjusted."),
        of_recipe("--class-weight", type=Json(), metavar="JSON", help="balanced, or weights as JSON."),
        of_recipe("--costs", type=Json(), metavar="JSON", help='What wrong answers cost: {"truth": {"answer": 5}}.'),
        of_recipe("--priors", type=Json(), metavar="JSON", help="How frequent the classes really are."),
    )
    for option in reversed(options):
        command = option(command)
    return command


#: The options that `recipe_with` knows, by its names.
_CHOICES = (
    "criterion", "branching", "numeric", "unseen", "max_depth", "min_samples_split", "min_samples_leaf",
    "min_weight_fraction_leaf", "max_leaf_nodes", "max_features", "min_impurity_decrease", "max_impurity",
    "significance", "smoothing", "m", "alpha_merge", "alpha_split", "min_child", "bonferroni",
)  # fmt: skip


def recipe_of(settings: dict[str, Any], task: Task, n_rows: int, n_columns: int, weight: float, seed: int) -> Recipe:
    """The recipe that the options make."""
    base = ALGORITHMS[settings["algorithm"]]
    chosen = {name: settings.get(name) for name in _CHOICES}
    chosen["missing"] = settings.get("missing_policy")
    if base is ID3 and chosen["numeric"] is None:
        chosen["numeric"] = "binned"  # the textbook's ID3 knows no numbers; in ten groups it does
    if settings.get("pruning") is not None:
        chosen["pruning"] = pruner_of(settings["pruning"])
    else:
        chosen["pruning"] = "recipe"
    if seed:
        chosen["seed"] = seed
    return recipe_with(base, task, chosen, n_rows=n_rows, n_columns=n_columns, total_weight=weight)


def pruner_of(text: str, **given: Any) -> Pruner | None:
    """A pruner from its name and settings: cost-complexity:alpha=0.01; `given` are settings that come as options."""
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
    """A setting's text as its type."""
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
