"""Strong true-score models in an audit: values of the example bank, the null on reference labels, degenerate data."""

from importlib.resources import files

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.api import AuditResult
from evenhand.stats.decision_consistency import fit_hanson_brennan, huynh, subkoviak
from evenhand.stats.internal_consistency import kr20, moments
from evenhand.stats.livingston_lewis import fit_livingston_lewis
from evenhand.stats.true_scores import classify, sums_of_histogram

BANK = str(files("evenhand.data") / "zhu_bank.csv")
MAPPING = {"criteria": "per-cluster", "blank": "unparsed", "cut": (4, 5, 6, 7)}
SOURCES = ("judge", "reference", "judge-reference")


@pytest.fixture(scope="module")
def bank() -> AuditResult:
    return evenhand.audit(BANK, **MAPPING, reliability=0.52)


def sides() -> dict[str, np.ndarray]:
    """Verdicts (180, 10) of the parsed responses."""
    rows = pl.read_csv(BANK).filter(pl.col("judge_1").is_not_null())
    return {
        "judge": rows.select(f"judge_{n}" for n in range(1, 11)).to_numpy(),
        "reference": rows.select(f"gold_{n}" for n in range(1, 11)).to_numpy(),
    }


@pytest.mark.parametrize(("position", "cut"), [(0, 4), (1, 5), (2, 6), (3, 7)])
def test_named_alternatives_of_the_bank(bank: AuditResult, position: int, cut: int) -> None:
    """Oracles huynh.zhu and subkoviak.zhu on the judge; on both sides what the estimators give."""
    oracle = {
        "huynh": [0.835777938747808, 0.753456919874349, 0.695229492640911, 0.688033784040863],
        "subkoviak": [0.845778964633386, 0.725457152208493, 0.636865704568659, 0.635260323484459],
    }
    for name, values in oracle.items():
        found = bank[f"{name}[cut={cut},quantity=consistency]/judge"]
        assert found.estimate == pytest.approx(values[position], abs=1e-8)
    for side, rows in sides().items():
        counts = np.bincount(rows.sum(axis=1), minlength=11)
        alpha = kr20(moments(rows), variance="n")
        by_hand = {
            "huynh": huynh(counts, cut),
            "subkoviak": subkoviak(counts, alpha, cut),
            "hanson_brennan": classify(fit_hanson_brennan(counts, alpha), cut / 10),
        }
        for name, expected in by_hand.items():
            for quantity in ("consistency", "kappa"):
                found = bank[f"{name}[cut={cut},quantity={quantity}]/{side}"]
                assert found.estimate == pytest.approx(float(getattr(expected, quantity)), abs=1e-6)
        given = classify(fit_livingston_lewis(sums_of_histogram(counts), 0.52, n_parameters=2), cut / 10)
        found = bank[f"livingston_lewis_accuracy[cut={cut},model=ll2,reliability=0.52]/{side}"]
        assert found.estimate == pytest.approx(float(given.accuracy), abs=1e-6)


def test_everything_stands_on_three_sources_with_cluster_intervals(bank: AuditResult) -> None:
    for name in (
        "kr21", "kr21[variance=n]", "standardized_alpha", "item_total_correlation[criterion=1]", "effective_length",
        "livingston_lewis_kappa[cut=5]", "huynh[cut=5,quantity=kappa]", "subkoviak[cut=5,quantity=consistency]",
        "subkoviak[cut=5,quantity=kappa,reliability=0.52]",
        "livingston_lewis_consistency[cut=5,model=ll4,reliability=0.52]", "beta_binomial[parameter=alpha]",
    ):  # fmt: skip
        values = [bank[f"{name}/{source}"] for source in SOURCES]
        assert values[0].estimate - values[1].estimate == pytest.approx(values[2].estimate, abs=1e-12)
        for one in values:
            assert (one.n_used, one.n_excluded, one.n_clusters) == (180, 30, 13)
            assert one.ci_low < one.estimate < one.ci_high
        assert values[1].describes == "bank"
        assert values[0].describes != "judge"


def test_the_number_of_parameters_is_that_of_the_whole_sample(bank: AuditResult) -> None:
    """Ends recomputed with two parameters in every leave-one-out; where four are impossible in some, no interval."""
    mine = bank["hanson_brennan[cut=5,quantity=accuracy]/judge"]
    assert (mine.ci_low, mine.status) == (None, "ok")
    assert mine.reason.startswith("undefined without cluster")
    theirs = bank["hanson_brennan[cut=5,quantity=accuracy]/reference"]
    assert (theirs.ci_low, theirs.ci_high) == (pytest.approx(0.738, abs=5e-4), pytest.approx(0.814, abs=5e-4))


@pytest.mark.parametrize("cut", [4, 5, 6, 7])
def test_the_gap_between_accuracy_and_livingston_lewis_is_an_identity(bank: AuditResult, cut: int) -> None:
    """A_J - LL_J = (1 - LL_G) - (1 - A_J) - (LL_J - LL_G) (Zhu 2026, section 4)."""
    gap = bank[f"validity_gap[cut={cut}]/judge"]
    parts = [
        bank[f"validity_gap[cut={cut},part={part}]/judge"].estimate
        for part in ("line_sampling", "judge_error", "judge_minus_reference")
    ]
    assert gap.estimate == pytest.approx(parts[0] - parts[1] - parts[2], abs=1e-12)
    accuracy = bank[f"accuracy[cut={cut}]/judge"].estimate
    mine, null = (bank[f"livingston_lewis_accuracy[cut={cut}]/{source}"] for source in ("judge", "reference"))
    assert gap.estimate == pytest.approx(accuracy - mine.estimate, abs=1e-12)
    assert parts == pytest.approx([1 - null.estimate, 1 - accuracy, mine.estimate - null.estimate], abs=1e-12)
    row = next(row for row in bank.audit.tables["decomposition/judge"].records() if row["cut"] == cut)
    assert row["accuracy_minus_livingston_lewis"] == pytest.approx(gap.estimate, abs=1e-12)
    assert gap.ci_low < gap.estimate < gap.ci_high


