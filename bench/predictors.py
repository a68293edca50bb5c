"""Ways to predict many rows by one tree: ours, the peers' own, and the compilers of scikit-learn's trees.

Building (fitting, converting, compiling) is done before anything is timed; all of them end at classes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from contenders import Predict
from ours import OURS, OURS_LEARN
from peers import PEERS
from tables import Table


@dataclass(frozen=True, eq=False)
class Predictor:
    """`compiles`: it turns the tree into machine code, which takes minutes for a large one."""

    name: str
    module: str
    build: Callable[[Table, int | None, int], Predict]
    compiles: bool = False

    @property
    def available(self) -> bool:
        return find_spec(self.module) is not None


def _by_fit(name: str) -> Callable[[Table, int | None, int], Predict]:
    contender = next(c for c in (OURS, OURS_LEARN, *PEERS) if c.name == name)

    def build(table: Table, depth: int | None, threads: int) -> Predict:
        return contender.fit(table.first(200_000), depth, threads).predict

    return build


def _sklearn_tree(table: Table, depth: int | None) -> object:
    scikit_learn = next(c for c in PEERS if c.name == "scikit-learn")
    return scikit_learn.fit(table.first(200_000), depth, 1).model


def _onnxruntime(table: Table, depth: int | None, threads: int) -> Predict:
    import onnxruntime
    from skl2onnx import to_onnx

    written = to_onnx(_sklearn_tree(table, depth), table.x[:1], options={"zipmap": False})
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(written.SerializeToString(), options, providers=["CPUExecutionProvider"])
    into, label = session.get_inputs()[0].name, session.get_outputs()[0].name
    return lambda x: session.run([label], {into: x})[0]


def _class_of(shares: np.ndarray) -> np.ndarray:
    return shares.reshape(len(shares), -1).argmax(axis=1)


def _treelite_model(table: Table, depth: int | None) -> Any:
    """treelite reads forests, so that the tree comes as a forest of one that saw every row and column."""
    import treelite
    from sklearn.ensemble import RandomForestClassifier

    learned = table.first(200_000)
    forest = RandomForestClassifier(1, bootstrap=False, max_features=None, max_depth=depth, random_state=0)
    return treelite.sklearn.import_model(forest.fit(learned.x, learned.y))


def _treelite(table: Table, depth: int | None, threads: int) -> Predict:
    import treelite

    model = _treelite_model(table, depth)
    return lambda x: _class_of(treelite.gtil.predict(model, x, nthread=threads))


def _tl2cgen(table: Table, depth: int | None, threads: int) -> Predict:
    import tl2cgen

    model = _treelite_model(table, depth)
    library = Path(tempfile.mkdtemp()) / "tree.so"
    tl2cgen.export_lib(model, toolchain="gcc", libpath=library, params={"parallel_comp": threads})
    compiled = tl2cgen.Predictor(library, nthread=threads)
    return lambda x: _class_of(compiled.predict(tl2cgen.DMatrix(x, dtype="float32")))


PREDICTORS = {
    predictor.name: predictor
    for predictor in (
        Predictor("treewright", "treewright", _by_fit("treewright")),
        Predictor("treewright predict", "treewright", _by_fit("treewright learn")),
        Predictor("SnapML", "snapml", _by_fit("SnapML")),
        Predictor("onnxruntime", "skl2onnx", _onnxruntime),
        Predictor("treelite", "treelite", _treelite),
        Predictor("tl2cgen", "tl2cgen", _tl2cgen, compiles=True),
        Predictor("scikit-learn", "sklearn", _by_fit("scikit-learn")),
    )
}
