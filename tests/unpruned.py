"""The named recipes without their pruning: what tests of growing learn with.

This is the one place that takes pruning off a recipe for a test that is not about pruning.
"""

from __future__ import annotations

from dataclasses import replace

import treewright as tw


def raw(recipe: tw.Recipe) -> tw.Recipe:
    return replace(recipe, pruning=None)


C45, J48, CART = raw(tw.C45), raw(tw.J48), raw(tw.CART)
