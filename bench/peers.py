"""The peers: other libraries' single trees, under settings that ask for the same tree as ours.

One tree, all columns, no sampling, no regularisation, leaves of one row allowed, equal depth. Boosting libraries do
one round with learning rate 1 on squared error: with classes as columns of zeros and ones that criterion is gini's,
and the leaf holds the mean, so that held-out scores compare. Levels are handed over as such where a library knows
them and as numbers where it does not; missing values as such or, where a library refuses them, as -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from contenders import Contender, Fitted
from tables import Table


def _filled(x: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(x), np.float32(-1), x)


def _estimator(estimator: Any, table: Table, fills: bool) -> Fitted:
    """Anything that speaks scikit-learn; a library that refuses NaN gets -1 in its place."""
    fills = fills and table.missing
    estimator.fit(_filled(table.x) if fills else table.x, table.y)
    return Fitted((lambda x: estimator.predict(_filled(x))) if fills else estimator.predict, estimator)


def _one_hot(table: Table) -> np.ndarray:
    """The target as numbers: itself, or a column for each class (one column is enough for two)."""
    if table.classes <= 2:
        return table.y.astype(np.float32)
    hot = np.zeros((len(table.y), table.classes), np.float32)
    hot[np.arange(len(table.y)), table.y] = 1
    return hot


def _answers(table: Table, means: np.ndarray) -> np.ndarray:
    """What the means of leaves say: the number, or the class."""
    if not table.classes:
        return means
    return (means > 0.5).astype(np.int64) if table.classes == 2 else means.argmax(axis=1)


# --- scikit-learn and those that speak its language -------------------------------------------------------------------


def _sklearn(table: Table, depth: int | None, _threads: int) -> Fitted:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if table.classes else DecisionTreeRegressor
    return _estimator(kind(max_depth=depth, random_state=0), table, fills=False)


def _onedal(table: Table, depth: int | None, threads: int) -> Fitted:
    from sklearnex.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if table.classes else RandomForestRegressor
    forest = kind(
        n_estimators=1,
        bootstrap=False,
        max_features=None,
        max_depth=depth,
        random_state=0,
        n_jobs=threads,
        max_bins=256,
    )
    return _estimator(forest, table, fills=True)


def _snapml(table: Table, depth: int | None, threads: int, *, histograms: bool = True) -> Fitted:
    from snapml import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if table.classes else DecisionTreeRegressor
    learner = kind(max_depth=depth, n_jobs=threads, use_histograms=histograms, hist_nbins=256, random_state=0)
    return _estimator(learner, table, fills=True)


def _snapml_exact(table: Table, depth: int | None, threads: int) -> Fitted:
    return _snapml(table, depth, threads, histograms=False)


# --- boosting libraries, one round ------------------------------------------------------------------------------------


def _xgboost(table: Table, depth: int | None, threads: int) -> Fitted:
    import xgboost

    kinds = ["c" if j in table.nominal else "q" for j in range(table.x.shape[1])] if table.nominal else None
    settings = {
        "objective": "reg:squarederror",
        "tree_method": "hist",
        "multi_strategy": "multi_output_tree" if table.classes > 2 else "one_output_per_tree",
        "max_depth": depth or 0,
        "learning_rate": 1,
        "reg_lambda": 0,
        "min_child_weight": 0,
        "base_score": 0,
        "max_bin": 256,
        "nthread": threads,
    }
    rows = xgboost.QuantileDMatrix(
        table.x, _one_hot(table), feature_types=kinds, enable_categorical=bool(kinds), nthread=threads
    )
    booster = xgboost.train(settings, rows, num_boost_round=1)

    def predict(x: np.ndarray) -> np.ndarray:
        rows = xgboost.DMatrix(x, feature_types=kinds, enable_categorical=bool(kinds), nthread=threads)
        return _answers(table, booster.predict(rows))

    return Fitted(predict, booster)


def _lightgbm(table: Table, depth: int | None, threads: int) -> Fitted:
    import lightgbm

    settings = {
        "objective": "multiclass" if table.classes > 2 else "regression",
        "boost_from_average": False,
        "num_leaves": min(2**depth if depth else len(table.y), 131_072),  # more it does not take
        "max_depth": depth or -1,
        "learning_rate": 1,
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0,
        "min_data_in_bin": 1,
        "lambda_l2": 0,
        "max_bin": 255,
        "cat_smooth": 0,
        "cat_l2": 0,
        "min_data_per_group": 1,
        "max_cat_threshold": 1_000_000,
        "num_threads": threads,
        "verbose": -1,
        **({"num_class": table.classes} if table.classes > 2 else {}),
    }
    data = lightgbm.Dataset(table.x, table.y, categorical_feature=list(table.nominal), free_raw_data=True)
    booster = lightgbm.train(settings, data, num_boost_round=1)
    return Fitted(lambda x: _answers(table, booster.predict(x, num_threads=threads)), booster)


def _catboost(table: Table, depth: int | None, threads: int) -> Fitted:
    import catboost

    learner = catboost.CatBoost(
        {
            "loss_function": "MultiClass" if table.classes > 2 else "RMSE",
            "iterations": 1,
            "depth": depth,
            "grow_policy": "Depthwise",
            "min_data_in_leaf": 1,
            "learning_rate": 1,
            "l2_leaf_reg": 0,
            "random_strength": 0,
            "bootstrap_type": "No",
            "score_function": "L2",
            "leaf_estimation_iterations": 1,
            "boost_from_average": False,
            "border_count": 254,
            "thread_count": threads,
            "allow_writing_files": False,
            "verbose": False,
        }
    )
    learner.fit(_catboost_rows(table, table.x, table.y))

    def predict(x: np.ndarray) -> np.ndarray:
        return _answers(table, learner.predict(_catboost_rows(table, x), thread_count=threads))

    return Fitted(predict, learner)


def _catboost_rows(table: Table, x: np.ndarray, label: Any = None) -> Any:
    """CatBoost wants levels as whole numbers, which a matrix of floats is not."""
    import catboost

    if not table.nominal:
        return catboost.Pool(x, label)
    import pandas as pd

    columns = {j: x[:, j] if j not in table.nominal else _filled(x[:, j]).astype(np.int64) for j in range(x.shape[1])}
    return catboost.Pool(pd.DataFrame(columns), label, cat_features=list(table.nominal))


def _catboost_refuses(_table: Table, depth: int | None) -> str:
    return "" if depth and depth <= 16 else "at most depth 16"


# --- YDF --------------------------------------------------------------------------------------------------------------


def _ydf(table: Table, depth: int | None, threads: int, *, bins: bool = False) -> Fitted:
    import ydf

    ydf.verbose(0)
    nominal = set(table.nominal)

    def rows(x: np.ndarray) -> dict[str, np.ndarray]:
        if not nominal:
            return {"x": x}
        columns = {f"x{j}": x[:, j] for j in range(x.shape[1])}
        return {name: _words(v) if int(name[1:]) in nominal else v for name, v in columns.items()}

    learner = ydf.CartLearner(
        "y",
        ydf.Task.CLASSIFICATION if table.classes else ydf.Task.REGRESSION,
        max_depth=depth + 1 if depth else -1,  # a root alone has depth 1 there
        min_examples=1,
        validation_ratio=0.0,
        num_threads=threads,
        max_vocab_count=-1,
        min_vocab_frequency=1,
        discretize_numerical_columns=bins,
        num_discretized_numerical_bins=255,
    )
    model = learner.train({**rows(table.x), "y": table.y})
    two = table.classes == 2
    labels = np.array([int(label) for label in model.label_classes()]) if table.classes else None

    def predict(x: np.ndarray) -> np.ndarray:
        found = model.predict(rows(x), num_threads=threads)
        if labels is None:
            return found
        return labels[(found > 0.5).astype(int)] if two else labels[found.argmax(axis=1)]

    return Fitted(predict, model)


def _words(codes: np.ndarray) -> np.ndarray:
    known = ~np.isnan(codes)
    words = np.full(len(codes), b"", dtype="S9")  # the letter keeps YDF from taking a level for a number
    words[known] = np.strings.add(b"L", codes[known].astype(np.int64).astype("S8"))
    return words


def _ydf_bins(table: Table, depth: int | None, threads: int) -> Fitted:
    return _ydf(table, depth, threads, bins=True)


# --- all of them ------------------------------------------------------------------------------------------------------

PEERS = (
    Contender("SnapML", "snapml", "snapml", False, _snapml, note="256 bins"),
    Contender("SnapML exact", "snapml", "snapml", True, _snapml_exact),
    Contender("oneDAL", "scikit-learn-intelex", "sklearnex", False, _onedal, note="256 bins, a forest of one tree"),
    Contender("XGBoost", "xgboost", "xgboost", False, _xgboost, note="256 bins"),
    Contender("LightGBM", "lightgbm", "lightgbm", False, _lightgbm, note="255 bins; many classes: one tree for each"),
    Contender("CatBoost", "catboost", "catboost", False, _catboost, _catboost_refuses, note="254 bins"),
    Contender("YDF", "ydf", "ydf", True, _ydf),
    Contender("YDF bins", "ydf", "ydf", False, _ydf_bins, note="255 bins"),
    Contender("scikit-learn", "scikit-learn", "sklearn", True, _sklearn, note="one thread"),
)
