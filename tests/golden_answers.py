"""What a node of a golden answers: its class, and the shares of all classes.

Comes in: a node of a golden with classes, and the node above it. Goes out: the place of its class, and shares.
Always holds: nothing is taken from our tree. A golden says what a node answers where that is not the first of its most
frequent classes; its shares are those of its counts, unless it says others (priors). What an empty leaf answers:
- C4.5: for certain the class that it names, which is that of the node above;
- J48: as the node above, shares and all;
- Id3: it gives none. Ours is for certain the class of the node above.
"""

from __future__ import annotations

from typing import Any

Golden = dict[str, Any]


def answer_of(node: Golden, above: Golden | None) -> int:
    """The place of the class that a node answers."""
    answer = node.get("answer")
    if answer is not None:
        return int(answer)
    if node.get("empty"):
        assert above is not None
        return answer_of(above, None)
    return int(node["dist"].index(max(node["dist"])))


def shares_of(node: Golden, above: Golden | None, program: str) -> list[float]:
    """The share of each class."""
    if "probabilities" in node:
        return list(node["probabilities"])
    if not node.get("empty"):
        return [count / sum(node["dist"]) for count in node["dist"]]
    assert above is not None
    if program == "J48":
        return shares_of(above, None, program)
    return [float(place == answer_of(node, above)) for place in range(len(node["dist"]))]
