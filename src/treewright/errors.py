"""The errors and warnings users meet. Each error is a ValueError, as scikit-learn's errors are.

Always holds: a message names the column, value or field at fault and says what to do about it.
"""


class TreewrightError(ValueError):
    """Base of every error raised on purpose."""


class RecipeError(TreewrightError):
    """A choice, or a combination of choices, that cannot be."""


class DataError(TreewrightError):
    """A table that cannot be learned from or predicted on."""


class FileError(TreewrightError):
    """A saved tree that cannot be read."""


class ExportError(TreewrightError):
    """A tree that the other language cannot say."""


class UnseenLevelsWarning(UserWarning):
    """Rows to be answered have levels that the tree does not know."""


class ScratchError(TreewrightError):
    """A scratch folder that cannot be used, or has no room left."""