def narrow(n: int = 60, totals: tuple[int, ...] = (5, 5, 5, 4, 6)) -> pl.DataFrame:
    """A judge whose totals spread less than a binomial's."""
    rng = np.random.default_rng(0)
    rows = [rng.permutation([1] * totals[at % len(totals)] + [0] * (10 - totals[at % len(totals)])) for at in range(n)]
    return pl.DataFrame({"id": [f"r{at}" for at in range(n)], "topic": [f"q{at % 12}" for at in range(n)],
                         **{f"judge_{k + 1}": [int(row[k]) for row in rows] for k in range(10)}})  # fmt: skip


def test_a_narrow_bank_is_at_the_boundary_and_said() -> None:
    found = evenhand.audit(
        narrow(), response="id", cluster="topic", judge="judge_{criterion}", cut=5, interval="percentile", resamples=200
    )
    for name in ("beta_binomial_reliability", "livingston_lewis_accuracy[cut=5]", "livingston_lewis_kappa[cut=5]"):
        one = found[f"{name}/judge"]
        assert one.status == "ok"
        assert one.reason.startswith("boundary: ")
        assert "replicates" not in one.reason  # those at the boundary are values, never dropped
    assert found["beta_binomial_reliability/judge"].estimate == 0
    assert found["beta_binomial[parameter=alpha]/judge"].status == "undefined"
    assert "boundary" in found["huynh[cut=5,quantity=consistency]/judge"].reason
    assert "without its value on reference labels" in found["huynh[cut=5,quantity=consistency]/judge"].estimand
    assert not [one for one in found.audit if one.source == "reference"]


def test_replicates_at_the_boundary_are_kept() -> None:
    """A bank hardly wider than a binomial: resamples fall on both sides of the boundary, and none is lost."""
    rng = np.random.default_rng(3)
    values = (rng.random((168, 10)) < rng.beta(30, 20, (168, 1))).astype(int)
    data = pl.DataFrame({"id": [f"r{at}" for at in range(168)], "topic": [f"q{at % 14}" for at in range(168)],
                         **{f"judge_{k + 1}": values[:, k] for k in range(10)}})  # fmt: skip
    found = evenhand.audit(
        data, response="id", cluster="topic", judge="judge_{criterion}", cut=6, interval="percentile", resamples=200
    )
    for name in (
        "beta_binomial_reliability",
        "livingston_lewis_accuracy[cut=6]",
        "livingston_lewis_consistency[cut=6]",
    ):
        assert found[f"{name}/judge"].ci_low is not None
        assert "replicates" not in found[f"{name}/judge"].reason


@pytest.mark.parametrize(
    "rows", [[[1, 0, 1]], [[1, 1, 1]] * 4, [[0, 0, 0]] * 3, [[1, 0, 1], [1, 0, 0]]], ids=["one", "all", "none", "two"]
)
def test_degenerate_checklists_give_reasons(rows: list[list[int]]) -> None:
    data = pl.DataFrame({"id": [f"r{at}" for at in range(len(rows))],
                         **{f"{side}_{k + 1}": [row[k] for row in rows] for side in ("gold", "judge") for k in range(3)}})  # fmt: skip
    found = evenhand.audit(data, response="id", cut=(1, 3), reliability=0.6, scale="binary", levels=("0", "1"))
    for one in found.audit:
        assert (one.estimate is None) == (one.status != "ok")
        assert one.estimate is not None or one.reason


def test_one_criterion_has_no_model() -> None:
    data = pl.DataFrame({"id": ["a", "b"], "gold": ["1", "0"], "judge": ["1", "1"]})
    found = evenhand.audit(data, response="id", cut=1, reliability=0.6)
    assert not found.audit.of("kr20", "judge")
    assert not found.audit.of("huynh", "judge")
    assert not found.audit.of("effective_length", "judge")


def test_marks_beside_the_reference() -> None:
    """Marks 0 to 20 on both sides: the classical procedure on each, and the difference."""
    rng = np.random.default_rng(5)
    true = rng.integers(4, 19, 60)
    data = pl.DataFrame({"id": [f"r{at}" for at in range(60)], "topic": [f"q{at % 10}" for at in range(60)],
                         "reference": true, "judge": np.clip(true + rng.integers(-2, 4, 60), 0, 20)})  # fmt: skip
    found = evenhand.audit(
        data, response="id", cluster="topic", scale="continuous", range=(0, 20), cut=(10, 12), reliability=0.85
    )
    for name in (
        "effective_length",
        *(f"livingston_lewis_{q}[cut=12,model=ll4,reliability=0.85]" for q in ("accuracy", "kappa")),
    ):
        judge, reference, difference = (found[f"{name}/{source}"] for source in SOURCES)
        assert judge.estimate - reference.estimate == pytest.approx(difference.estimate, abs=1e-12)
        assert judge.ci_low < judge.estimate < judge.ci_high
        assert (judge.n_used, judge.n_clusters) == (60, 10)
    assert "at 12 marks" in found["livingston_lewis_accuracy[cut=12,model=ll2,reliability=0.85]/judge"].estimand
    plain = evenhand.audit(data, response="id", cluster="topic", scale="continuous", range=(0, 20), cut=12)
    assert not plain.audit.of("effective_length", "judge")
