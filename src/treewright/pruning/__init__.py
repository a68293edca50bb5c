"""Pruning: a grown tree becomes a smaller one. This namespace offers the methods; `treewright.prune` applies one.

One file per family of methods; which function serves which pruner is in the table of `prune.py`.
"""

from treewright.recipes.pruners import (
    CollapseNodes,
    CostComplexity,
    CostComplexityCV,
    CriticalValue,
    ErrorBased,
    ImpurityThresholdCV,
    MaxDepth,
    MaxLeaves,
    MergeEqualLeaves,
    MinimumDescription,
    MinimumError,
    Pessimistic,
    ReducedError,
)

__all__ = [
    "CollapseNodes",
    "CostComplexity",
    "CostComplexityCV",
    "CriticalValue",
    "ErrorBased",
    "ImpurityThresholdCV",
    "MaxDepth",
    "MaxLeaves",
    "MergeEqualLeaves",
    "MinimumDescription",
    "MinimumError",
    "Pessimistic",
    "ReducedError",
]


def __dir__() -> list[str]:
    return __all__
