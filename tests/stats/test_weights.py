import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats.weights import agreement_weights, gwet_scale, krippendorff_distances

NAMES = ("identity", "linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar")
scales = st.lists(st.integers(1, 40), min_size=2, max_size=7, unique=True).map(sorted)


@pytest.mark.parametrize(
    ("name", "expected"),
    [  # levels 1, 2, 4 by hand: distance over the largest distance, taken from 1
        ("identity", [0, 0, 0]),
        ("linear", [1 - 1 / 3, 0, 1 - 2 / 3]),
        ("quadratic", [1 - 1 / 9, 0, 1 - 4 / 9]),
        ("ordinal", [1 - 1 / 3, 0, 1 - 1 / 3]),  # C(2,2) = 1 for neighbours, C(3,2) = 3 for the ends
        ("radical", [1 - math.sqrt(1 / 3), 0, 1 - math.sqrt(2 / 3)]),
        ("ratio", [1 - (1 / 9) / (9 / 25), 0, 1 - (1 / 9) / (9 / 25)]),
        # sin² of 1/4, 3/4, 2/4 of pi: 1/2, 1/2, 1
        ("circular", [0.5, 0.5, 0]),
        # 1/((3-2)(8-3)) = 1/5; 9/((5-2)(8-5)) = 1; 4/((6-2)(8-6)) = 1/2
        ("bipolar", [0.8, 0, 0.5]),
    ],
)
def test_by_hand(name, expected) -> None:
    weights = agreement_weights(name, [1, 2, 4])
    assert weights[np.triu_indices(3, 1)] == pytest.approx(expected, abs=1e-15)


@given(st.sampled_from(NAMES), scales)
def test_symmetric_one_on_the_diagonal_zero_at_most(name, levels) -> None:
    weights = agreement_weights(name, levels)
    np.testing.assert_array_equal(weights, weights.T)
    np.testing.assert_array_equal(np.diag(weights), 1)
    assert weights.min() == pytest.approx(0, abs=1e-12)


@given(st.sampled_from(("linear", "quadratic", "radical", "bipolar")), scales, st.integers(-9, 9), st.integers(1, 9))
def test_origin_and_unit_of_the_levels_do_not_matter(name, levels, origin, unit) -> None:
    moved = origin + unit * np.array(levels)
    np.testing.assert_allclose(agreement_weights(name, moved), agreement_weights(name, levels), atol=1e-12)


def test_one_level_and_an_undefined_ratio() -> None:
    for name in NAMES:
        assert agreement_weights(name, [3]).tolist() == [[1.0]]
    assert np.isnan(agreement_weights("ratio", [-1, 1])).any()
    assert agreement_weights("ratio", [0, 1, 2])[0].tolist() == [1, 0, 0]  # (0 - 1)/(0 + 1) is as far as it goes
    assert math.isnan(gwet_scale(np.ones((1, 1))))
    assert gwet_scale(np.eye(4)) == pytest.approx(1 / 3, abs=1e-15)


def test_metrics_by_hand() -> None:
    # margins 2, 4, 0, 6: middles 1, 4, 6, 9
    margins, levels = np.array([2.0, 4.0, 0.0, 6.0]), [0, 1, 2, 4]
    assert krippendorff_distances("ordinal", levels, margins)[0].tolist() == [0, 9, 25, 64]
    assert krippendorff_distances("nominal", levels, margins)[0].tolist() == [0, 1, 1, 1]
    assert krippendorff_distances("interval", levels, margins)[1].tolist() == [1, 0, 1, 9]
    assert krippendorff_distances("ratio", levels, margins)[0].tolist() == [0, 1, 1, 1]
    assert krippendorff_distances("ratio", levels, margins)[1] == pytest.approx([1, 0, 1 / 9, 9 / 25])


@given(hnp.arrays(np.int64, (3, 4), elements=st.integers(0, 9)))
def test_ordinal_distance_is_the_sum_of_what_lies_between(margins) -> None:
    distances = krippendorff_distances("ordinal", range(4), margins.astype(float))
    for row, found in zip(margins, distances, strict=True):
        for a in range(4):
            for b in range(a, 4):
                # Krippendorff (2011): (sum from a to b less half of both ends)²
                assert found[a, b] == found[b, a] == (row[a : b + 1].sum() - (row[a] + row[b]) / 2) ** 2
