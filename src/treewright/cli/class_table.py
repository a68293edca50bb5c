"""Recall, precision and, where a class is rare, average precision of each class, as a table of the console."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from treewright.cli.console import note, score_text, table
from treewright.data.schema import TargetSpec
from treewright.prediction.class_scores import has_rare_class
from treewright.tree.text import level_text

#: More classes than this are not listed.
MOST_CLASSES = 30


def print_classes(target: TargetSpec, classes: Sequence[Mapping[str, Any]], weighted: bool = False) -> None:
    """Print a line per class; where one is rare and not `weighted`, name the options that give it weight."""
    rare = has_rare_class([entry["rows"] for entry in classes])
    names = ("recall", "precision", *(("average_precision",) if rare else ()))
    lines = [
        (
            level_text(level),
            f"{entry['rows']:,.0f}",
            *(score_text("accuracy", math.nan if entry[name] is None else entry[name]) for name in names),
        )
        for level, entry in zip(target.classes or (), classes, strict=True)
    ]
    heads = [name.replace("_", " ") for name in names]
    table(("class", "rows", *heads), lines[:MOST_CLASSES], right=tuple(range(1, 2 + len(names))))
    if rare and not weighted and not target.costs:
        note("a class is rare and hardly affects accuracy; --class-weight balanced, --costs or --priors give it weight")
