import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.stats.agreement import cohen_kappa, gwet_ac1, phi, scott_pi, share
from evenhand.stats.delta import cr1_std_error, delta_variance, gradient

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

filled = hnp.arrays(np.float64, (3, 3), elements=st.integers(1, 60).map(float))


def test_gradient_of_a_share() -> None:
    # θ = a/(a+b): ∂a = b/(a+b)², ∂b = -a/(a+b)²
    np.testing.assert_allclose(gradient(share, np.array([30.0, 70.0])), [0.007, -0.003], rtol=1e-7)


def test_gradient_of_kappa() -> None:
    # (TP, FN, FP, TN) = (40, 10, 20, 30): κ = 2(TP·TN - FP·FN)/D with D = (TP+FN)(FN+TN) + (TP+FP)(FP+TN) = 5000,
    # so ∂κ = (2·∂num - κ·∂D)/D; ∂num = TN, -FP, -FN, TP and ∂D = (FN+TN)+(FP+TN), (FN+TN)+(TP+FN), and so on
    tn_fp_fn_tp = np.array([[30.0, 20.0], [10.0, 40.0]])
    numerator = np.array([[40.0, -10.0], [-20.0, 30.0]])
    denominator = np.array([[50.0 + 60, 50 + 60], [40 + 50, 40 + 50]])
    np.testing.assert_allclose(
        gradient(cohen_kappa, tn_fp_fn_tp), (2 * numerator - 0.4 * denominator) / 5000, rtol=1e-6
    )


def test_gradient_of_phi() -> None:
    # (40, 10, 20, 30): φ = num/√(product of the margins), so ∂φ = φ·(∂num/num - 1/2·(1/row margin + 1/column margin))
    numerator = np.array([[40.0, -10.0], [-20.0, 30.0]]) / 1000
    rows, columns = np.array([50.0, 50.0]), np.array([40.0, 60.0])  # reference and judge margins, negative first
    margins = 1 / (2 * rows)[:, None] + 1 / (2 * columns)[None]
    expected = 1000 / np.sqrt(50 * 50 * 60 * 40) * (numerator - margins)
    np.testing.assert_allclose(gradient(phi, np.array([[30.0, 20.0], [10.0, 40.0]])), expected, rtol=1e-6)


def test_empty_cells_have_no_slope() -> None:
    slopes = gradient(cohen_kappa, np.array([[90.0, 0.0], [5.0, 5.0]]))
    assert slopes is not None
    assert slopes[0, 1] == 0


def test_undefined_has_no_gradient() -> None:
    assert gradient(cohen_kappa, np.array([[50.0, 0.0], [0.0, 0.0]])) is None


@pytest.mark.parametrize("measure", [cohen_kappa, scott_pi, gwet_ac1])
@given(table=filled)
def test_functions_of_shares_are_homogeneous(measure, table) -> None:
    # Euler: Σ n_c ∂θ/∂n_c = 0 where θ depends on shares only; ten times the data have a tenth of the variance
    slopes, tenfold = gradient(measure, table), gradient(measure, 10 * table)
    assert slopes is not None
    assert tenfold is not None
    assert (slopes * table).sum() == pytest.approx(0, abs=1e-6)
    assert delta_variance(10 * table, tenfold) == pytest.approx(delta_variance(table, slopes) / 10, rel=1e-5, abs=1e-12)


def test_delta_variance_of_a_share_is_binomial() -> None:
    totals = np.array([30.0, 70.0])
    assert delta_variance(totals, gradient(share, totals)) == pytest.approx(0.3 * 0.7 / 100, rel=1e-7)


def test_cr1_of_case_unc_01() -> None:
    # shared cases UNC-01: .169113 with G/(G-1), scores of four clusters 3/4, 0/2, 3/3, 2/5
    tallies = np.array([[3.0, 1.0], [0.0, 2.0], [3.0, 0.0], [2.0, 3.0]])
    assert cr1_std_error(tallies, gradient(share, tallies.sum(axis=0))) == pytest.approx(0.169113, abs=5e-7)


def test_cr1_needs_two_units() -> None:
    assert cr1_std_error(np.array([[3.0, 1.0]]), np.array([0.1, -0.1])) is None
