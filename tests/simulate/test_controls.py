"""The controls: published values, closed forms, simulation truths."""

import numpy as np
import pytest

from evenhand.errors import RequestError
from evenhand.simulate.controls import ALPHA, BETA, CUTS, N_CRITERIA, estimand_control, phi_control
from evenhand.simulate.population import beta_binomial, population_phi_lambda
from evenhand.stats.strong_true_score import livingston_lewis


def test_oracles_phi_control():
    """phi_control.c5, c6, c7 (Livingston-Lewis on the published grid), and c4 of CONVENTIONS B."""
    found = phi_control(method="grid400")
    assert found.accuracy[0] == pytest.approx([0.87025, 0.812, 0.77325, 0.7635], abs=1e-9)
    expected = [0.8060538673418453, 0.7559380325975403, 0.7516384281215744]
    assert found.livingston_lewis[0, 1:] == pytest.approx(expected, abs=1e-6)
    expected = [0.5947955390334573, 0.5231846019247592, 0.6217904233171406]
    assert found.phi_lambda[0, 1:] == pytest.approx(expected, abs=1e-6)
    assert found.gap[0, 1:] == pytest.approx([0.21720446096654278, 0.25006539807524075, 0.14170957668285933], abs=1e-6)
    assert np.abs(found.accuracy - found.livingston_lewis).max() < 0.02
    assert found.phi_lambda[0, 0] == pytest.approx(0.7338, abs=5e-5)


def test_oracle_ll_control():
    """ll_control: accuracy against the own true score, against the reference, and their difference; seed 303."""
    found = estimand_control()
    assert found.own[0] == pytest.approx([0.92525, 0.87325, 0.835, 0.83975], abs=1e-9)
    assert found.reference[0] == pytest.approx([0.892, 0.81325, 0.75525, 0.78175], abs=1e-9)
    assert found.difference[0] == pytest.approx([0.03325, 0.06, 0.07975, 0.058], abs=1e-9)


def test_own_stream_lies_on_the_closed_forms():
    found, cuts = phi_control(stream="own", n_replicates=100, seed=2), np.asarray(CUTS)
    true = livingston_lewis(beta_binomial(ALPHA, BETA, N_CRITERIA), cuts).accuracy
    assert found.accuracy.mean(axis=0) == pytest.approx(true, abs=0.003)
    assert found.livingston_lewis.mean(axis=0) == pytest.approx(true, abs=0.003)
    phi = population_phi_lambda(ALPHA, BETA, N_CRITERIA, cuts)
    assert found.phi_lambda.mean(axis=0) == pytest.approx(phi, abs=0.005)


def test_estimand_control_lies_on_the_simulated_truth():
    # ll_control, mc4e6
    found = estimand_control(n_replicates=200, seed=4)
    assert found.difference.mean(axis=0) == pytest.approx([0.0301975, 0.05931625, 0.08109175, 0.0757625], abs=0.003)


def test_both_streams_have_one_distribution():
    pair = [phi_control(stream=stream, n_responses=300, n_replicates=200, seed=6) for stream in ("own", "published")]
    for name in ("accuracy", "livingston_lewis", "phi_lambda"):
        own, published = (getattr(found, name) for found in pair)
        assert own.shape == (200, 4)
        assert own.mean(axis=0) == pytest.approx(published.mean(axis=0), abs=0.015)


def test_progress_and_degenerate_sizes():
    steps: list[int] = []
    phi_control(stream="own", n_responses=2, n_replicates=7, seed=0, step=steps.append)
    estimand_control(n_responses=2, n_replicates=3, seed=0, step=steps.append)
    assert sum(steps) == 10
    for control in (phi_control, estimand_control):
        with pytest.raises(RequestError, match="responses is 1"):
            control(n_responses=1)
