"""`reliability`: whether classes are as frequent as their predicted probabilities, on rows set aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from treewright.data.arrays import BoolArray, FloatArray
from treewright.data.encoding import Encoded
from treewright.data.grid import Bar, Grid, Results
from treewright.data.number_text import figure, percent
from treewright.data.rows import weights_of
from treewright.data.schema import Level
from treewright.errors import DataError
from treewright.prediction.encode_rows import encode_labelled
from treewright.prediction.probability_scores import brier_losses, log_losses
from treewright.prediction.routing import predict_values
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.text import level_text, name_text
from treewright.tree.tree import Tree
from treewright.uncertainty.arguments import check_whole

Strategy = Literal["uniform", "quantile"]


@dataclass(frozen=True)
class ReliabilityBin:
    """The rows whose predicted probability of a class lies in one interval.

    Attributes
    ----------
    level : str, int, float or bool
        The class.
    low, high : float
        The interval; `high` belongs to it, and in the first one `low` too.
    rows : int
        How many rows there are.
    weight : float
        Their weight.
    predicted : float
        The mean of their predicted probabilities.
    observed : float
        The share of them that has the class.
    """

    level: Level
    low: float
    high: float
    rows: int
    weight: float
    predicted: float
    observed: float


@dataclass(frozen=True, eq=False)
class Reliability(Results):
    """How far predicted probabilities agree with what was observed.

    Attributes
    ----------
    target : str
        The name of the target.
    rows : int
        The number of rows.
    bins : tuple of ReliabilityBin
        The reliability curve: of two classes that of the second, of more that of every class; empty bins are left out.
    brier_score : float
        Mean squared distance of the probabilities from the true class; of two classes, of the second alone.
    log_loss : float
        Mean negative logarithm of the probability of the true class.
    calibration_error : float
        Mean distance of predicted and observed over the bins, by weight; with more than two classes, over all classes.
    baseline_brier_score, baseline_log_loss : float
        The same for the probabilities of the root.
    """

    target: str
    rows: int
    bins: tuple[ReliabilityBin, ...]
    brier_score: float
    log_loss: float
    calibration_error: float
    baseline_brier_score: float
    baseline_log_loss: float

    def grid(self) -> Grid:
        """Return the table as it is read: one row per bin."""
        rows = tuple(
            (
                level_text(one.level), f"{one.low:.3g} to {one.high:.3g}", f"{one.rows:,}",
                percent(one.predicted), percent(one.observed), Bar(one.observed - one.predicted, signed=True)
            )
            for one in self.bins
        )  # fmt: skip
        header = (name_text(self.target), "probability", "rows", "predicted", "observed", "observed - predicted")
        notes = (
            f"Brier score: {figure(self.brier_score)} (root alone: {figure(self.baseline_brier_score)})",
            f"log loss: {figure(self.log_loss)} (root alone: {figure(self.baseline_log_loss)})",
            f"calibration error: {figure(self.calibration_error)}",
        )
        return Grid(f"reliability on {self.rows:,} rows", header, rows, align="<<>>><", notes=notes)

    def _columns(self) -> dict[str, list[Any]]:
        names = ("level", "low", "high", "rows", "weight", "predicted", "observed")
        return {name: [getattr(one, name) for one in self.bins] for name in names}

    def __repr__(self) -> str:
        return f"<Reliability: {self.rows} rows, Brier score {self.brier_score:.4g}, log loss {self.log_loss:.4g}>"


def reliability(
    tree: TreeLike,
    data: object,
    target: object = None,
    weight: object = None,
    *,
    bins: int = 10,
    strategy: Strategy = "uniform",
    n_threads: int = 0,
) -> Reliability:
    """Compare predicted probabilities with what was observed: reliability curve, Brier score and log loss.

    Parameters
    ----------
    tree : Tree or fitted estimator
        A tree for classes.
    data : table
        Rows that were not used to learn the tree, with their target.
    target : str or array-like, optional
        The target column of `data`, by name or value; by default named as in training.
    weight : str or array-like, optional
        The weights of the rows.
    bins : int, default=10
        Number of intervals of the probability.
    strategy : {"uniform", "quantile"}, default="uniform"
        Intervals of the same width, or with about the same number of rows.
    n_threads : int, default=0
        Number of threads; 0 means all processors.

    Returns
    -------
    Reliability
        The curve and the scores; it prints as text and has `to_frame()`.

    Examples
    --------
    >>> import treewright as tw
    >>> tree = tw.learn({"x": [1, 1, 1, 2, 2, 2], "y": list("aabbbb")}, "y", tw.CART.with_(pruning=None))
    >>> found = tw.reliability(tree, {"x": [1, 1, 2, 2], "y": list("abbb")})
    >>> [(one.predicted, one.observed) for one in found.to_pandas().round(2).itertuples()]
    [(0.33, 0.5), (1.0, 1.0)]
    >>> round(found.brier_score, 4)
    0.1389
    """
    tree = as_tree(tree)
    spec = tree.schema.target
    if spec.classes is None:
        raise DataError(
            f"the target {spec.name!r} is a number and has no probabilities; calibrate gives intervals for numbers"
        )
    check_whole(bins=(bins, 1))
    if strategy not in ("uniform", "quantile"):
        raise DataError(f"strategy must be 'uniform' or 'quantile', not {strategy!r}")
    rows = encode_labelled(tree, data, target, weight)
    if rows is None or rows.target is None or not weights_of(rows).sum() > 0:
        raise DataError("reliability is measured on rows with their target; give some with a positive weight as data")
    return reliability_on(tree, rows, bins, strategy, n_threads)


def reliability_on(
    tree: Tree, rows: Encoded, bins: int = 10, strategy: Strategy = "uniform", n_threads: int = 0
) -> Reliability:
    """Compare the probabilities of encoded rows, of which some have weight, with their classes; see `reliability`."""
    assert rows.target is not None
    spec = tree.schema.target
    classes = spec.classes or ()
    probabilities, truth, weights = predict_values(tree, rows, n_threads), rows.target, weights_of(rows)
    root = np.repeat(np.asarray(tree.arrays["value"][:1]), rows.n_rows, axis=0)
    which = range(1, 2) if len(classes) == 2 else range(len(classes))
    curve = [one for k in which for one in _bins(classes[k], probabilities[:, k], truth == k, weights, bins, strategy)]
    distance = [one.weight * abs(one.predicted - one.observed) for one in curve]
    return Reliability(
        target=spec.name,
        rows=rows.n_rows,
        bins=tuple(curve),
        brier_score=_mean(brier_losses(truth, probabilities), weights),
        log_loss=_mean(log_losses(truth, probabilities), weights),
        calibration_error=float(sum(distance) / sum(one.weight for one in curve)),
        baseline_brier_score=_mean(brier_losses(truth, root), weights),
        baseline_log_loss=_mean(log_losses(truth, root), weights),
    )


def _mean(values: FloatArray, weight: FloatArray) -> float:
    return float(weight @ values / weight.sum())


def _bins(
    level: Level, predicted: FloatArray, observed: BoolArray, weight: FloatArray, n: int, strategy: str
) -> list[ReliabilityBin]:
    """Return the bins of one class that hold weight."""
    if strategy == "uniform":
        edges = np.linspace(0.0, 1.0, n + 1)
    else:
        edges = np.unique(np.quantile(predicted, np.linspace(0.0, 1.0, n + 1)))
        edges = edges if len(edges) > 1 else np.repeat(edges, 2)
    place = np.clip(np.searchsorted(edges, predicted, side="left") - 1, 0, len(edges) - 2)
    found = []
    for i in range(len(edges) - 1):
        here = place == i
        total = float(weight[here].sum())
        if total > 0:
            limits = float(edges[i]), float(edges[i + 1])
            shares = _mean(predicted[here], weight[here]), _mean(observed[here].astype(float), weight[here])
            found.append(ReliabilityBin(level, *limits, int(np.count_nonzero(here)), total, *shares))
    return found
