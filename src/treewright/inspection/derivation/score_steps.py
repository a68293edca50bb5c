"""From the counts of a division to the score of its split, step by step.

The steps take the same way as the engine, so on the rows it saw they end in the score it stored; the results are the
core's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treewright.criteria.statistics import impurity_of, score_of
from treewright.data.number_text import count_text, figure, p_text
from treewright.inspection.derivation.criterion_names import Measure, measure_of, shown_name
from treewright.inspection.derivation.formula import Expression, Fraction, Function, Number, Product, Sum, total
from treewright.inspection.derivation.impurity_steps import (
    DerivationStep,
    figures_of,
    impurity_step,
    of,
    shortened,
    step,
)
from treewright.inspection.derivation.split_counts import Division
from treewright.inspection.derivation.test_steps import Expected, significance_steps
from treewright.recipes.criterion import ChiSquare, Criterion, Custom

#: Steps are shown for so many branches; the table of branches has more.
MOST_BRANCHES = 8


@dataclass(frozen=True)
class Derivation:
    """`gain` and `score` are what the steps lead to; `expected`: the table of a chi-square test."""

    steps: tuple[DerivationStep, ...]
    gain: float
    score: float
    expected: Expected | None = None


def derive(
    criterion: Criterion,
    division: Division,
    conditions: Sequence[str],
    *,
    cuts: int | None = None,
    log_multiplier: float | None = None,
) -> Derivation:
    """Return all steps. `cuts`: number of cuts compared, if penalised; `log_multiplier`: Bonferroni's."""
    measure = measure_of(criterion)
    if measure.name in ("chi_square", "f"):
        ratio = isinstance(criterion, ChiSquare) and criterion.likelihood_ratio
        steps, log_p, expected = significance_steps(division, ratio)
        return _tested(steps, log_p, log_multiplier, expected)
    if measure.own_steps is not None:
        steps = measure.own_steps(division)
        return _times_known(steps, division, measure, float(steps[-1].result or 0.0))
    steps, gain = _decrease(measure, division, conditions)
    derived = _times_known(steps, division, measure, gain)
    if cuts is not None:
        derived = _penalised(derived, division, cuts)
    return _ratio(derived, division) if measure.name == "gain_ratio" else derived


def reported(criterion: Custom, score: float, gain: float) -> Derivation:
    """Return a score whose formula is the user's."""
    words = f"the formula is the user's own function {shown_name(criterion)}; larger is better"
    return Derivation((step("Score", words, None, score),), gain, score)


def solved_cuts(derived: Derivation, division: Division, gain: float) -> int | None:
    """Among how many cuts the best was chosen, shown by the penalty that makes the stored gain."""
    exponent = (derived.gain - gain) * division.weight
    return round(2.0**exponent) if -0.5 < exponent < 50 else None


def gain_before_penalty(division: Division) -> Derivation:
    """Return the gain alone, without steps."""
    gain = score_of("information_gain", division.parent, division.children)
    return Derivation((), _known_share(division) * gain, math.nan)


# --- the decrease of an impurity --------------------------------------------------------------------------------------


def _decrease(measure: Measure, division: Division, conditions: Sequence[str]) -> tuple[list[DerivationStep], float]:
    """Before, in each branch, after, and the difference."""
    what = measure.impurity
    parent, children = division.parent, division.children
    if what == "variance":  # its steps are shown from each branch's own mean
        assert division.centred is not None
        parent, children = division.centred[0], division.centred[1:]
    rows = "the rows with a value" if division.missing > 0 else "the node"
    before = impurity_step(f"{_start(what)} of {rows}", measure, parent)
    steps = [before]
    parts: list[Expression] = []
    weights, known = division.weights.tolist(), division.known
    filled = [i for i, weight in enumerate(weights) if weight > 0]
    after = 0.0
    for place, i in enumerate(filled):
        if place < MOST_BRANCHES:
            label = f"{_start(what)} where {conditions[i]}"
            one = impurity_step(label, measure, children[i])
            steps.append(one)
            parts.append(Product((of(weights[i], known), Number(one.shown))))
            result = one.result or 0.0
        else:
            result = impurity_of(measure.impurity_name, children[i])
            parts.append(Number(figure(result)))  # not shown, but counted as one more
        after += weights[i] / known * result
    steps.append(step(f"{_start(what)} after the split", "each branch by its share", total(shortened(parts)), after))
    name = "information_gain" if what == "entropy" else measure.name
    gain = score_of(name, division.parent, division.children)
    label = "Information gain" if what == "entropy" else _start(measure.score)
    difference = Sum((("+", Number(before.shown)), ("-", figures_of(after))))
    steps.append(step(label, "before the split minus after it", difference, gain))
    return steps, gain


