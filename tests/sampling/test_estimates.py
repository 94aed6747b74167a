"""From a sample back to all responses: weighted rates cover what full labels say, and Neyman's division needs fewer labels."""

import csv
import io

import numpy as np
import pytest

import evenhand
from evenhand.report.csv_tables import read_table
from evenhand.sampling.made import Wish
from evenhand.sampling.making import make
from evenhand.sampling.reading import read_back
from evenhand.verdicts.spec import Spec

CLUSTERS, SIZE = 40, 15
FALSE_ACCEPTS, FALSE_REJECTS, PREVALENCE = 0.25, 0.04, 0.4


def bank(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(C·S,) truth and verdicts; errors and truths vary by cluster."""
    rng = np.random.default_rng(seed)
    shift = rng.normal(0, 0.5, CLUSTERS).repeat(SIZE)
    ease = rng.normal(0, 0.5, CLUSTERS).repeat(SIZE)
    truth = rng.random(CLUSTERS * SIZE) < logistic(PREVALENCE, shift)
    wrong = rng.random(CLUSTERS * SIZE) < np.where(truth, logistic(FALSE_REJECTS, ease), logistic(FALSE_ACCEPTS, ease))
    return truth.astype(int), (truth ^ wrong).astype(int)


def rates_of_banks() -> tuple[float, float]:
    """Error rate and prevalence over ever more clusters, by quadrature over their shifts."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    prevalence, accepts, rejects = (
        float(weights @ logistic(rate, 0.5 * nodes)) for rate in (PREVALENCE, FALSE_ACCEPTS, FALSE_REJECTS)
    )
    return prevalence * rejects + (1 - prevalence) * accepts, prevalence


def logistic(rate: float, shift: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-(np.log(rate / (1 - rate)) + shift)))


def audited(folder, seed: int, n: int, **wish: object) -> tuple[evenhand.AuditResult, float, float]:
    """Audit of a bank from the labels of a sample; the whole bank's error rate and prevalence."""
    truth, said = bank(seed)
    rows = [f"r{k},q{k // SIZE},{verdict}" for k, verdict in enumerate(said)]
    (folder / "judge.csv").write_text("id,question,judge\n" + "\n".join(rows) + "\n", encoding="utf-8")
    make([str(folder / "judge.csv")], Spec(seed=seed), None, Wish(n, raters=1, **wish), folder / f"s{seed}")
    key = {
        str(row["code"]): str(row["response"])
        for row in read_table((folder / f"s{seed}/key.csv").read_bytes().decode()).records()
    }
    sheet = (folder / f"s{seed}/sheets/rater_1.csv").read_text(encoding="utf-8-sig")
    head, *filled = csv.reader(io.StringIO(sheet))
    with (folder / "a.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([head, *([row[0], truth[int(key[row[0]][1:])], ""] for row in filled)])
    read_back(folder / f"s{seed}", [folder / "a.csv"], folder / "labels.csv")
    found = evenhand.audit(folder / "judge.csv", labels=folder / "labels.csv", weight="weight", resamples=100)
    return found, float((truth != said).mean()), float(truth.mean())


NEYMAN = {"allocation": "neyman", "expected": (0.04, 0.27)}


@pytest.mark.parametrize("wish", [{}, {"allocation": "equal"}, NEYMAN])
def test_one_sample_is_near_the_whole(tmp_path, monkeypatch, wish) -> None:
    monkeypatch.setattr("evenhand.sampling.making.can_write_xlsx", lambda: False)
    found, error, prevalence = audited(tmp_path, 1, 200, **wish)
    assert found["error_rate/judge"].estimate == pytest.approx(error, abs=0.08)
    assert found["corrected_prevalence/judge"].estimate == pytest.approx(prevalence, abs=0.08)


@pytest.mark.slow
@pytest.mark.parametrize("wish", [{}, NEYMAN], ids=["proportional", "neyman"])
def test_cluster_intervals_of_a_sample_cover(tmp_path, monkeypatch, wish) -> None:
    """The rates that banks come from at the nominal rate, since clusters are resampled; the full bank's own more often."""
    monkeypatch.setattr("evenhand.sampling.making.can_write_xlsx", lambda: False)
    runs, errors = 200, []
    hits = dict.fromkeys([(name, of) for name in ("error", "prevalence", "ppi") for of in ("bank", "banks")], 0)
    everywhere = rates_of_banks()
    for seed in range(runs):
        found, error, prevalence = audited(tmp_path, seed, 150, **wish)
        errors.append(found["error_rate/judge"].estimate - error)
        for name, statistic, truths in (
            ("error", "error_rate/judge", (error, everywhere[0])),
            ("prevalence", "corrected_prevalence/judge", (prevalence, everywhere[1])),
            ("ppi", "ppi_mean/judge", (prevalence, everywhere[1])),
        ):
            for of, truth in zip(("bank", "banks"), truths, strict=True):
                hits[name, of] += found[statistic].ci_low <= truth <= found[statistic].ci_high
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(runs)  # no bias
    for count in hits.values():
        assert count / runs > 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs), hits


@pytest.mark.slow
def test_neyman_needs_fewer_labels(tmp_path, monkeypatch) -> None:
    """At the same number of labels the error of the weighted error rate is smaller, by about what the formula says."""
    from evenhand.sampling.drawing import draw, sizes_of, spreads, std_error
    from evenhand.sampling.population import Population

    truth, said = bank(0)
    wrong = truth != said
    people = Population(
        responses=tuple(f"r{k}" for k in range(len(truth))),
        cluster=np.arange(len(truth)) // SIZE,
        clusters=tuple(f"q{k}" for k in range(CLUSTERS)),
        stratum=said,
        strata=("judge says 0", "judge says 1"),
        wrong=np.array([wrong[said == k].sum() for k in (0, 1)]),
        known=np.array([(said == k).sum() for k in (0, 1)]),
        n_labelled=len(truth),
        criterion=np.zeros(len(truth), dtype=np.int64),
    )
    spread, found = spreads(people), {}
    for how in ("proportional", "neyman"):
        sizes = sizes_of(people, 120, how, spread)
        values = []
        for seed in range(4000):
            drawn = draw(people, sizes, seed, by_cluster=False)
            values.append(np.average(wrong[drawn.taken], weights=drawn.weight))
        assert np.mean(values) == pytest.approx(wrong.mean(), abs=4 * np.std(values) / np.sqrt(4000))
        assert np.std(values) == pytest.approx(std_error(people, sizes, spread), rel=0.05)
        found[how] = np.std(values)
    assert found["neyman"] < 0.95 * found["proportional"]
