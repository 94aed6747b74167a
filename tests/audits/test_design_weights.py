"""`--weight`: replication and constants as oracles, what it enters and what it does not, refusals, and recovery of a known bank."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand
from evenhand.audits.design_weights import WEIGHTED
from evenhand.errors import KeyClashError, MappingError, RequestError
from evenhand.report.gaps import ARM, pooled
from evenhand.report.page import page
from evenhand.stats.effective_sizes import EffectiveSizes

HEAD = "id,q,gold,judge,g,w"


def drawn(seed: int = 0, *, clusters: int = 14, size: int = 12, error: float = 0.15) -> list[list[object]]:
    """Rows of id, cluster, gold, judge, group, and a whole weight."""
    rng, rows = np.random.default_rng(seed), []
    for c in range(clusters):
        for i in range(size):
            gold = int(rng.random() < 0.5)
            judge = gold ^ int(rng.random() < error)
            rows.append([f"r{c}_{i}", f"q{c}", gold, judge, "ab"[i % 2], int(rng.integers(1, 4))])
    return rows


def text(rows, head: str = HEAD) -> str:
    return "\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n"


@pytest.fixture
def audited(tmp_path):
    def ran(content: str, **options):
        path = tmp_path / "v.csv"
        path.write_text(content, encoding="utf-8")
        options = {"response": "id", "cluster": "q", "resamples": 100, **options}
        return evenhand.audit(path, **options)

    return ran


def weighted_ids(found) -> dict[str, object]:
    return {one.id: one for one in found.audit if one.status == "ok" and one.statistic in WEIGHTED}


def test_weights_of_one_change_nothing(audited) -> None:
    rows = [[*row[:5], 1] for row in drawn(error=0.03)]  # few events, too
    plain, weighed = audited(text(rows), group="g"), audited(text(rows), group="g", weight="w")
    found = weighted_ids(weighed)
    assert len(found) > 30
    assert any(one.interval_method == "korn_graubard" for one in found.values())
    for name, one in found.items():
        same = plain[name]
        for what in ("estimate", "std_error", "ci_low", "ci_high", "interval_df", "design_effect"):
            assert getattr(one, what) == pytest.approx(getattr(same, what), abs=1e-12), (name, what)
        for what in ("n_used", "n_excluded", "n_clusters", "events", "trials", "interval_method"):
            assert getattr(one, what) == getattr(same, what)
        assert one.estimand == f'{same.estimand}; responses weighted by "w"'


def test_whole_weights_are_repeated_responses(audited) -> None:
    rows = drawn()
    repeated = [[f"{row[0]}_{k}", *row[1:5], 1] for row in rows for k in range(int(row[5]))]
    found, oracle = weighted_ids(audited(text(rows), weight="w")), audited(text(repeated))
    for name, one in found.items():
        same = oracle[name]
        if one.statistic == "certifiable":  # a limit: it rests on how many there are, and repeats are no labels
            assert one.estimate < same.estimate
            continue
        assert one.estimate == pytest.approx(same.estimate, abs=1e-12)
        if one.interval_method.startswith("jackknife"):
            ends = (one.ci_low, one.ci_high, one.std_error, one.interval_df)
            assert ends == pytest.approx((same.ci_low, same.ci_high, same.std_error, same.interval_df), abs=1e-10)
        assert one.n_used <= len(rows)


def test_marks_and_gates_are_weighted_alike(audited) -> None:
    rng = np.random.default_rng(1)
    rows, repeated = [], []
    for c in range(10):
        for i in range(12):
            gold, w = int(rng.integers(1, 6)), int(rng.integers(1, 4))
            row = [f"r{c}_{i}", f"q{c}", gold, int(np.clip(gold + rng.integers(-1, 2), 1, 5)), "ab"[c % 2]]
            rows.append([*row, w])
            repeated += [[f"{row[0]}_{k}", *row[1:], 1] for k in range(w)]
    options = {"scale": "ordinal", "levels": tuple("12345"), "group": "g", "cut": 3}
    found, oracle = weighted_ids(audited(text(rows), weight="w", **options)), audited(text(repeated), **options)
    for name in (
        "bias",
        "mae",
        "rmse",
        "quadratic_weighted_kappa",
        "pearson_r",
        "lin_ccc",
        "group_gap[axis=g,level=b]",
    ):
        one, same = found[f"{name}/judge"], oracle[f"{name}/judge"]
        assert one.estimate == pytest.approx(same.estimate, abs=1e-12)
        assert (one.ci_low, one.ci_high) == pytest.approx((same.ci_low, same.ci_high), abs=1e-10)
    for name in ("group_share[axis=g,cut=3,level=b]", "group_share_gap[axis=g,cut=3,level=b]"):
        assert found[f"{name}/judge"].estimate == pytest.approx(oracle[f"{name}/judge"].estimate, abs=1e-12)


def test_gates_over_several_criteria(audited) -> None:
    rng = np.random.default_rng(2)
    rows, repeated = [], []
    for c in range(8):
        for i in range(10):
            gold = rng.integers(0, 2, 3)
            judge, w = gold ^ (rng.random(3) < 0.2), int(rng.integers(1, 4))
            row = [f"r{c}_{i}", f"q{c}", *gold, *judge, "ab"[i % 2]]
            rows.append([*row, w])
            repeated += [[f"{row[0]}_{k}", *row[1:], 1] for k in range(w)]
    head = "id,q,gold_1,gold_2,gold_3,judge_1,judge_2,judge_3,g,w"
    options = {"reference": "gold_{criterion}", "judge": "judge_{criterion}", "cut": 2, "group": "g"}
    found, oracle = (
        weighted_ids(audited(text(rows, head), weight="w", **options)),
        audited(text(repeated, head), **options),
    )
    for name in ("accuracy[cut=2]", "leniency", "error_rate[criterion=2]", "group_share[axis=g,cut=2,level=a]"):
        one, same = found[f"{name}/judge"], oracle[f"{name}/judge"]
        assert one.estimate == pytest.approx(same.estimate, abs=1e-12)
        assert (one.ci_low, one.ci_high) == pytest.approx((same.ci_low, same.ci_high), abs=1e-10)


def test_doubling_all_weights_changes_their_sum_alone(audited) -> None:
    rows = drawn()
    once = audited(text(rows), weight="w", group="g")
    twice = audited(text([[*row[:5], 2 * row[5]] for row in rows]), weight="w", group="g")
    for one in once.audit:
        if one.id != "design_weight[quantity=sum]/judge":
            assert twice[one.id] == one
    total = sum(int(row[5]) for row in rows)
    assert once["design_weight[quantity=sum]/judge"].estimate == total
    assert twice["design_weight[quantity=sum]/judge"].estimate == 2 * total
    squares = sum(int(row[5]) ** 2 for row in rows)
    assert once["design_weight[quantity=effective]/judge"].estimate == pytest.approx(total**2 / squares)
    assert once["design_weight[quantity=spread]/judge"].estimate == 3


def test_what_weights_do_not_enter_says_so(audited) -> None:
    found = audited(text(drawn()), weight="w")
    withheld = [one for one in found.audit if "design weights (--weight w)" in one.reason]
    assert {"fleiss_kappa", "abstention_rate"} <= {one.statistic for one in withheld}
    assert all(one.status == "not_assessed" and one.estimate is None and one.ci_low is None for one in withheld)
    for one in found.audit:
        if one.status == "ok" and one.estimate is not None:
            assert one.statistic in WEIGHTED or one.statistic.startswith("n_") or one.statistic == "design_weight"
    (said,) = [words for words in found.audit.warnings if "design weights" in words]
    assert "168 responses count as" in said
    assert page(found.audit).title == "v.csv"


def test_a_judge_without_a_reference_says_yes_by_weight(audited) -> None:
    rows = drawn()
    bare = [[row[0], row[1], row[3], row[5]] for row in rows]
    one = audited(text(bare, "id,q,judge,w"), weight="w")["judge_positive_rate/judge"]
    weights, yes = (np.array([row[at] for row in rows], dtype=float) for at in (5, 3))
    assert one.estimate == pytest.approx(np.average(yes, weights=weights))
    assert (one.n_used, one.trials) == (168, 168)


def test_gates_on_single_marks_are_weighted_and_those_on_totals_are_not_given(audited) -> None:
    rng = np.random.default_rng(4)
    marks = rng.integers(1, 6, (160, 4))
    weights = rng.integers(1, 4, 160)
    rows = [[f"r{n}", f"q{n % 16}", *marks[n], weights[n]] for n in range(160)]
    head = "id,q,gold_a,gold_b,judge_a,judge_b,w"
    two = audited(
        text(rows, head),
        weight="w",
        reference="gold_{criterion}",
        judge=["judge_{criterion}"],
        scale="ordinal",
        cut=[6],
    )
    assert two["accuracy[cut=6]/judge"].status == "not_assessed"
    single = text([[row[0], row[1], row[2], row[4], row[6]] for row in rows], "id,q,gold,judge,w")
    one = audited(single, weight="w", reference="gold", judge=["judge"], scale="ordinal", cut=[3])
    right = (marks[:, 0] >= 3) == (marks[:, 2] >= 3)
    assert one["accuracy[cut=3]/judge"].estimate == pytest.approx(np.average(right, weights=weights))
    assert one["accuracy[cut=3]/judge"].n_used == 160


def test_arms_are_not_said_to_be_pooled_where_weights_withhold_them(audited) -> None:
    rng = np.random.default_rng(2)
    rows = []
    for n in range(60):
        gold = int(rng.integers(1, 6))
        for arm, effect in (("control", 0.0), ("told", 0.5)):
            rows.append([f"r{n}", f"q{n % 10}", gold, f"{gold + effect + rng.normal(0, 0.3):.2f}", arm, 1 + n % 2])
    found = audited(
        text(rows, "id,q,gold,judge,arm,w"),
        weight="w",
        reference="gold",
        judge=["judge"],
        arm="arm",
        scale="continuous",
    )
    assert "cannot be compared: not computed with design weights (--weight w)" in pooled(found.audit, ARM)


def test_unequal_weights_shrink_the_sample_behind_few_events(audited) -> None:
    """One error among 120 rows: by hand, the floored effective size is Kish's over 1 + (Kish's / G - 1)·.02."""
    rows = [[f"r{c}_{i}", f"q{c}", i % 2, i % 2, "a", 1 + 8 * (i < 2)] for c in range(10) for i in range(12)]
    rows[0][3] = 1 - rows[0][2]
    one = audited(text(rows), weight="w")["observed_agreement/judge"]
    assert one.interval_method == "korn_graubard"
    kish = (10 * (2 * 9 + 10)) ** 2 / (10 * (2 * 81 + 10))
    from scipy import special

    t = special.stdtrit(kish - 1, 0.975) / special.stdtrit(9, 0.975)
    n_effective = kish / (1 + (kish / 10 - 1) * 0.02) * t**2
    # the estimated design effect may exceed the floor: then there are fewer
    said = float(one.reason.split("Clopper–Pearson at ")[1].split()[0])
    assert said <= round(n_effective) + 0.5
    assert (one.n_used, one.trials) == (120, 120)


@given(weights=st.lists(st.floats(0.01, 100), min_size=2, max_size=30))
@settings(deadline=None)
def test_the_effective_size_lies_between_one_and_the_number(weights) -> None:
    sizes, known = EffectiveSizes(), np.asarray(weights)
    assert sizes.factor("a", known**2) == 1.0
    scaled = EffectiveSizes(sizes.squares, recording=False)
    effective = scaled.factor("a", known) * known.sum()
    assert 1 - 1e-9 <= effective <= len(known) * (1 + 1e-9)
    assert scaled.effective["a"] == pytest.approx(effective)
    assert scaled.factor("unknown", known) == 1.0


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("0", 'v.csv row 4 column "w" holds "0"'),
        ("-2", '"-2"'),
        ("x", '"x"'),
        ("inf", '"inf"'),
        ("nan", '"nan"'),
        ("1e308", '"1e308"'),
        ("1e-300", '"1e-300"'),
        ("1_000", '"1_000"'),
        ("0x10", '"0x10"'),
        ("", 'no weight: "r0_2" (v.csv row 4)'),
    ],
)
def test_cells_that_are_no_weights_are_located(audited, bad: str, says: str) -> None:
    rows = drawn()
    rows[2][5] = bad
    with pytest.raises(MappingError) as told:
        audited(text(rows), weight="w")
    assert says in str(told.value)
    assert "leave" in str(told.value)


def test_two_weights_of_one_response_are_refused(audited) -> None:
    rows = ["id,q,criterion,gold,judge,w", "r1,a,1,1,1,2", "r1,a,2,1,0,3", "r2,b,1,0,1,1", "r2,b,2,0,0,1.0"]
    with pytest.raises(KeyClashError, match=r'"r1" has 2 and 3 \(v.csv rows 2, 3\)'):
        audited("\n".join(rows) + "\n", criterion="criterion", weight="w")
    rows[2] = rows[2].replace(",3", ",2.0")
    audited("\n".join(rows) + "\n", criterion="criterion", weight="w")


def test_what_cannot_go_together(audited) -> None:
    content = text(drawn())
    with pytest.raises(RequestError, match="counts every verdict alike"):
        audited(content, weight="w", interval="wilson")
    with pytest.raises(MappingError, match='"ww"'):
        audited(content, weight="ww")


def test_from_the_command_line(command, write, tmp_path) -> None:
    write("v.csv", text(drawn()))
    ending = command(
        "audit",
        "v.csv",
        "--response",
        "id",
        "--cluster",
        "q",
        "--weight",
        "w",
        "--out",
        "out",
        "--write-spec",
        "s.toml",
    )
    assert ending.code == 0, ending.said
    assert "weight w" in ending.out
    assert 'weight = "w"' in (tmp_path / "s.toml").read_text(encoding="utf-8")
    shown = command("show", "out", "design_weight[quantity=effective]/judge")
    assert shown.code == 0, shown.said
    checked = command("check", "out", "--require", "fleiss_kappa/raters >= 0.1")
    assert checked.code == 2, checked.said


def test_a_converted_table_gives_the_same_numbers(command, write) -> None:
    write("v.csv", text(drawn()))
    read = ("v.csv", "--response", "id", "--cluster", "q", "--weight", "w")
    assert command("audit", *read, "--resamples", "100", "--out", "one").code == 0
    assert command("convert", *read, "--to", "c.parquet").code == 0
    assert command("audit", "c.parquet", "--resamples", "100", "--out", "two").code == 0
    shown = [command("show", folder, "cohen_kappa/judge").out for folder in ("one", "two")]
    assert shown[0] == shown[1] != ""


def test_two_units_and_labels_that_are_not_everywhere(audited) -> None:
    rng = np.random.default_rng(3)
    rows = [
        [f"r{c}_{i}", f"q{c}", int(rng.random() < 0.5), 0, f"s{i}", 1 + i % 3] for c in range(12) for i in range(10)
    ]
    for at, row in enumerate(rows):
        row[3] = row[2] ^ int(rng.random() < 0.2)
        row[2] = row[2] if at % 2 else ""
    crossed = audited(text(rows, "id,q,gold,judge,s,w"), cluster=("q", "s"), weight="w")
    assert crossed["error_rate/judge"].interval_method.startswith("two_way")
    for name in ("corrected_prevalence/judge", "ppi_mean/judge"):
        one = crossed[name]
        assert one.ci_low < one.estimate < one.ci_high
        assert "can certify" not in one.reason


def recovered(n_samples: int, seed: int) -> tuple[float, float, float]:
    """Share of intervals of the weighted error rate that hold that of the bank, mean of the estimates, and without weights.

    Samples of 30 clusters: every response that the judge calls 1 is labelled, one in five of the others; it errs on 20 % of the
    first and 5 % of the others, clusters differing.
    """
    from evenhand.stats.agreement import share
    from evenhand.stats.intervals import Sample, default
    from evenhand.stats.scales import LOGIT

    rng, hits, values, plain = np.random.default_rng(seed), 0, [], []
    for _ in range(n_samples):
        shift = rng.normal(0, 0.5, 30)[:, None]
        judge = rng.random((30, 40)) < 0.4
        rate = 1 / (1 + np.exp(-(np.where(judge, -1.4, -3.0) + shift)))
        wrong = rng.random((30, 40)) < rate
        kept = judge | (rng.random((30, 40)) < 0.2)
        weight = np.where(judge, 1.0, 5.0) * kept
        kish = weight.sum() ** 2 / (weight**2).sum()
        cells = np.stack([(weight * wrong).sum(axis=1), (weight * ~wrong).sum(axis=1)], axis=-1) * kish / weight.sum()
        sample = Sample(
            cells, share, cells.sum(axis=1), LOGIT, tuple(map(str, range(30))), lambda n: np.ones((1, n)), cells[:, 0]
        )
        found = default(sample, 0.95)
        hits += found.low <= TRUTH <= found.high
        values.append(sample.value)
        plain.append((wrong & kept).sum() / kept.sum())
    return hits / n_samples, float(np.mean(values)), float(np.mean(plain))


def _truth() -> float:
    """Mean error rate of the bank that `recovered` samples, by quadrature over the clusters' normal shifts."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    shift, weights = 0.5 * nodes, weights / weights.sum()
    rates = [float((weights / (1 + np.exp(-(at + shift)))).sum()) for at in (-1.4, -3.0)]
    return 0.4 * rates[0] + 0.6 * rates[1]


TRUTH = _truth()


def test_a_stratified_sample_recovers_the_bank() -> None:
    coverage, mean, plain = recovered(200, 1)
    assert coverage >= 0.9
    assert abs(mean - TRUTH) < 0.006
    assert plain - TRUTH > 0.02


@pytest.mark.slow
def test_a_stratified_sample_recovers_the_bank_at_length() -> None:
    coverage, mean, _ = recovered(3000, 2)
    assert 0.935 <= coverage <= 0.97
    assert abs(mean - TRUTH) < 0.002
