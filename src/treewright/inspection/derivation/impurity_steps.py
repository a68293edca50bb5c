"""The arithmetic of impurities: steps with their numbers put in.

Every result is the core's own; what is put in is what the core was given. Long sums are cut, visibly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treewright.criteria.statistics import impurity_of
from treewright.data.arrays import FloatArray
from treewright.data.number_text import count_text, figure
from treewright.inspection.derivation.formula import (
    Dots,
    Expression,
    Fraction,
    Function,
    Name,
    Number,
    Power,
    Product,
    Sum,
    plain,
    total,
)

if TYPE_CHECKING:
    from treewright.inspection.derivation.criterion_names import Measure


#: More terms than this are not read by anyone.
MOST_TERMS = 8


@dataclass(frozen=True, slots=True)
class DerivationStep:
    """One line of a derivation.

    `name` is what stands left of the equals sign, if anything; `numbers` what is put into the formula; `shown` the
    result as it is printed. `result` is None where the number is not known.
    """

    label: str
    formula: str
    numbers: Expression | None
    result: float | None
    shown: str
    name: Expression | None = None

    @property
    def sides(self) -> tuple[Expression, ...]:
        """What stands left and right of the equals signs."""
        number = self.shown[-1:].isdigit() or self.shown.endswith("∞")
        parts = (self.name, self.numbers, Number(self.shown) if number else Name(self.shown))
        return tuple(part for part in parts if part is not None)

    @property
    def text(self) -> str:
        """The arithmetic on one line."""
        return " = ".join(map(plain, self.sides))


def step(
    label: str, formula: str, numbers: Expression | None, result: float, shown: str = "", name: Expression | None = None
) -> DerivationStep:
    return DerivationStep(label, formula, numbers, result, shown or figure(result), name)


def shortened(parts: Sequence[Expression]) -> list[Expression]:
    """Return the first of many terms, and how many more there are."""
    if len(parts) <= MOST_TERMS:
        return list(parts)
    return [*parts[: MOST_TERMS - 1], Dots(len(parts) - MOST_TERMS + 1)]


def of(part: float, whole: float) -> Expression:
    return Fraction(Number(count_text(part)), Number(count_text(whole)))


def figures_of(x: float) -> Number:
    return Number(figure(x))


# --- how mixed one node is --------------------------------------------------------------------------------------------


def impurity_step(label: str, measure: Measure, statistics: FloatArray) -> DerivationStep:
    """Return the impurity of one node, from what the core reads for it."""
    result = impurity_of(measure.impurity_name, statistics)
    if measure.impurity in ("entropy", "gini", "misclassification"):
        counts = statistics.tolist()
        shown = tuple(shortened([Number(count_text(count)) for count in counts]))
        name = Function(measure.impurity, shown)
        return step(label, measure.words, _OF_COUNTS[measure.impurity](counts), result, name=name)
    return step(label, measure.words, _of_numbers(measure, statistics), result)


def _entropy(counts: Sequence[float]) -> Expression:
    whole = sum(counts)
    shares = [of(count, whole) for count in counts if count > 0]
    return total(shortened([Product((share, Function("log2", (share,)))) for share in shares]), "-")


def _gini(counts: Sequence[float]) -> Expression:
    whole = sum(counts)
    squares = shortened([Power(of(count, whole), 2) for count in counts if count > 0])
    return Sum((("+", Number("1")), *(("-", square) for square in squares)))


def _misclassification(counts: Sequence[float]) -> Expression:
    return Sum((("+", Number("1")), ("-", of(max(counts), sum(counts)))))


_OF_COUNTS = {"entropy": _entropy, "gini": _gini, "misclassification": _misclassification}


def _of_numbers(measure: Measure, statistics: FloatArray) -> Expression:
    weight = float(statistics[0])
    if measure.impurity == "poisson":
        mean = float(statistics[1]) / weight
        logs = Fraction(figures_of(float(statistics[2])), Number(count_text(weight)))
        if not mean > 0:
            return logs
        return Sum((("+", logs), ("-", Product((figures_of(mean), Function("ln", (figures_of(mean),)))))))
    share = Fraction(figures_of(float(statistics[2])), Number(count_text(weight)))
    return Function("sqrt", (share,)) if measure.impurity == "standard deviation" else share
