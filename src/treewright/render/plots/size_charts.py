"""How large a tree should be: the pruning path, and scores against size, drawn with matplotlib.

What is drawn are the numbers given; the choices marked are those of the path itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from treewright.data.number_text import number_text
from treewright.render.plots.axes import axes_for

_TRAINING, _HELD_OUT, _CHOSEN = "#0072b2", "#d55e00", "#009e73"


class RiskPath(Protocol):
    """What is needed of a `treewright.PruningPath`."""

    @property
    def alpha(self) -> Sequence[float]: ...
    @property
    def leaves(self) -> Sequence[int]: ...
    @property
    def risk(self) -> Sequence[float]: ...
    @property
    def held_out(self) -> Sequence[float] | None: ...
    @property
    def error(self) -> Sequence[float] | None: ...
    def chosen(self, rule: Any = ...) -> int: ...


def path_plot(path: RiskPath, ax: Any = None) -> Any:
    """Draw the risk of each tree of a pruning path against its leaves.

    Parameters
    ----------
    path : PruningPath
        The path; with cross-validated risks, the choices of both rules are marked.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib axes
        The axes drawn on.
    """
    axes = axes_for(ax, 6.4, 4.2)
    axes.plot(path.leaves, path.risk, color=_TRAINING, marker="o", markersize=3.5, label="training rows")
    if path.held_out is not None and path.error is not None:
        low = [risk - error for risk, error in zip(path.held_out, path.error, strict=True)]
        high = [risk + error for risk, error in zip(path.held_out, path.error, strict=True)]
        axes.fill_between(path.leaves, low, high, color=_HELD_OUT, alpha=0.15, linewidth=0)
        axes.plot(
            path.leaves, path.held_out, color=_HELD_OUT, marker="o", markersize=3.5, label="held-out rows ± error"
        )
        for rule, style, words in (("min", ":", "least"), ("1se", "--", "within one error")):
            step = path.chosen(rule)
            leaves, alpha = path.leaves[step], number_text(float(f"{path.alpha[step]:.3g}"))
            label = f"{words}: {leaves:,} {'leaf' if leaves == 1 else 'leaves'}, alpha {alpha}"
            axes.axvline(leaves, color=_CHOSEN, linestyle=style, linewidth=1.2, zorder=0, label=label)
    _size_axis(axes, path.leaves, "leaves")
    axes.set(ylabel="risk")
    axes.set_ylim(bottom=0)
    _legend(axes)
    return axes


def depth_scores(
    scores: Mapping[int, tuple[float, float]],
    ax: Any = None,
    *,
    size: str = "depth",
    score: str = "accuracy",
    lower_is_better: bool = False,
) -> Any:
    """Draw training and held-out scores against depth or leaves.

    Parameters
    ----------
    scores : dict
        The pair of training and held-out score of each size.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.
    size : str, default="depth"
        The name of the size.
    score : str, default="accuracy"
        The name of the score.
    lower_is_better : bool, default=False
        Whether the lowest held-out score is marked as the best.

    Returns
    -------
    matplotlib axes
        The axes drawn on.
    """
    if not scores:
        raise ValueError("scores is empty; give {depth: (training score, held-out score), ...}")
    axes = axes_for(ax, 6.4, 4.2)
    sizes = sorted(scores)
    training, held_out = [scores[i][0] for i in sizes], [scores[i][1] for i in sizes]
    best = sizes[held_out.index(min(held_out) if lower_is_better else max(held_out))]
    axes.plot(sizes, training, color=_TRAINING, marker="o", markersize=4, label="training rows")
    axes.plot(sizes, held_out, color=_HELD_OUT, marker="o", markersize=4, label="held-out rows")
    value = number_text(float(f"{scores[best][1]:.4g}"))
    axes.axvline(best, color=_CHOSEN, linestyle="--", linewidth=1.2, zorder=0, label=f"best: {size} {best:,}, {value}")
    _size_axis(axes, sizes, size)
    axes.set(ylabel=score)
    _legend(axes)
    return axes


def _legend(axes: Any) -> None:
    axes.legend(framealpha=0.92, edgecolor="none")  # lines may run below it, so it has a ground


def _size_axis(axes: Any, sizes: Sequence[int], label: str) -> None:
    """Whole numbers; by powers where they run over many."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_xlabel(label)
    if min(sizes) > 0 and max(sizes) > 40 * min(sizes):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
