import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats.arrays import binned, ratio

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


def test_ratio_by_hand() -> None:
    quotient = ratio(np.array([1.0, 0.0, 3.0, -3.0]), np.array([4.0, 0.0, 0.0, 0.0]))
    np.testing.assert_array_equal(quotient, [0.25, np.nan, np.nan, np.nan])


def test_ratio_broadcasts() -> None:
    assert ratio(np.ones((3, 1)), np.arange(4.0)).shape == (3, 4)


def test_binned_by_hand() -> None:
    # code 5 of a 2×3 array is its last cell; code 1 occurs twice
    found = binned(np.array([1, 5, 1]), np.array([2, 7, 4]), (2, 3))
    np.testing.assert_array_equal(found, [[0, 6, 0], [0, 0, 7]])


def test_binned_of_nothing_is_zero() -> None:
    np.testing.assert_array_equal(binned(np.array([], int), np.array([], int), (2, 2)), np.zeros((2, 2)))


@given(hnp.arrays(np.int64, st.integers(0, 40), elements=st.integers(0, 23)), st.randoms(use_true_random=False))
def test_binned_equals_add_at(code, random) -> None:
    counts = np.array([random.randrange(50) for _ in code], dtype=np.int64)
    expected = np.zeros(24)
    np.add.at(expected, code, counts)
    np.testing.assert_array_equal(binned(code, counts, (2, 3, 4)), expected.reshape(2, 3, 4))
