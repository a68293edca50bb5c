"""The tree that a function is given: a `Tree`, or a fitted estimator that holds one."""

from __future__ import annotations

from typing import Protocol

from treewright.errors import DataError, TreewrightError
from treewright.tree.tree import Tree


class HasTree(Protocol):
    """A fitted estimator: `tree_` is the tree that it learned."""

    tree_: Tree


#: What every public function takes for a tree.
TreeLike = Tree | HasTree


def as_tree(given: object) -> Tree:
    """Return the tree of a `Tree` or of a fitted estimator.

    Parameters
    ----------
    given : Tree or estimator
        What the user passed for a tree.

    Returns
    -------
    Tree

    Raises
    ------
    DataError
        If an estimator is not fitted yet.
    TypeError
        If the object holds no tree of treewright.
    """
    if isinstance(given, Tree):
        return given
    held = None if isinstance(given, type) else getattr(given, "tree_", None)
    if isinstance(held, Tree):
        return held
    raise _error(given, held)


def constant_tree(given: object, what: str, error: type[TreewrightError] = DataError) -> Tree:
    """Return the tree, as `as_tree` does, but refuse one whose leaves predict by linear models.

    Parameters
    ----------
    given : Tree or estimator
        What the user passed for a tree.
    what : str
        Who cannot do with linear models, as the subject of a sentence.
    error : type, default=DataError
        The error to raise.
    """
    tree = as_tree(given)
    if tree.models:
        raise error(
            f"{what} needs leaves that predict a constant, but those of this tree have linear models "
            f"(leaves={type(tree.recipe.leaves).__name__}); predict with the tree itself, or learn with "
            "leaves=treewright.leaves.Constant()"
        )
    return tree


def _error(given: object, held: object) -> Exception:
    name = given.__name__ if isinstance(given, type) else type(given).__name__
    expected = f"expected a Tree, as learn returns it, or a fitted estimator, not {name}"
    if isinstance(given, type):
        return TypeError(f"{expected} itself; make one and fit it: {name}().fit(X, y)")
    if held is not None and type(given).__module__.startswith("sklearn."):
        return TypeError(f"{expected} of scikit-learn; convert it first: treewright.from_sklearn(model)")
    if getattr(given, "best_estimator_", None) is not None:
        return TypeError(f"{expected}; give the estimator that it found, its best_estimator_")
    if hasattr(given, "steps") and hasattr(given, "fit"):
        return TypeError(f"{expected}; give the estimator inside it, such as {name.lower()}[-1]")
    if held is None and any(base.__module__ == "treewright.estimators.base" for base in type(given).__mro__):
        return DataError(f"this {name} is not fitted yet, so it has no tree; call fit(X, y) first")
    return TypeError(expected)
