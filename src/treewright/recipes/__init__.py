"""Recipes: an algorithm is a frozen list of choices. Standard library only.

branching, numeric, criterion, missing, stopping, leaves, pruners   the choices, one small class each
choice                                                      settings, checked by their types
recipe, named, variants                                     the `Recipe`, the algorithms by name, `with_`
written                                                     how choices are called in saved files
"""

from treewright.errors import RecipeError as RecipeError
from treewright.recipes.branching import *  # noqa: F403
from treewright.recipes.branching import Branching as Branching
from treewright.recipes.criterion import *  # noqa: F403
from treewright.recipes.criterion import ClassificationCriterion as ClassificationCriterion
from treewright.recipes.criterion import Criterion as Criterion
from treewright.recipes.criterion import RegressionCriterion as RegressionCriterion
from treewright.recipes.leaves import *  # noqa: F403
from treewright.recipes.leaves import LeafChoice as LeafChoice
from treewright.recipes.missing import *  # noqa: F403
from treewright.recipes.missing import Missing as Missing
from treewright.recipes.named import *  # noqa: F403
from treewright.recipes.numeric import *  # noqa: F403
from treewright.recipes.numeric import Numeric as Numeric
from treewright.recipes.pruners import *  # noqa: F403
from treewright.recipes.pruners import Pruner as Pruner
from treewright.recipes.recipe import Recipe as Recipe
from treewright.recipes.stopping import *  # noqa: F403
from treewright.recipes.stopping import Leaves as Leaves
from treewright.recipes.stopping import Simplify as Simplify
