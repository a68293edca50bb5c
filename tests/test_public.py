"""The public names, as a user meets them."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from types import ModuleType

import treewright as tw
from treewright import _public


def test_every_listed_name_is_there_and_no_other_is_shown() -> None:
    for name in _public.__all__:
        assert getattr(tw, name) is getattr(_public, name)
    assert set(_public.__all__) <= set(dir(tw))
    assert tw.__all__ == _public.__all__
    assert not hasattr(tw, "no_such_name")


def test_no_module_has_the_name_of_a_public_function() -> None:
    functions = [name for name in tw.__all__ if not isinstance(getattr(tw, name), ModuleType)]
    modules = {module.name for module in pkgutil.iter_modules(tw.__path__)}
    assert not modules & set(functions)


def test_only_public_names_are_shown() -> None:
    assert dir(tw) == sorted(_public.__all__)
    assert dir(tw.missing) == tw.missing.__all__
    assert "Fractional" in tw.missing.__all__


def test_importing_loads_nothing() -> None:
    code = "import sys, treewright\nprint('numpy' in sys.modules, 'treewright._public' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False False\n"


def test_public_functions_are_typed_and_described() -> None:
    for name in _public.__all__:
        value = getattr(tw, name)
        if callable(value) and not isinstance(value, type):
            assert value.__doc__, name
            assert "return" in value.__annotations__, name


def test_representations_help() -> None:
    tree = tw.learn({"x": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}, "y")
    assert repr(tree) == "<Tree 'CART' for 'y': 4 rows, 3 nodes, 2 leaves, depth 1>"
    assert repr(tree.root) == "<Node 0: splits on 'x', 4 rows, depth 0>"
    assert "Split(" in repr(tree.root.split)
    assert repr(tw.C45) == "C45"
