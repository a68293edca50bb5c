"""Estimators beside scikit-learn's trees: paths, the pruning path, sparse tables, columns without values."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treewright as tw

X, Y = load_iris(return_X_y=True)
X = X.astype(np.float32)
SPARSE = np.where(X < 2.0, 0.0, X)


def ours(**parameters: object) -> tw.TreeClassifier:
    return tw.TreeClassifier(recipe=tw.SKLEARN, **parameters)


def test_decision_path_leads_from_the_root_to_the_leaf_of_apply() -> None:
    fitted = ours(max_depth=4).fit(X, Y)
    path, leaves = fitted.decision_path(X), fitted.apply(X)
    assert path.shape == (len(X), fitted.tree_.n_nodes)
    for row in range(0, len(X), 7):
        nodes = path.indices[path.indptr[row] : path.indptr[row + 1]].tolist()
        assert nodes[0] == 0
        assert nodes[-1] == leaves[row]
        assert all(fitted.tree_[below].parent == above for above, below in pairwise(nodes))
    theirs = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, Y).decision_path(X)
    assert path.sum(axis=1).max() == theirs.sum(axis=1).max()


def test_the_pruning_path_is_scikit_learns() -> None:
    data, target = load_diabetes(return_X_y=True)
    data = data.astype(np.float32)
    path = tw.TreeRegressor(recipe=tw.SKLEARN, max_depth=4).cost_complexity_pruning_path(data, target)
    theirs = DecisionTreeRegressor(max_depth=4, random_state=0).cost_complexity_pruning_path(data, target)
    assert path.ccp_alphas == pytest.approx(theirs.ccp_alphas)
    assert path.impurities == pytest.approx(theirs.impurities)


def test_sizes_are_kept() -> None:
    assert ours().fit(X, Y).max_features_ == 4
    assert ours(max_features="sqrt").fit(X, Y).max_features_ == 2
    assert ours().fit(X, Y).n_outputs_ == 1


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array", "csc_array"])
def test_a_sparse_table_gives_the_tree_and_predictions_of_a_dense_one(form: str) -> None:
    rows = getattr(sparse, form)(SPARSE)
    dense, fitted = ours().fit(SPARSE, Y), ours().fit(rows, Y)
    assert fitted.tree_ == dense.tree_
    assert (fitted.predict(rows) == dense.predict(SPARSE)).all()
    assert (fitted.predict_proba(rows) == dense.predict_proba(SPARSE)).all()
    with pytest.raises(tw.DataError, match="X has 3 features, but TreeClassifier is expecting 4"):
        fitted.predict(rows.tocsc()[:, :3])


def test_sparse_columns_that_no_split_uses_stay_sparse() -> None:
    from treewright.estimators.paths import sparse_frame

    frame = sparse_frame(sparse.csc_array(SPARSE), {2})
    assert [column.values.strides for column in frame.columns] == [(0,), (0,), (8,), (0,)]


def test_a_column_without_values_is_accepted_as_in_scikit_learn() -> None:
    empty = np.column_stack([np.full(len(X), np.nan), X])
    fitted = ours().fit(empty, Y)
    assert fitted.n_features_in_ == 5
    assert fitted.feature_importances_[0] == 0
    theirs = DecisionTreeClassifier(random_state=0).fit(empty, Y)
    assert (fitted.predict(empty) == theirs.predict(empty)).all()


def test_an_identifier_is_kept_with_a_warning() -> None:
    table = pd.DataFrame({"name": [f"n{i}" for i in range(60)], "x": np.arange(60.0)})
    y = np.arange(60) % 2
    with pytest.warns(UserWarning, match="'name' looks like an identifier: text, 60 different in 60 rows"):
        fitted = ours().fit(table, y)
    assert fitted.n_features_in_ == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours(kinds={"name": "nominal"}).fit(table, y)
