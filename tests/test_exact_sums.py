"""Sums that do not depend on the order of what is added, nor on how it is parted."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treewright.growing.exact_sums import Sums, as_floats, merged, sums_by

numbers = st.floats(allow_nan=False, allow_infinity=False)
values = st.one_of(numbers, st.sampled_from((0.1, 0.2, 1e16, 5e-324)))
pairs = st.lists(st.tuples(st.integers(0, 2), values), max_size=30)


@given(pairs, st.lists(st.integers(0, 30), max_size=3), st.randoms(use_true_random=False))
def test_sums_are_exact_and_parts_make_no_difference(
    given_: list[tuple[int, float]], cuts: list[int], chance: random.Random
) -> None:
    def sums(some: list[tuple[int, float]]) -> Sums:
        place, value = zip(*some, strict=True) if some else ((), ())
        return sums_by(np.array(place, dtype=np.int32), np.array(value, dtype=np.float64), 3)

    whole = as_floats(sums(given_), 3)
    for place in range(3):
        exact = sum((Fraction(value) for at, value in given_ if at == place), Fraction())
        if abs(exact) < 1e300:
            assert math.isclose(whole[place], float(exact), rel_tol=1e-15, abs_tol=1e-320)
        alone = np.array([value for at, value in given_ if at == place], dtype=np.float64)
        total = as_floats(sums_by(np.zeros(len(alone), dtype=np.int32), alone, 1), 1)
        assert total.tobytes() == whole[place : place + 1].tobytes()
    shuffled = given_.copy()
    chance.shuffle(shuffled)
    edges = [0, *sorted(min(cut, len(given_)) for cut in cuts), len(given_)]
    parted = as_floats(merged(sums(shuffled[start:stop]) for start, stop in pairwise(edges)), 3)
    assert parted.tobytes() == whole.tobytes()


def test_what_is_beyond_numbers_is_the_largest() -> None:
    found = as_floats(sums_by(np.zeros(2, dtype=np.intp), np.array([np.inf, 1.0]), 1), 1)
    assert found[0] == np.finfo(np.float64).max
