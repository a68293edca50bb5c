"""Estimators on inputs beyond memory: the same tree, names, classes, predictions and scores as on the table itself.

The estimator fitted on the table in memory is what every other must equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from sklearn.base import clone

import treewright as tw
from treewright.out_of_core.inputs import is_dask, with_target

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")

CLASSIFIERS = (tw.TreeClassifier, tw.ID3Classifier, tw.C45Classifier, tw.CARTClassifier, tw.CHAIDClassifier)
REGRESSORS = (tw.TreeRegressor, tw.CARTRegressor, tw.CHAIDRegressor)


def made(n: int = 600, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.normal(30, 10, n).round(1),
            "town": rng.choice(["Bern", "Oslo", "Rome"], n),
            "member": rng.random(n) < 0.5,
        }
    )
    pull = (table["age"] > 45) * 1.0 + (table["town"] == "Oslo") * 1.5 + table["income"] / 20 + rng.normal(0, 0.4, n)
    table["answer"] = np.select([pull < 1.8, pull < 3], ["low", "mid"], "high")
    table["pull"] = pull.round(3)
    table["w"] = rng.integers(1, 4, n).astype(float)
    return table


TABLE, HELD_OUT = made(), made(500, seed=1)
COLUMNS = ["age", "income", "town", "member"]


@dataclass(frozen=True)
class Given:
    """What `fit` and `score` are given. `made` afresh, for an iterator is gone when it was read."""

    X: Any
    y: Any
    weight: Any


def forms(table: pd.DataFrame, target: str, folder: Path) -> dict[str, Callable[[], Given]]:
    """The table with one target and weights, in every large form; the names are those of `FORMS`."""
    whole = table[[*COLUMNS, target, "w"]]
    arrow = pa.Table.from_pandas(whole, preserve_index=False)
    for place, start in enumerate(range(0, len(table), 200)):
        pa.parquet.write_table(arrow.slice(start, 200), folder / f"part-{place}.parquet")
    whole.to_csv(folder / "rows.csv", index=False)
    lazy = dd.from_pandas(whole.set_index(np.arange(len(whole)) * 3), npartitions=4)
    X = lazy[COLUMNS]
    return {
        "dask": lambda: Given(X, lazy[target], lazy["w"]),
        "dask, unknown divisions": lambda: Given(X.clear_divisions(), lazy[target].clear_divisions(), lazy["w"]),
        "dask, arrays": lambda: Given(X, _array(lazy[target]), _array(lazy["w"])),
        "dask, names": lambda: Given(lazy, target, "w"),
        "pattern": lambda: Given(str(folder / "part-*.parquet"), target, "w"),
        "csv": lambda: Given(folder / "rows.csv", target, "w"),
        "query": lambda: Given(tw.sql(f"SELECT * FROM '{folder}/part-*.parquet'"), target, "w"),
        "dataset": lambda: Given(pa.dataset.dataset(folder, format="parquet", exclude_invalid_files=True), target, "w"),
        "relation": lambda: Given(duckdb.from_arrow(arrow), target, "w"),
        "iterator": lambda: Given(iter([whole[:0], whole[:100], whole[100:]]), target, "w"),
    }


def _array(series: Any) -> Any:
    return da.from_array(series.compute().to_numpy(dtype=None), chunks=(tuple(series.map_partitions(len).compute()),))


FORMS = (
    "dask", "dask, unknown divisions", "dask, arrays", "dask, names", "pattern", "csv", "query", "dataset", "relation",
    "iterator",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _in_this_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def settings_of(estimator: type) -> dict[str, Any]:
    small = {"min_samples_split": 20, "min_child": 10} if "CHAID" in estimator.__name__ else {"max_depth": 4}
    return {"pruning": None, **small}


def same(one: tw.Tree, other: tw.Tree) -> bool:
    """The same but for the name of the target, which an array does not have."""
    arrays = all(np.array_equal(array, other.arrays[name], equal_nan=True) for name, array in one.arrays.items())
    return arrays and one.schema.columns == other.schema.columns and one.recipe == other.recipe


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("estimator", [tw.C45Classifier, tw.CARTRegressor])
def test_every_form_gives_the_same(estimator: Any, form: str, tmp_path: Path) -> None:
    target = "answer" if estimator in CLASSIFIERS else "pull"
    given = forms(TABLE, target, tmp_path)[form]()
    expected = estimator(**settings_of(estimator)).fit(TABLE[COLUMNS], TABLE[target], TABLE["w"])
    found = estimator(**settings_of(estimator)).fit(given.X, given.y, given.weight)
    assert same(found.tree_, expected.tree_)
    assert found.tree_.schema.target.name == ("target" if form == "dask, arrays" else target)
    assert found.n_features_in_ == 4
    assert found.feature_names_in_.tolist() == COLUMNS
    assert found.feature_names_in_.dtype == object
    if estimator in CLASSIFIERS:
        assert found.classes_.tolist() == expected.classes_.tolist()
        assert found.n_classes_ == 3
    assert np.array_equal(found.predict(HELD_OUT[COLUMNS]), expected.predict(HELD_OUT[COLUMNS]))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("estimator", [tw.CARTClassifier, tw.CARTRegressor])
def test_predictions_and_scores_of_every_form(estimator: Any, form: str, tmp_path: Path) -> None:
    target = "answer" if estimator in CLASSIFIERS else "pull"
    fitted = estimator(**settings_of(estimator)).fit(TABLE[COLUMNS], TABLE[target])
    X, y, weight = HELD_OUT[COLUMNS], HELD_OUT[target], HELD_OUT["w"]
    given = forms(HELD_OUT, target, tmp_path)[form]
    for method in ("predict", "apply", *(["predict_proba", "predict_log_proba"] if estimator in CLASSIFIERS else [])):
        found = getattr(fitted, method)(given().X)
        assert is_dask(found) == form.startswith("dask")
        assert np.array_equal(found, getattr(fitted, method)(X))
    now = given()
    assert fitted.score(now.X, now.y) == pytest.approx(fitted.score(X, y), abs=1e-12)
    now = given()
    assert fitted.score(now.X, now.y, now.weight) == pytest.approx(fitted.score(X, y, weight), abs=1e-12)
    assert fitted.score(X, y) != pytest.approx(fitted.score(X, y, weight), abs=1e-12)


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, *REGRESSORS])
def test_every_estimator(estimator: Any, tmp_path: Path) -> None:
    target = "answer" if estimator in CLASSIFIERS else "pull"
    given = forms(TABLE, target, tmp_path)["dask, names"]()
    settings = {**settings_of(estimator), "random_state": 7, "n_jobs": 2}
    expected = estimator(**settings).fit(TABLE[[*COLUMNS, "w"]], TABLE[target])
    found = clone(estimator(**settings)).fit(given.X, given.y)
    assert same(found.tree_, expected.tree_)


def test_costs_and_kinds_come_along() -> None:
    lazy = dd.from_pandas(TABLE, npartitions=3)
    more: dict[str, Any]
    for more in (
        {"class_weight": {"low": 3.0}},
        {"class_weight": "balanced"},
        {"costs": {"low": {"high": 9}}},
        {"priors": {"low": 0.6, "mid": 0.2, "high": 0.2}},
        {"kinds": {"age": "nominal"}},
    ):
        estimator = tw.CARTClassifier(pruning=None, max_depth=3, **more)
        expected = clone(estimator).fit(TABLE[COLUMNS], TABLE["answer"]).tree_
        assert same(clone(estimator).fit(lazy[COLUMNS], lazy["answer"]).tree_, expected)


def test_a_dask_array_has_no_names() -> None:
    numbers, truth = TABLE[["age", "income"]].to_numpy(float), TABLE["pull"].to_numpy()
    X, y = da.from_array(numbers, chunks=(150, 1)), da.from_array(truth, chunks=150)
    expected = tw.CARTRegressor(pruning=None, max_depth=3).fit(numbers, truth)
    found = tw.CARTRegressor(pruning=None, max_depth=3).fit(
        dd.from_pandas(TABLE[["age", "pull"]], npartitions=2), "pull"
    )
    assert hasattr(found, "feature_names_in_")
    found.fit(X, y)
    assert not hasattr(found, "feature_names_in_")
    assert found.n_features_in_ == 2
    assert same(found.tree_, expected.tree_)
    assert np.array_equal(found.predict(X).compute(), expected.predict(numbers))
    assert np.array_equal(found.predict(numbers), expected.predict(numbers))
    assert found.score(X, y) == pytest.approx(expected.score(numbers, truth))


def test_a_class_never_seen_is_a_wrong_prediction() -> None:
    fitted = tw.CARTClassifier(pruning=None, max_depth=3).fit(TABLE[COLUMNS], TABLE["answer"])
    odd = HELD_OUT.assign(answer=HELD_OUT["answer"].where(HELD_OUT.index % 5 > 0, "new"))
    expected = fitted.score(odd[COLUMNS], odd["answer"])
    assert fitted.score(iter([odd[:100], odd[100:]]), "answer") == expected
    lazy = dd.from_pandas(odd, npartitions=3)
    assert fitted.score(lazy, lazy["answer"].rename("truth")) == expected


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    lazy = dd.from_pandas(TABLE, npartitions=3)
    X, y = lazy[COLUMNS], lazy["answer"]
    estimator = tw.CARTClassifier()
    TABLE.to_parquet(tmp_path / "rows.parquet")
    path = str(tmp_path / "rows.parquet")
    with pytest.raises(tw.DataError, match=r"the target is a dask Series .* got Series"):
        estimator.fit(X, TABLE["answer"])
    with pytest.raises(tw.DataError, match="has 3 partitions, the target 'answer' has 2"):
        estimator.fit(X, y.repartition(npartitions=2))
    with pytest.raises(tw.DataError, match="has 3 partitions, the weight 'sample_weight' has 1"):
        estimator.fit(X, y, lazy["w"].repartition(npartitions=1))
    with pytest.raises(tw.DataError, match="'answer' has the name of a column of the table"):
        estimator.fit(lazy, y)
    with pytest.raises(tw.DataError, match="the target 'anser' is not a column of the table; it has 'age'"):
        estimator.fit(lazy, "anser")
    with pytest.raises(tw.DataError, match="the target must be the name of one of its columns, not Series"):
        estimator.fit(path, TABLE["answer"])
    with pytest.raises(tw.DataError, match="the target must be the name of one of its columns, not NoneType"):
        estimator.fit(path, None)
    with pytest.raises(tw.DataError, match="the weight must be the name of one of its columns, not list"):
        estimator.fit(path, "answer", [1.0] * 600)
    with pytest.raises(tw.DataError, match="the target 'anser' is not a column of the table; did you mean 'answer'"):
        estimator.fit(path, "anser")
    with pytest.raises(tw.DataError, match=r"categorical_features=\['town'\] needs the whole table"):
        tw.CARTClassifier(categorical_features=["town"]).fit(path, "answer")
    shares: dict[str, Any]
    for shares in ({"min_samples_leaf": 0.1}, {"min_weight_fraction_leaf": 0.1}, {"max_features": "sqrt"}):
        with pytest.raises(tw.RecipeError, match=f"{next(iter(shares))}=.* is a share, .* give a whole number"):
            tw.CARTClassifier(**shares).fit(iter([TABLE]), "answer")
    assert not hasattr(estimator, "tree_")
    fitted = estimator.fit(TABLE[COLUMNS], TABLE["answer"])
    with pytest.raises(tw.DataError, match="the target 'anser' is not a column of the table; the table has"):
        fitted.score(iter([TABLE.drop(columns="answer")]), "anser")
    with pytest.raises(tw.DataError, match="'answer' is missing in some rows"):
        fitted.score(iter([TABLE.assign(answer=TABLE["answer"].where(TABLE["age"] > 30))]), "answer")


def test_partitions_that_do_not_fit_are_reported_when_computed() -> None:
    lazy = dd.from_pandas(TABLE, npartitions=3)
    shorter = lazy["answer"].map_partitions(lambda part: part[1:], meta=lazy["answer"]._meta)
    together, name, weight = with_target(lazy[COLUMNS], shorter)
    assert (name, weight) == ("answer", None)
    with pytest.raises(
        tw.DataError, match="a partition of the table has 200 rows, that of the target 'answer' has 199"
    ):
        together.compute()


def test_rows_go_together_by_place_whatever_their_index() -> None:
    lazy = dd.from_pandas(TABLE.set_index(np.zeros(len(TABLE))), npartitions=1).repartition(npartitions=1)
    other = dd.from_pandas(TABLE["answer"], npartitions=1)
    together, *_ = with_target(lazy[COLUMNS], other, dd.from_pandas(TABLE["w"], npartitions=1))
    found = together.compute()
    assert found["answer"].tolist() == TABLE["answer"].tolist()
    assert found["sample_weight"].tolist() == TABLE["w"].tolist()
    assert list(together.columns) == list(found.columns) == [*COLUMNS, "answer", "sample_weight"]
    assert found.dtypes.tolist() == together.dtypes.tolist()
