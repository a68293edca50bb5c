"""Real tables, learned by every recipe that can: the promises hold outside the textbook too.

One tree per table and recipe, whatever the threads, the order of rows or the library the table comes in; a saved tree
is the same tree; held-out rows are predicted better than by the most frequent class or the mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treewright as tw
from treewright.tree.saved import from_json, to_json

pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")
pq = pytest.importorskip("pyarrow.parquet")

DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not here")


@dataclass(frozen=True)
class Source:
    """A table: what to predict, what not to look at, and how many rows to take."""

    target: str
    task: str = "classification"
    drop: tuple[str, ...] = ()
    rows: int = 1500


TABLES = {
    "adult": Source("income", rows=3000),
    # Names, tickets and cabins tell single passengers apart; boat and body give the answer away.
    "titanic": Source("survived", drop=("name", "ticket", "cabin", "home.dest", "boat", "body")),
    "vote": Source("Class"),
    "soybean": Source("class"),
    # Everything that is known only after landing gives the delay away; tail numbers are single planes.
    "flights": Source("arr_delay", "regression", ("arr_time", "dep_time", "air_time", "tailnum")),
    "covertype": Source("Cover_Type"),
}
#: ID3 as the textbook has it refuses numbers and missing values; that is tested by itself.
RECIPES = {
    "ID3": replace(tw.ID3, numeric=tw.numeric.Binned(5), missing=tw.missing.OwnCategory()),
    **{recipe.name: recipe for recipe in (tw.C45, tw.J48, tw.CART, tw.RPART, tw.SKLEARN)},
    **{recipe.name: recipe for recipe in (tw.CHAID, tw.EXHAUSTIVE_CHAID)},
}
PAIRS = [
    pytest.param(table, recipe, id=f"{table}-{recipe}")
    for table, source in TABLES.items()
    for recipe in RECIPES
    if source.task == "classification" or RECIPES[recipe].regression is not None
]
each_pair = pytest.mark.parametrize(("table", "recipe"), PAIRS)
each_table = pytest.mark.parametrize("table", TABLES)


@cache
def sample(table: str) -> Any:
    """Some rows with a target, always the same ones, as an Arrow table."""
    source = TABLES[table]
    whole = pq.read_table(DATA / f"{table}.parquet")
    whole = whole.drop_columns(list(source.drop)).filter(pc.is_valid(pc.field(source.target)))
    chosen = np.random.default_rng(7).permutation(len(whole))[: source.rows]
    return whole.take(pa.array(np.sort(chosen))).combine_chunks()


@cache
def halves(table: str) -> tuple[Any, Any]:
    """Two thirds to learn from, one third to answer; columns without any value among the first are left out."""
    frame = sample(table).to_pandas()
    held_out = np.arange(len(frame)) % 3 == 2
    frame = frame.loc[:, frame[~held_out].notna().any()]
    return frame[~held_out].reset_index(drop=True), frame[held_out].reset_index(drop=True)


def learn(data: Any, table: str, recipe: str, n_threads: int = 1) -> tw.Tree:
    source = TABLES[table]
    return tw.learn(data, source.target, RECIPES[recipe], task=source.task, n_threads=n_threads)


@cache
def learned(table: str, recipe: str) -> tw.Tree:
    return learn(halves(table)[0], table, recipe)


# --- one tree ---------------------------------------------------------------------------------------------------------


@each_pair
def test_any_number_of_threads(table: str, recipe: str) -> None:
    assert learn(halves(table)[0], table, recipe, n_threads=2) == learned(table, recipe)


@each_pair
def test_any_order_of_rows(table: str, recipe: str) -> None:
    rows = halves(table)[0]
    shuffled = rows.iloc[np.random.default_rng(1).permutation(len(rows))]
    assert learn(shuffled, table, recipe, n_threads=2) == learned(table, recipe)


@each_pair
def test_saved_and_read_again(table: str, recipe: str) -> None:
    tree = learned(table, recipe)
    again = from_json(to_json(tree))
    assert again == tree
    assert np.array_equal(tw.predict(again, halves(table)[1]), tw.predict(tree, halves(table)[1]))


@pytest.mark.parametrize(("table", "recipe"), [pair for pair in PAIRS if pair.values[1] in ("C45", "CART", "CHAID")])
def test_any_library(table: str, recipe: str) -> None:
    """Text instead of categories, because only pandas and Arrow carry the order in which levels were declared."""
    pl, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    arrow = sample(table).slice(0, 600)
    text = [pa.field(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in arrow.schema]
    arrow = arrow.cast(pa.schema(text))
    arrow = arrow.select([name for name in arrow.column_names if arrow[name].null_count < len(arrow)])
    tree = learn(arrow, table, recipe)
    for other in (arrow.to_pandas(), pl.from_arrow(arrow), duckdb.from_arrow(arrow)):
        assert learn(other, table, recipe) == tree, type(other)
        assert np.array_equal(tw.predict(tree, other), tw.predict(tree, arrow))


@each_table
def test_declared_levels_are_the_same_in_pandas_and_arrow(table: str) -> None:
    arrow = sample(table).slice(0, 600)
    arrow = arrow.select([name for name in arrow.column_names if arrow[name].null_count < len(arrow)])
    assert learn(arrow, table, "CART") == learn(arrow.to_pandas(), table, "CART")


# --- a good tree ------------------------------------------------------------------------------------------------------


def better_than_guessing(tree: tw.Tree, table: str) -> float:
    """By how much of the rows, or of the variance, the tree beats the most frequent class or the mean."""
    rows, held_out = halves(table)
    target = TABLES[table].target
    truth = held_out[target].to_numpy()
    found = tw.predict(tree, held_out)
    if TABLES[table].task == "regression":
        return float(1 - ((found - truth) ** 2).mean() / ((rows[target].mean() - truth) ** 2).mean())
    return float((found == truth).mean() - (rows[target].mode()[0] == truth).mean())


#: The least that is expected. A scikit-learn tree of the same limits, levels as numbers, is better by 0.06, 0.22, 0.36,
#: 0.61, 0.72 and 0.17; CHAID wants more rows than soybean has for its 19 classes.
LEAST = {"adult": 0.03, "titanic": 0.15, "vote": 0.3, "soybean": 0.15, "flights": 0.5, "covertype": 0.1}


@each_pair
def test_better_than_guessing(table: str, recipe: str) -> None:
    """Of a modest size: a tree that grows until every leaf is pure learns the noise of a thousand rows as well."""
    full, source = RECIPES[recipe], TABLES[table]
    depth, leaf = full.stopping.max_depth or 6, full.stopping.min_samples_leaf
    small = replace(full.stopping, max_depth=min(depth, 6), min_samples_leaf=max(leaf, 10))
    tree = tw.learn(halves(table)[0], source.target, replace(full, stopping=small), task=source.task)
    assert better_than_guessing(tree, table) > LEAST[table]


@each_pair
def test_sound(table: str, recipe: str) -> None:
    """Children hold their parent's rows, answers are probabilities, and the text says how large the tree is."""
    tree, (rows, held_out) = learned(table, recipe), halves(table)
    # Spread rows are counted in every child they reach; without a surrogate, rows stay behind where children tie.
    counted = not isinstance(tree.recipe.missing, (tw.missing.Fractional, tw.missing.Surrogates))
    for node in tree.walk():
        children = [tree[child] for child in node.children]
        assert not counted or node.is_leaf or sum(child.rows for child in children) == node.rows
        assert sum(child.weight for child in children) <= node.weight * (1 + 1e-9)
    assert tree.root.rows == len(rows)
    assert tree.n_leaves > 1
    if tree.schema.target.classes is not None:
        shares = tw.predict_proba(tree, held_out)
        assert shares.min() >= 0
        assert shares.sum(axis=1) == pytest.approx(1)
    assert f"{tree.n_leaves:,} leaves, depth {tree.depth}" in str(tree).splitlines()[0]


@pytest.mark.parametrize("table", ["vote", "adult"])
def test_the_textbooks_id3_refuses_in_words(table: str) -> None:
    words = "is missing in" if table == "vote" else "'age', .* are numeric"
    with pytest.raises(tw.DataError, match=words):
        tw.learn(halves(table)[0], TABLES[table].target, tw.ID3)
