"""Decision trees: ID3, C4.5, CART and CHAID as recipes for one exact, deterministic engine.

The public names are listed in `_public.py`. Importing treewright loads nothing else: the first name that is used loads
the library, the first estimator scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treewright._public import *  # noqa: F403


if not TYPE_CHECKING:  # so that a type checker knows every name, and no other

    def __getattr__(name: str) -> object:
        if name in _NAMESPACES:
            return import_module(f"treewright.{name}")
        if name.startswith("_") and name not in {"__all__", "__version__"}:
            raise AttributeError(f"module 'treewright' has no attribute {name!r}")
        value = getattr(import_module("treewright._public"), name)
        globals()[name] = value  # found at once the next time
        return value


def __dir__() -> list[str]:
    return sorted(import_module("treewright._public").__all__)


#: Public packages and modules of this package: loaded alone, also by its own modules.
_NAMESPACES = frozenset({"criteria", "estimators", "export", "lessons", "pruning", "render"})
