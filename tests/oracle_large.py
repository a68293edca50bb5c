"""The best cut of a number among thousands of distinct values, by trying them all at once with numpy.

Every boundary between neighbouring values is rated; no histogram, no bound, nothing skipped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright import recipes as r


@dataclass(frozen=True)
class Cuts:
    """Midpoints, and the gain with missing entries high and low (the same numbers where they are left out)."""

    at: np.ndarray
    high: np.ndarray
    low: np.ndarray

    @property
    def best(self) -> float:
        return float(max(self.high.max(), self.low.max())) if len(self.at) else -np.inf


def all_cuts(values: np.ndarray, stats: np.ndarray, criterion: object, learned: bool) -> Cuts:
    """`stats`: a row per entry, weight per class; or weight, weight x target, weight x target squared."""
    known = ~np.isnan(values)
    if not known.any():
        return Cuts(np.empty(0), np.empty(0), np.empty(0))
    order = np.argsort(values[known], kind="stable")
    x, rows = values[known][order], stats[known][order]
    ends = np.flatnonzero(x[1:] > x[:-1])
    low = np.cumsum(rows, axis=0)[ends]
    high = rows.sum(axis=0) - low
    absent = stats[~known].sum(axis=0)
    at = x[ends] / 2 + x[ends + 1] / 2
    if learned and not known.all():
        alone = gains(
            rows.sum(axis=0)[None], absent[None], criterion
        )  # known against missing, as a cut above all values
        low_gain = np.append(gains(low + absent, high, criterion), -np.inf)
        return Cuts(np.append(at, np.inf), np.append(gains(low, high + absent, criterion), alone), low_gain)
    factor = weight(rows.sum(axis=0), criterion) / weight(stats.sum(axis=0), criterion)
    gain = factor * gains(low, high, criterion)
    return Cuts(at, gain, gain)


def weight(stats: np.ndarray, criterion: object) -> np.ndarray:
    return stats.sum(-1) if criterion.task == "classification" else stats[..., 0]


def gains(low: np.ndarray, high: np.ndarray, criterion: object) -> np.ndarray:
    a, b = weight(low, criterion), weight(high, criterion)
    total = a + b
    if isinstance(criterion, r.Twoing):
        distance = np.abs(low / a[:, None] - high / b[:, None]).sum(-1)
        return a / total * b / total / 4 * distance**2
    if isinstance(criterion, r.Hellinger):
        whole = low + high
        return np.sqrt(sum((np.diff(np.sqrt(side / whole), axis=-1)[:, 0]) ** 2 for side in (low, high)))
    after = a / total * impurities(low, criterion) + b / total * impurities(high, criterion)
    return impurities(low + high, criterion) - after


def impurities(stats: np.ndarray, criterion: object) -> np.ndarray:
    if isinstance(criterion, (r.Variance, r.StandardDeviation)):
        variance = np.maximum(0.0, stats[..., 2] / stats[..., 0] - (stats[..., 1] / stats[..., 0]) ** 2)
        return np.sqrt(variance) if isinstance(criterion, r.StandardDeviation) else variance
    share = stats / stats.sum(-1, keepdims=True)
    if isinstance(criterion, r.InformationGain):
        return -(share * np.log2(np.where(share > 0, share, 1.0))).sum(-1)
    if isinstance(criterion, r.Misclassification):
        return 1 - share.max(-1)
    return 1 - (share**2).sum(-1)
