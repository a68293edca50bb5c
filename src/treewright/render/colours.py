"""The colours of every picture: one palette for classes, one scale for numbers, light and dark.

The first eight class colours can be distinguished by colour-blind eyes (Okabe and Ito's set, its black made grey so
that it shows on a dark ground too); further ones are lighter and darker shades of these. A class keeps its colour
whatever the tree. Brightness alone orders the number scale.
"""

from __future__ import annotations

import math
from typing import Literal

Theme = Literal["light", "dark"]

#: Okabe and Ito, ordered so that the first two are the farthest apart.
_BASE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8a8a8a")
#: Each further round of eight mixes the base with white (positive) or black (negative) by this much.
_ROUNDS = (0.0, 0.55, -0.4, 0.3, -0.62)

#: From low to high: rising brightness, from blue over grey to yellow, which every eye sees as an order.
SCALE = ("#14508f", "#4a6489", "#6f7a84", "#928f7b", "#b5a66a", "#dac452", "#fde737")

#: What is not data: paper, ink, weaker ink, lines, cards, the edges between cards.
GROUND: dict[Theme, dict[str, str]] = {
    "light": {
        "paper": "#ffffff",
        "ink": "#1f2328",
        "soft": "#59636e",
        "line": "#c4cad1",
        "card": "#ffffff",
        "edge": "#d5dae0",
        "chip": "#eef1f4",
    },
    "dark": {
        "paper": "#15191e",
        "ink": "#e9edf1",
        "soft": "#a3adb8",
        "line": "#4a535d",
        "card": "#1e242b",
        "edge": "#3a424b",
        "chip": "#2d353e",
    },
}


def class_colours(n: int) -> list[str]:
    """Return a colour for each of n classes; after forty they come round again.

    >>> class_colours(2)
    ['#0072b2', '#e69f00']
    """
    return [_shade(_BASE[i % 8], _ROUNDS[i // 8 % len(_ROUNDS)]) for i in range(n)]


def strength(share: float, n_classes: int) -> float:
    """Return how sure a prediction is: 0 for the share a blind guess has, 1 for all rows.

    >>> strength(0.5, 2), strength(1.0, 3), strength(0.75, 2)
    (0.0, 1.0, 0.5)
    """
    if n_classes < 2:
        return 1.0
    guess = 1 / n_classes
    return min(1.0, max(0.0, (share - guess) / (1 - guess)))


def scale(value: float, low: float, high: float) -> str:
    """Return the colour of a number on the way from low to high; outside, and without a way, the nearest there is.

    >>> scale(0, 0, 10), scale(10, 0, 10), scale(5, 5, 5)
    ('#14508f', '#fde737', '#928f7b')
    """
    width = high - low
    place = (value - low) / width if width > 0 and math.isfinite(width) else 0.5
    place = min(1.0, max(0.0, place)) * (len(SCALE) - 1) if place == place else (len(SCALE) - 1) / 2
    left = min(int(place), len(SCALE) - 2)
    return mix(SCALE[left], SCALE[left + 1], place - left)


def mix(one: str, other: str, part: float) -> str:
    """`part` of the way from one colour to another.

    >>> mix("#000000", "#ffffff", 0.5)
    '#808080'
    """
    pairs = zip(_channels(one), _channels(other), strict=True)
    return "#" + "".join(f"{math.floor(a + (b - a) * part + 0.5):02x}" for a, b in pairs)


def terminal_code(colour: str) -> int:
    """Return the nearest of a terminal's 256 colours (its cube of six by six by six).

    >>> terminal_code("#0072b2")
    25
    """
    steps = (0, 95, 135, 175, 215, 255)
    red, green, blue = (min(range(6), key=lambda i: abs(steps[i] - channel)) for channel in _channels(colour))
    return 16 + 36 * red + 6 * green + blue


def _shade(colour: str, amount: float) -> str:
    return mix(colour, "#ffffff", amount) if amount >= 0 else mix(colour, "#000000", -amount)


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
