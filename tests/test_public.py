"""The public names, as a user meets them."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import treewright as tw
from treewright import public


def test_every_listed_name_is_there_and_no_other_is_shown() -> None:
    for name in public.__all__:
        assert getattr(tw, name) is getattr(public, name)
    assert set(public.__all__) <= set(dir(tw))
    assert tw.__all__ == public.__all__
    assert not hasattr(tw, "no_such_name")


def test_functions_win_over_rooms_of_their_name() -> None:
    """Whichever is imported first."""
    shared = [name for name in public.__all__ if f"treewright.{name}" in sys.modules]
    functions = [name for name in shared if not isinstance(getattr(public, name), ModuleType)]
    assert {"explain", "learn", "predict"} <= set(functions)
    rooms = "".join(f"from treewright.{name} import *\n" for name in functions)
    code = rooms + f"import treewright as tw\nassert all(callable(getattr(tw, name)) for name in {functions!r})"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_loads_nothing() -> None:
    code = "import sys, treewright\nprint('numpy' in sys.modules, 'treewright.public' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False False\n"


def test_public_functions_are_typed_and_described() -> None:
    for name in public.__all__:
        value = getattr(tw, name)
        if callable(value) and not isinstance(value, type):
            assert value.__doc__, name
            assert "return" in value.__annotations__, name


def test_representations_help() -> None:
    tree = tw.learn({"x": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}, "y")
    assert repr(tree) == "<Tree 'CART' for 'y': 4 rows, 3 nodes, 2 leaves, depth 1>"
    assert repr(tree.root) == "<Node 0: asks 'x', 4 rows, depth 0>"
    assert "Split(" in repr(tree.root.split)
    assert "name='C45'" in repr(tw.C45)