def _start(words: str) -> str:
    return words[:1].upper() + words[1:]


def _known_share(division: Division) -> float:
    return division.known / division.weight if division.missing > 0 else 1.0


def _times_known(steps: list[DerivationStep], division: Division, measure: Measure, gain: float) -> Derivation:
    """Only rows with a value were scored: the gain counts for their share of the node."""
    if not division.missing > 0:
        return Derivation(tuple(steps), gain, gain)
    lowered = _known_share(division) * gain
    words = "times the share of rows with a value, because the others learn nothing from the question"
    numbers = Product((of(division.known, division.weight), figures_of(gain)))
    label = "Information gain" if measure.impurity == "entropy" else _start(measure.score)
    more = step(f"{label}, all rows counted", words, numbers, lowered)
    return Derivation((*steps, more), lowered, lowered)


def _penalised(derived: Derivation, division: Division, cuts: int) -> Derivation:
    """C4.5 Release 8: a number offers many cuts, and the best of many looks better than it is."""
    lowered = derived.gain - math.log2(cuts) / division.weight
    penalty = Fraction(Function("log2", (Number(str(cuts)),)), Number(count_text(division.weight)))
    numbers = Sum((("+", figures_of(derived.gain)), ("-", penalty)))
    words = "minus log2 of the cuts allowed / weight: the best of many cuts looks better than it is"
    more = step("Gain after the penalty", words, numbers, lowered)
    return Derivation((*derived.steps, more), lowered, lowered)


def _ratio(derived: Derivation, division: Division) -> Derivation:
    sizes = division.weights
    if division.missing > 0:
        sizes = np.append(sizes, division.missing)
    information = impurity_of("entropy", np.ascontiguousarray(sizes))
    shares = [of(size, float(sizes.sum())) for size in sizes.tolist() if size > 0]
    bits = total(shortened([Product((share, Function("log2", (share,)))) for share in shares]), "-")
    words = "entropy of the branches' sizes" + (", rows without a value as one more" if division.missing > 0 else "")
    steps = [*derived.steps, step("Split information", words, bits, information)]
    if not information > 0:
        return Derivation(tuple(steps), derived.gain, 0.0)
    score = derived.gain / information if information > 1e-3 else 0.0  # C4.5: such a division has no ratio
    numbers = Fraction(figures_of(derived.gain), figures_of(information))
    steps.append(step("Gain ratio", "gain / split information", numbers, score))
    return Derivation(tuple(steps), derived.gain, score)


# --- tests ------------------------------------------------------------------------------------------------------------


def _tested(
    steps: list[DerivationStep], log_p: float, log_multiplier: float | None, expected: Expected | None
) -> Derivation:
    gain, adjusted = -log_p, log_p
    if log_multiplier is not None:
        adjusted = min(0.0, log_p + log_multiplier)
        times = count_text(math.exp(log_multiplier)) if log_multiplier < 600 else p_text(log_multiplier)
        words = "p times the number of ways in which its values could have been merged (Bonferroni), at most 1"
        numbers = Product((Number(p_text(log_p)), Number(times)))
        steps.append(step("p, adjusted", words, numbers, math.exp(adjusted), p_text(adjusted)))
    logarithm = Sum((("-", Function("ln", (Number(p_text(adjusted)),))),))
    words = "what columns are compared by: the larger, the less likely by chance"
    steps.append(step("Score", words, logarithm, -adjusted))
    return Derivation(tuple(steps), gain, -adjusted, expected)
