"""Trees of many nodes and many classes keep their statistics without zeros."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treewright as tw
from treewright.data.sparse_rows import MAX_DENSE, SparseRows, frozen
from treewright.pruning.losses import node_risk
from treewright.tree.tree import Tree

_PEAK = """
import resource, numpy as np, treewright as tw
rng = np.random.default_rng(0)
labels = np.append(np.arange(3000), rng.integers(0, 3000, 3001)).astype(str)
table = {"a": rng.normal(size=6001), "b": rng.normal(size=6001), "y": labels}
tw.learn({"a": [1, 2], "y": ["u", "v"]}, "y", "RECIPE")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
tree = tw.learn(table, "y", "RECIPE")
tw.predict(tree, {"a": [0.0], "b": [0.0]})
tw.save(tree, "PATH")
assert tw.load("PATH") == tree
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has another unit elsewhere")
@pytest.mark.parametrize("recipe", ["sklearn", "cart", "c4.5"])
def test_peak_memory_does_not_grow_as_nodes_times_classes(recipe: str, tmp_path: Path) -> None:
    """12,000 nodes by 3,000 classes are 290 MB per matrix; there are two, and pruning and saving made more of them."""
    path = tmp_path / "tree.json"
    run = [sys.executable, "-c", _PEAK.replace("RECIPE", recipe).replace("PATH", str(path))]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 150  # megabytes; 50 to 110 when this was written, 780 to 3,600 before
    assert path.stat().st_size < 20e6


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    labels = np.append(np.arange(2500), rng.integers(0, 2500, 1000)).astype(str)
    return {"a": rng.normal(size=3500), "b": rng.normal(size=3500), "y": labels}


@pytest.fixture(scope="module")
def tree(table: dict[str, Any]) -> Tree:
    return tw.learn(table, "y", "sklearn")


def test_statistics_are_those_of_the_training_rows(tree: Tree, table: dict[str, Any]) -> None:
    stats: Any = tree.arrays["stats"]
    assert isinstance(stats, SparseRows)
    assert stats.size > MAX_DENSE
    assert 8 * stats.size > 10 * stats.nbytes
    classes = list(tree.schema.target.classes or ())
    truth = np.array([classes.index(label) for label in table["y"]])
    leaf = tw.apply(tree, table)
    for i in (int(leaf[0]), int(leaf[99])):
        assert list(tree[i].counts or ()) == np.bincount(truth[leaf == i], minlength=len(classes)).tolist()
    assert list(tree.root.counts or ()) == np.bincount(truth).tolist()
    assert tw.predict(tree, table).tolist() == [tree[int(i)].prediction for i in leaf]
    shares = tw.predict_proba(tree, {"a": table["a"][:5], "b": table["b"][:5]})
    assert shares.tolist() == [list(tree[int(i)].probabilities or ()) for i in leaf[:5]]


def test_saved_without_zeros_as_version_2(tree: Tree) -> None:
    text = tw.export.to_json(tree)
    assert text.startswith('{\n "format": "treewright tree",\n "version": 2,')
    loaded = tw.export.from_json(text)
    assert loaded == tree
    assert tw.export.to_json(loaded) == text
    assert pickle.loads(pickle.dumps(tree)) == tree


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 17}, r"\$\.nodes\.stats\.column must rise within each row, from 0 to 16"),
        ({"width": 2**31 - 1}, r"\$\.nodes\.stats has 2147483647 numbers per node, but the target needs 2500"),
        ({"width": 2**31}, r"\$\.nodes\.stats\.width\[0\] does not fit"),
        ({"width": "9"}, r"\$\.nodes\.stats\.width\[0\] must be a whole number"),
        ({"start": [0]}, r"\$\.nodes\.stats\.start must rise from 0 to"),
        ({"start": []}, r"\$\.nodes\.stats\.start must rise from 0 to"),
        ({"start": [0], "column": [], "number": []}, r"\$\.nodes\.stats has 0 entries"),
        ({"column": [-1]}, r"\$\.nodes\.stats\.start must rise"),
        ({"number": []}, r"\$\.nodes\.stats\.number must have a number for each column"),
        ({"extra": 1}, r"\$\.nodes\.stats has the unknown key 'extra'"),
    ],
)
def test_matrices_without_zeros_that_are_none(tree: Tree, change: dict[str, Any], message: str) -> None:
    written = tree.as_dict()
    written["nodes"]["stats"] |= change
    with pytest.raises(tw.FileError, match=message):
        Tree.from_dict(written)


