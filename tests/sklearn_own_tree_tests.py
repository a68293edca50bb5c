"""scikit-learn's own tests of its trees, from the installed package, with our estimators in place of its own.

The file is collected by `test_sklearn_own_tests.py` in a process of its own and not by name: the names of scikit-learn's
tests become names here.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import sklearn.tree
from sklearn_adapters import ADAPTERS


def _loaded() -> Any:
    """The installed test module, made afresh while `sklearn.tree` has the adapters."""
    path = Path(sklearn.tree.__file__).parent / "tests" / "test_tree.py"
    spec = importlib.util.spec_from_file_location("sklearn_test_tree", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with mock.patch.multiple(sklearn.tree, **ADAPTERS):
        spec.loader.exec_module(module)
    # Some tests say tree.DecisionTreeClassifier.
    module.tree = mock.Mock(wraps=sklearn.tree, **ADAPTERS)  # type: ignore[attr-defined]
    return module


_MODULE = _loaded()
globals().update({name: value for name, value in vars(_MODULE).items() if name.startswith("test_")})
