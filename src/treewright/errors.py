"""Errors and warnings. Each error is a ValueError, as scikit-learn's errors are; its message names the remedy."""


class TreewrightError(ValueError):
    """Base of every error that treewright raises on purpose."""


class RecipeError(TreewrightError):
    """Raised for an invalid setting or combination of settings."""


class DataError(TreewrightError):
    """Raised for a table that cannot be learned from or predicted on."""


class FileError(TreewrightError):
    """Raised for a saved tree that cannot be read."""


class ExportError(TreewrightError):
    """Raised when a tree cannot be represented in the target format."""


class UnseenLevelsWarning(UserWarning):
    """Issued when rows to predict have levels that the tree has not seen."""


class ScratchError(TreewrightError):
    """Raised when a scratch folder cannot be used or has no room left."""
