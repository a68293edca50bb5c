"""Every result that is a table: in a notebook, as text and as a data frame."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import treewright as tw

EVIL = "<b>&\"'"


def table(name: str = "income") -> dict[str, Any]:
    rng = np.random.default_rng(4)
    income, debt = rng.integers(15, 90, 200), rng.integers(0, 60, 200)
    home = rng.choice([f"own {EVIL}", "rent"], 200)
    good = (income - debt > 20) | (home != "rent") & (income > 30)
    return {name: income, "debt": debt, "home": home, "repaid": np.where(good, f"yes {EVIL}", "no")}


def results(name: str = "income") -> dict[str, Any]:
    data = table(name)
    tree = tw.learn(data, "repaid", "rpart")
    row = {name: 28, "debt": 12, "home": "rent"}
    return {
        "rank_splits": tw.rank_splits(data, "repaid", ["information_gain", "gini"]),
        "importance": tw.importance(tree),
        "permutation": tw.importance(tree, data, kind="permutation", n_repeats=2),
        "pruning_path": tw.pruning_path(tree, data),
        "explain_row": tw.explain_row(tree, row),
        "explain_node": tw.explain_node(tree, 0, data),
        "rules": tw.rules(tree),
        "rule list": tw.rules(tree, data, kind="list"),
        "shap_values": tw.shap_values(tree, data),
        "masking": tw.masking(tree, 0.9),
        "counterfactuals": tw.counterfactuals(tree, row),
        "stability": tw.stability(tree, data, resamples=4),
        "alternatives": tw.alternatives(data, "repaid", max_depth=1),
        "cross_validate": tw.cross_validate(data, "repaid", {"rpart": "rpart", EVIL: "cart"}, folds=3),
        "permutation_test": tw.permutation_test(data, "repaid", "rpart", permutations=3, folds=2),
    }


RESULTS = results()


class Tags(HTMLParser):
    """The tags of a page that do not close where they should."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tables = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        self.tables += tag == "table"
        if tag not in ("circle", "line", "polyline", "br", "mspace"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("circle", "line", "polyline"):
            assert self.open.pop() == tag


@pytest.mark.parametrize("what", RESULTS)
def test_a_notebook_shows_a_table(what: str) -> None:
    for found in (RESULTS[what], results(EVIL)[what]):
        page = found._repr_html_()
        tags = Tags()
        tags.feed(page)
        assert not tags.open
        assert tags.tables >= 1
        assert "<b>" not in page
        assert "<script" not in page


@pytest.mark.parametrize("what", RESULTS)
def test_frames_of_all_packages_hold_the_same_values(what: str) -> None:
    found = RESULTS[what]
    lists = found.to_frame("dict")
    n = len(next(iter(lists.values())))
    assert n > 0
    assert all(len(values) == n for values in lists.values())
    pandas, polars, arrow = found.to_pandas(), found.to_frame("polars"), found.to_frame("arrow")
    assert (type(pandas), type(polars), type(arrow)) == (pd.DataFrame, pl.DataFrame, pa.Table)
    assert list(pandas.columns) == polars.columns == arrow.column_names == list(lists)
    assert polars.to_dict(as_series=False) == lists == arrow.to_pydict()
    assert pandas.equals(found.to_frame())


def test_frames_hold_exact_values() -> None:
    ranking, importance, path = (RESULTS[name] for name in ("rank_splits", "importance", "pruning_path"))
    assert ranking.to_frame("dict")["gini"] == [one.scores["gini"] for one in ranking]
    assert importance.to_frame("dict")["importance"] == list(importance.values)
    assert path.to_frame("dict")["held_out"] == list(path.held_out)
    shap = RESULTS["shap_values"]
    long = shap.to_pandas().pivot_table(index=["row", "class"], columns="column", values="contribution")
    assert long.loc[(3, "no"), "debt"] == shap.of("no")[3, shap.columns.index("debt")]


def test_counterfactuals_are_a_tuple_still() -> None:
    found = RESULTS["counterfactuals"]
    assert isinstance(found, tuple)
    assert found[0].values.items() <= found.to_pandas().iloc[0].to_dict().items()
    tree = tw.learn(table(), "repaid", "rpart")
    none = tw.counterfactuals(tree, {"income": 28}, fixed=("income", "debt", "home"))
    assert none == ()
    assert str(none) == "no change of the columns that may change gives another prediction"
    assert "no change" in none._repr_html_()


def test_an_unknown_kind_of_frame() -> None:
    with pytest.raises(tw.ExportError, match="'pandas', 'polars', 'arrow' or 'dict', not 'excel'"):
        RESULTS["rules"].to_frame("excel")
