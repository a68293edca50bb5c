"""What a node of a golden predicts: its class, and the shares of all classes.

Nothing is taken from our tree. A golden stores the class of a node (key "answer") only where it is not the first of the
most frequent classes; shares are those of the counts, unless it stores others (priors). An empty leaf predicts
- in C4.5 the class it names, which is that of its parent, with probability 1;
- in J48 what its parent predicts, shares included;
- in Id3 nothing; ours predicts the class of its parent with probability 1.
"""

from __future__ import annotations

from typing import Any

Golden = dict[str, Any]


def class_of(node: Golden, above: Golden | None) -> int:
    """Return the index of the class that a node predicts."""
    stored = node.get("answer")
    if stored is not None:
        return int(stored)
    if node.get("empty"):
        assert above is not None
        return class_of(above, None)
    return int(node["dist"].index(max(node["dist"])))


def shares_of(node: Golden, above: Golden | None, program: str) -> list[float]:
    """Return the share of each class."""
    if "probabilities" in node:
        return list(node["probabilities"])
    if not node.get("empty"):
        return [count / sum(node["dist"]) for count in node["dist"]]
    assert above is not None
    if program == "J48":
        return shares_of(above, None, program)
    return [float(place == class_of(node, above)) for place in range(len(node["dist"]))]
