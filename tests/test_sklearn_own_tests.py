"""scikit-learn's own tests of its trees, from the installed package, with our estimators in place of its own.

What cannot pass is listed in `sklearn_own_tests.txt` with the reason. The list can only shrink: a listed case that
passes is an error, and so is a case that fails without being listed. It was made with scikit-learn 1.9.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import sklearn
import sklearn.tree
from sklearn_adapters import ADAPTERS

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not sklearn.__version__.startswith("1.9."), reason="the list is of scikit-learn 1.9"),
]

LIST = Path(__file__).with_name("sklearn_own_tests.txt")


def reasons() -> dict[str, str]:
    """Why a case cannot pass, by its name: a line beginning with "# " is the reason of all names below it."""
    found, reason = {}, ""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            found[line] = reason
    return found


def loaded() -> Any:
    """The installed test module, made afresh while `sklearn.tree` has the adapters."""
    path = Path(sklearn.tree.__file__).parent / "tests" / "test_tree.py"
    spec = importlib.util.spec_from_file_location("sklearn_test_tree", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with mock.patch.multiple(sklearn.tree, **ADAPTERS):
        spec.loader.exec_module(module)
    module.tree = mock.Mock(wraps=sklearn.tree, **ADAPTERS)
    return module


def in_lists(test: Any) -> Any:
    """The test with its cases in lists: pytest warns of iterators."""
    marks = getattr(test, "pytestmark", [])
    test.pytestmark = [
        pytest.mark.parametrize(mark.args[0], list(mark.args[1]), **mark.kwargs).mark
        if mark.name == "parametrize" and not mark.kwargs.get("indirect")
        else mark
        for mark in marks
    ]
    return test


REASONS = reasons()
globals().update({name: in_lists(value) for name, value in vars(loaded()).items() if name.startswith("test_")})


@pytest.fixture
def global_random_seed() -> int:
    """The seed that scikit-learn's own suite uses where nothing else is said."""
    return 42


@pytest.fixture(autouse=True)
def listed(request: pytest.FixtureRequest) -> None:
    """A listed case must fail."""
    if request.node.name in REASONS:
        request.applymarker(pytest.mark.xfail(reason=REASONS[request.node.name], strict=True))