def test_columns_and_numbers_of_a_matrix_without_zeros_are_checked(tree: Tree) -> None:
    for name, at, value in (("column", 1, 0), ("column", 0, -1), ("number", 0, 0), ("start", 1, 10**7)):
        written = tree.as_dict()
        written["nodes"]["stats"][name][at] = value
        with pytest.raises(tw.FileError, match=r"\$\.nodes\.stats\.(column|number|start) must"):
            Tree.from_dict(written)


def test_small_matrices_may_be_written_without_zeros() -> None:
    small = tw.learn({"a": [1, 2, 3], "y": ["u", "v", "v"]}, "y", "sklearn")
    written = json.loads(tw.export.to_json(small)) | {"version": 2}
    written["nodes"]["stats"] = {"width": 2, "start": [0, 2, 3, 4], "column": [0, 1, 0, 1], "number": [1, 2, 1, 2]}
    assert tw.export.from_json(json.dumps(written)) == small
    schema = json.loads((Path(tw.__file__).parent / "tree" / "tree.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(written)


def test_the_same_tree_from_matrices_with_zeros(tree: Tree) -> None:
    dense = {name: np.asarray(array) for name, array in tree.arrays.items()}
    again = Tree(dense, tree.schema, tree.recipe)
    assert again == tree
    assert hash(again) == hash(tree)
    assert isinstance(again.arrays["value"], SparseRows)


def test_pruning_by_alpha_is_that_of_matrices_with_zeros(tree: Tree) -> None:
    pruned = tw.prune(tree, tw.pruning.CostComplexity(alpha=0.0003))
    assert 1 < pruned.n_leaves < tree.n_leaves
    wrong = [node.weight - max(node.counts or ()) for node in pruned if node.is_leaf]
    path = tw.pruning_path(tree)
    step = max(i for i, alpha in enumerate(path.alpha) if alpha <= 0.0003)
    assert path.leaves[step] == pruned.n_leaves
    assert path.risk[step] == pytest.approx(sum(wrong) / tree.root.weight)


@pytest.mark.parametrize("risk", ["error", "impurity", "deviance"])
def test_risks_are_those_of_matrices_with_zeros(tree: Tree, risk: Any) -> None:
    dense = Tree.grown({name: np.asarray(array) for name, array in tree.arrays.items()}, tree.schema, tree.recipe)
    assert np.allclose(node_risk(tree, risk)[0], node_risk(dense, risk)[0], rtol=1e-12)


@given(st.integers(0, 10**6))
def test_rows_without_zeros_behave_like_their_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 8)), int(rng.integers(1, 6))
    dense = np.where(rng.random((n, k)) < 0.6, 0.0, rng.integers(1, 4, (n, k)).astype(float))
    rows, column = np.nonzero(dense)
    start = np.append(0, np.cumsum(np.bincount(rows, minlength=n))).astype(np.int64)
    sparse = SparseRows(k, start, column.astype(np.int32), dense[rows, column])
    i, mask = int(rng.integers(n)), rng.random(n) < 0.5
    at = rng.integers(0, n, 4), rng.integers(0, k, 4)
    for found, wanted in (
        (np.asarray(sparse), dense), (sparse[i], dense[i]), (sparse[-1], dense[-1]), (sparse[mask], dense[mask]),
        (sparse[:, 0], dense[:, 0]), (sparse[at], dense[at]), (sparse[i, 0], dense[i, 0]), (sparse[1:], dense[1:]),
        (sparse @ np.arange(k), dense @ np.arange(k)), (sparse.sum(axis=0), dense.sum(axis=0)),
        (sparse.sum(axis=1), dense.sum(axis=1)), (sparse.argmax(axis=1), dense.argmax(axis=1)),
        (sparse / 2, dense / 2), (2 - sparse, 2 - dense), (sparse.ravel(), dense.ravel()), (sparse.T, dense.T),
        (sparse._taken(np.flatnonzero(mask)), dense[mask]),
    ):  # fmt: skip
        assert np.array_equal(np.asarray(found), wanted)
    assert (sparse.shape, len(sparse), sparse.tolist()) == (dense.shape, n, dense.tolist())


def test_small_matrices_stay_as_they_are() -> None:
    small = np.zeros((3, 4))
    assert frozen(small) is small
    assert not small.flags.writeable
