"""Recipes for hypothesis: every accepted triple of criterion, branching and missing policy, the rest at random.

A drawn recipe can be built and fits its table; the other task is refused, so that no rule is shut out.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest
from hypothesis import strategies as st
from oracle_tables import Table, tables

from treewright import recipes as r

CLASS_CRITERIA = (
    r.InformationGain(), r.GainRatio(), r.GainRatio(average_rule=False), r.Gini(), r.Misclassification(), r.Twoing(),
    r.Hellinger(), r.ChiSquare(), r.ChiSquare(likelihood_ratio=True),
)  # fmt: skip
NUMBER_CRITERIA = (r.Variance(), r.StandardDeviation(), r.AbsoluteError(), r.Poisson(), r.FTest())
BRANCHINGS = (r.EachValue(), r.Binary(), r.Grouped(), r.OneVsRest(), r.Merge())
POLICIES = (
    r.Fractional(), r.Surrogates(), r.OwnCategory(), r.MajorityChild(), r.RandomChild(), r.LearnedDirection(),
    r.Ignore(),
    r.RefuseMissing(),
)  # fmt: skip
STOPPINGS = (
    r.Stopping(), r.Stopping(), r.Stopping(), r.Stopping(zero_gain=True), r.Stopping(max_depth=1),
    r.Stopping(min_samples_leaf=2), r.Stopping(min_samples_leaf=3), r.Stopping(min_samples_split=6),
    r.Stopping(min_weight_split=4.0, min_weight_two=2.0, zero_gain=True), r.Stopping(min_weight_leaf=1.5),
    r.Stopping(max_impurity=0.25), r.Stopping(min_impurity_decrease=0.0625), r.Stopping(significance=0.25),
    r.Stopping(max_leaf_nodes=3), r.Stopping(max_leaf_nodes=5, zero_gain=True),
)  # fmt: skip
LEAVES = (r.Leaves(), r.Leaves("laplace"), r.Leaves("m_estimate", 1.5, "majority"), r.Leaves(empty="majority"))


def recipe_of(criterion: Any, branching: Any, missing: Any, **others: Any) -> r.Recipe:
    """`criterion` decides the task; the other task is refused, so that every rule may be tried."""
    role = "criterion" if criterion.task == "classification" else "regression"
    chosen = {"criterion": None, "regression": None, role: criterion}
    numeric = others.pop("numeric", r.Binned(3) if isinstance(branching, r.Merge) else r.Threshold())
    return r.Recipe(branching=branching, missing=missing, numeric=numeric, **chosen, **others)


def possible_recipes() -> list[Any]:
    """Every accepted triple of criterion, branching and missing policy."""
    found = []
    for triple in itertools.product(CLASS_CRITERIA + NUMBER_CRITERIA, BRANCHINGS, POLICIES):
        try:
            recipe_of(*triple)
        except r.RecipeError:
            continue
        found.append(pytest.param(*triple, id="-".join(short(part) for part in triple)))
    return found


def short(choice: Any) -> str:
    unusual = [f.name for f in dataclasses.fields(choice) if getattr(choice, f.name) != f.default]
    return type(choice).__name__ + "".join(f"({name})" for name in unusual)


@st.composite
def numeric_choices(draw: st.DrawFn, criterion: Any, branching: Any) -> Any:
    if isinstance(branching, r.Merge):
        return r.Binned(draw(st.integers(2, 4)))
    binned = not isinstance(criterion, r.Twoing) and draw(st.integers(0, 4)) == 0
    if binned:
        return r.Binned(draw(st.integers(2, 4)))
    in_bits = isinstance(criterion, (r.InformationGain, r.GainRatio)) and draw(st.booleans())
    at, test = draw(st.sampled_from((("midpoint", "<="), ("midpoint", "<"), ("observed", "<="))))
    return r.Threshold(at, test, draw(st.sampled_from((0.0, 0.0, 1e-5, 0.5))), in_bits, in_bits and draw(st.booleans()))


@st.composite
def merges(draw: st.DrawFn) -> r.Merge:
    exhaustive = draw(st.booleans())
    return r.Merge(
        alpha_merge=draw(st.sampled_from((0.05, 0.3, 0.6))),
        alpha_resplit=None if exhaustive else draw(st.sampled_from((None, 0.04))),
        alpha_split=draw(st.sampled_from((0.05, 0.5, 1.0))),
        bonferroni=draw(st.booleans()),
        exhaustive=exhaustive,
        multiplier=draw(st.sampled_from(("spss", "biggs"))),
        min_child=draw(st.integers(1, 3)),
    )


@st.composite
def cases(draw: st.DrawFn, criterion: Any, branching: Any, missing: Any) -> tuple[Table, r.Recipe]:
    """A table and a recipe that goes with it; what the triple leaves open is drawn."""
    if isinstance(branching, r.Merge):
        branching = draw(merges())
    if isinstance(missing, r.Surrogates):
        then, majority = draw(st.sampled_from(("majority", "stop"))), draw(st.sampled_from(("known", "all")))
        missing = r.Surrogates(draw(st.sampled_from((0, 1, 5))), then, majority, draw(st.booleans()))
    refused = isinstance(branching, r.EachValue) and draw(st.integers(0, 3)) == 0
    numeric = draw(numeric_choices(criterion, branching))
    stopping = draw(st.sampled_from(STOPPINGS))
    recipe = recipe_of(
        criterion,
        branching,
        missing,
        numeric=r.CategoricalOnly() if refused else numeric,
        unseen=draw(st.sampled_from(("missing", "majority"))),
        stopping=stopping,
        leaves=draw(st.sampled_from(LEAVES)),
        drop_blank_rows=draw(st.booleans()),
        rivals=draw(st.sampled_from((0, 4))),
        seed=draw(st.integers(0, 3)),
    )
    table = draw(
        tables(
            n_classes=0 if criterion.task == "regression" else criterion.max_classes,
            missing=not isinstance(missing, r.RefuseMissing),
            numbers=not refused,
            counts=isinstance(criterion, r.Poisson),
            whole=isinstance(branching, r.Grouped),
        )
    )
    return table, recipe
