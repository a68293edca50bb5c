"""The lesson "codes": what entropy and gini measure."""

from __future__ import annotations

from itertools import product

from treewright import criteria
from treewright.data.grid import Grid
from treewright.data.number_text import number_text
from treewright.inspection.derivation.blocks import Steps
from treewright.inspection.derivation.impurity_steps import DerivationStep
from treewright.lessons.charts import Series, line_chart
from treewright.lessons.content import Code, Drawn, Heading, Lesson, Printed, Text
from treewright.lessons.phrases import data_source, four_digits, impurity, joined, spelled
from treewright.lessons.tables import LETTERS, Columns
from treewright.recipes.criterion import Gini, InformationGain

_STEPS = 40


def codes(data: Columns = LETTERS) -> Lesson:
    """Entropy as the length of the best code; gini as the chance that two draws differ."""
    letters, even, uneven = data["letter"], data["even"], data["uneven"]
    fixed, clever = _length(even, data["fixed code"]), _length(uneven, data["clever code"])
    balls = data["balls"]
    urn = [letter for letter, n in zip(letters, balls, strict=True) for _ in range(n)]
    pairs = list(product(urn, urn))
    differ = sum(a != b for a, b in pairs)
    return Lesson(
        "codes",
        "Codes: what entropy means",
        "Bits of a code, two draws from an urn: what do entropy and gini count?",
        data,
        (
            Heading("Entropy is the length of the best code"),
            Text(
                f"You send {spelled(len(letters))} letters, one after the other, as zeros and ones, with a first code."
                + (" All are equally frequent." if max(even) - min(even) < 1e-12 else "")
            ),
            _codes_grid("A first code", letters, even, data["fixed code"]),
            Text(_length_text(even, fixed)),
            Text("Now other letters are frequent, and each gets another word." + _prefix_text(data["clever code"])),
            _codes_grid("A second code", letters, uneven, data["clever code"]),
            Text(f"{_length_text(uneven, clever)} **Entropy is what the best code needs.**"),
            Code(
                f"import treewright as tw\n\n{data_source('codes', data, LETTERS)}\n"
                'print(tw.criteria.entropy(data["even"]), tw.criteria.entropy(data["uneven"]))'
            ),
            Printed(f"{criteria.entropy(even)} {criteria.entropy(uneven)}"),
            Heading("Two outcomes"),
            Steps("Coins", tuple(_coin(shares) for shares in data["coin"])),
            Text(
                "A fair coin carries one bit. The more biased it is, the less a toss tells, and a coin with two "
                "heads carries no information. Gini and misclassification have a similar shape."
            ),
            _curves(),
            Heading("Gini is the probability that two draws differ"),
            Text(
                f"An urn holds {len(urn)} balls: "
                f"{', '.join(f'{n} {letter}' for letter, n in zip(letters, balls, strict=True))}. Draw one, put it "
                f"back, draw again. Of all {len(pairs)} pairs, {differ} differ: {differ} / {len(pairs)} = "
                f"{number_text(differ / len(pairs))}."
            ),
            impurity("Gini of the urn", Gini(), balls, "The same by the formula"),
            Text(f"Counting and formula agree: {four_digits(criteria.gini(balls))}."),
        ),
    )


def _length_text(shares: list[float], digits: float) -> str:
    """Return what a code needs per letter, beside the entropy."""
    entropy = criteria.entropy(shares)
    text = f"On average {number_text(digits)} digits per letter; the entropy is {number_text(entropy)} bits."
    return f"{text} No code can do better." if digits <= entropy + 1e-9 else f"{text} A better code may exist."


def _prefix_text(words: list[str]) -> str:
    """Return whether a message can be read without commas."""
    clash = any(a != b and b.startswith(a) for a in words for b in words) or len(set(words)) < len(words)
    return "" if clash else " No word is the start of another, so a message can still be read without commas."


def _length(shares: list[float], words: list[str]) -> float:
    return sum(share * len(word) for share, word in zip(shares, words, strict=True))


def _codes_grid(caption: str, letters: list[str], shares: list[float], words: list[str]) -> Grid:
    rows = [
        (letter, word, number_text(share), str(len(word)), number_text(share * len(word)))
        for letter, share, word in zip(letters, shares, words, strict=True)
    ]
    last = ("together", "", number_text(sum(shares)), "", number_text(_length(shares, words)))
    return Grid(caption, ("letter", "code", "share", "digits", "share × digits"), (*rows, last), words=2)


def _coin(shares: tuple[int, int]) -> DerivationStep:
    texts = joined([number_text(share / sum(shares)) for share in shares])
    return impurity(f"Entropy of the probabilities {texts}", InformationGain(), shares).steps[0]


def _curves() -> Drawn:
    places = [i / _STEPS for i in range(_STEPS + 1)]
    measures = {"entropy": criteria.entropy, "gini": criteria.gini, "misclassification": criteria.misclassification}
    series = [Series(name, tuple((p, f([p, 1 - p])) for p in places)) for name, f in measures.items()]
    return line_chart(series, "chance of heads", "impurity", "Three ways to say how mixed two outcomes are.")
