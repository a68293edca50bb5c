"""Decision trees: ID3, C4.5, CART and CHAID as recipes for one exact, deterministic engine.

Comes in: any table. Goes out: a `Tree`, a plain value. The public names are listed in `public.py`.
Always holds: importing treewright loads nothing else; the first name that is used loads the library, and the first
estimator scikit-learn. So a command line that only shows its help answers at once.

`learn`, `predict` and others are functions here, and modules too: `treewright.learn` is the function, while
`from treewright.learn import learn` still reaches into the module.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treewright.public import *  # noqa: F403


if not TYPE_CHECKING:  # so that a type checker knows every name, and no other

    def __getattr__(name: str) -> object:
        if name.startswith("__") and name not in {"__all__", "__version__"}:
            raise AttributeError(f"module 'treewright' has no attribute {name!r}")
        if name not in _FUNCTIONS:
            try:
                return import_module(f"treewright.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"treewright.{name}":
                    raise
        value = getattr(import_module("treewright.public"), name)
        globals()[name] = value  # the next time it is simply there
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module("treewright.public").__all__})


class _Package(ModuleType):
    """The import system puts every module into its package under the module's name; a function of that name stays."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in _FUNCTIONS):
            super().__setattr__(name, value)


#: Functions that have the name of the room they live in.
_FUNCTIONS = frozenset({"explain", "learn", "predict", "report"})

sys.modules[__name__].__class__ = _Package
