"""`--group` in an audit: gaps in error rates and in marks, families, the curve, what cannot be compared, hostile names."""

import numpy as np
import pytest

import evenhand
from evenhand.errors import KeyClashError, MappingError, RequestError
from evenhand.stats import group_gaps as of
from evenhand.stats.binomial import t_quantile
from evenhand.stats.intervals import jackknife_std_error
from evenhand.stats.resampling import leave_one_out


def binary(seed: int = 0, *, groups=("a", "b"), accepts=(0.1, 0.3), clusters: int = 24, size: int = 30) -> str:
    rng, rows = np.random.default_rng(seed), ["id,student,gold,judge,g,h"]
    for c in range(clusters):
        at = c % len(groups)
        for i in range(size):
            gold = int(rng.random() < 0.5)
            wrong = rng.random() < (accepts[at] if gold == 0 else 0.1)
            rows.append(f"r{c}_{i},s{c},{gold},{gold ^ int(wrong)},{groups[at]},{'xy'[i % 2]}")
    return "\n".join(rows) + "\n"


def marks(seed: int = 0, *, gap: float = 0.5, clusters: int = 40, size: int = 12) -> str:
    rng, rows = np.random.default_rng(seed), ["id,student,gold,judge,g"]
    for c in range(clusters):
        focal = c % 2
        for i in range(size):
            gold = int(np.clip(np.rint(rng.normal(3 - 0.6 * focal, 1)), 1, 5))
            judge = int(np.clip(np.floor(gold + gap * focal + rng.random()), 1, 6))
            rows.append(f"r{c}_{i},s{c},{gold},{judge},{'ab'[focal]}")
    return "\n".join(rows) + "\n"


@pytest.fixture
def audited(tmp_path):
    def ran(content: str, **options):
        path = tmp_path / "v.csv"
        path.write_text(content, encoding="utf-8")
        return evenhand.audit(
            path, **{"response": "id", "cluster": "student", "group": "g", "resamples": 200, **options}
        )

    return ran


LEVELS = ("1", "2", "3", "4", "5", "6")


def columns(content: str) -> list[np.ndarray]:
    return list(np.array([line.split(",") for line in content.splitlines()[1:]]).T)


def test_error_rates_of_two_groups(audited) -> None:
    content = binary()
    found = audited(content)
    _, _, gold, judge, group, _ = columns(content)
    rates = [np.mean(judge[(gold == "0") & (group == one)] == "1") for one in "ab"]
    for one, rate in zip("ab", rates, strict=True):
        assert found[f"false_accept_rate[axis=g,level={one}]/judge"].estimate == pytest.approx(rate, abs=1e-12)
    gap = found["group_gap[axis=g,level=b,metric=false_accept_rate]/judge"]
    assert gap.estimate == pytest.approx(rates[1] - rates[0], abs=1e-12)
    assert gap.ci_low > 0
    assert gap.n_used == (gold == "0").sum()
    assert "b minus a (g)" in gap.estimand
    assert found.audit.get("group_gap[axis=g,level=a,metric=false_accept_rate]/judge") is None
    assert gap.p_values["holm"] >= gap.p_values["raw"]
    low, high = gap.simultaneous
    assert low < gap.ci_low < gap.ci_high < high
    other = found["group_gap[axis=g,level=b,metric=false_reject_rate]/judge"]
    assert other.ci_low < 0 < other.ci_high


def test_more_groups_are_each_held_against_the_rest_and_axes_share_a_family(audited) -> None:
    content = binary(groups=("a", "b", "c"), accepts=(0.1, 0.1, 0.4))
    found = audited(content, group=("g", "h"))
    _, _, gold, judge, group, _ = columns(content)
    here = gold == "0"
    expected = np.mean(judge[here & (group == "c")] == "1") - np.mean(judge[here & (group != "c")] == "1")
    gap = found["group_gap[axis=g,level=c,metric=false_accept_rate]/judge"]
    assert gap.estimate == pytest.approx(expected, abs=1e-12)
    assert "c minus all others" in gap.estimand
    assert "8 in all" in gap.family  # three groups and one pair, two rates each
    assert found.audit.get("group_gap[axis=h,level=y,metric=false_accept_rate]/judge") is not None


def test_marks_at_equal_reference_score(audited) -> None:
    content = marks()
    found = audited(content, scale="ordinal", levels=LEVELS)
    _, _, gold, judge, group = columns(content)
    gold, judge = gold.astype(float), judge.astype(float)
    gaps, weights = [], []
    for score in range(1, 7):
        parts = [judge[(gold == score) & (group == one)] for one in "ab"]
        if min(map(len, parts)) >= 5:
            gaps.append(parts[1].mean() - parts[0].mean())
            weights.append(sum(map(len, parts)))
    gap = found["group_gap[axis=g,level=b]/judge"]
    assert gap.estimate == pytest.approx(np.average(gaps, weights=weights), abs=1e-12)
    assert gap.n_used == sum(weights)
    assert gap.ci_low < gap.estimate < gap.ci_high
    # the focal group has the lower scores: the noisier the score, the larger the gap at equal true score
    curve = [
        found[f"group_gap_true[axis=g,level=b,reliability={one}]/judge"] for one in (0.95, 0.9, 0.8, 0.7, 0.6, 0.5)
    ]
    values = [one.estimate for one in curve]
    assert values == sorted(values)
    assert values[0] > gap.estimate
    assert all(one.ci_low < one.estimate < one.ci_high for one in curve)
    assert found["group_gap_true[axis=g,level=b,quantity=break_even]/judge"].status == "undefined"
    assert found["group_fairness[axis=g,quantity=osd]/judge"].estimate > 0
    given = audited(content, scale="ordinal", levels=LEVELS, reliability=0.85)
    own = [one for one in given.audit if one.statistic == "group_gap_true" and "over everybody" in one.estimand]
    assert len(own) == 1
    assert float(own[0].params["reliability"]) < 0.85


def test_a_known_gap_in_marks_is_covered_over_many_samples() -> None:
    hits, n = 0, 120
    for seed in range(n):
        _, student, gold, judge, group = columns(marks(seed))
        unit, stratum = (np.unique(one, return_inverse=True)[1] for one in (student, gold))
        focal = (group == "b").astype(int)
        cells = of.gap_cells(judge.astype(float), focal, stratum, stratum.max() + 1, unit, 40, np.ones(len(unit)))
        cells = cells[:, :, of.kept_strata(cells, units=2)]
        weights = of.pooled_weights(cells)
        half = t_quantile(0.975, 39) * jackknife_std_error(of.gap(leave_one_out(cells), weights))
        hits += abs(of.gap(cells.sum(axis=0), weights) - 0.5) <= half
    assert hits / n > 0.9


def test_a_gap_can_be_held_inside_a_margin(audited) -> None:
    found = audited(marks(gap=0.05), scale="ordinal", levels=LEVELS, margin={"group_gap[axis=g,level=b]": 0.3})
    (inside,) = [
        one for one in found.audit if one.statistic == "equivalence" and one.params.get("quantity") == "inside"
    ]
    assert inside.estimate == 1


def test_what_cannot_be_compared(audited) -> None:
    one = audited(binary(groups=("a",), accepts=(0.1,)))
    assert one["group_gap[axis=g]/judge"].status == "not_assessed"
    assert "of one group" in one["group_gap[axis=g]/judge"].reason
    small = binary(clusters=2, size=4)
    gap = audited(small)["group_gap[axis=g,level=b,metric=false_accept_rate]/judge"]
    assert gap.status == "undefined"
    assert "5 verdicts" in gap.reason


def test_names_of_groups_are_text_of_the_data(audited) -> None:
    content = binary(groups=("<b>&[x=1]/judge", "{positive} 'b'"))
    found = audited(content)
    gaps = [one for one in found.audit if one.statistic == "group_gap"]
    assert len(gaps) == 2
    for gap in gaps:
        assert found.audit[gap.id].id == gap.id


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"group": ("g", "g")}, RequestError, "named once"),
        ({"group": "gg"}, MappingError, "gg"),
        ({"group": "id"}, RequestError, "720 groups; at most 50"),
    ],
)
def test_what_is_refused(audited, options, error, says: str) -> None:
    with pytest.raises(error, match=says):
        audited(binary(), **options)


def test_a_response_in_two_groups_is_refused(audited) -> None:
    rows = ["id,student,criterion,gold,judge,g", "r1,s,1,1,1,a", "r1,s,2,1,0,b", "r2,t,1,0,1,a", "r2,t,2,0,0,a"]
    with pytest.raises(KeyClashError, match="two things of one response"):
        audited("\n".join(rows) + "\n", criterion="criterion")


def test_the_option_repeats_and_the_spec_is_replayed(command, write, tmp_path) -> None:
    write("v.csv", binary())
    ending = command(
        "audit", "v.csv", "--group", "g", "--group", "h", "--resamples", "200", "--out", "out", "--write-spec", "s.toml"
    )
    assert ending.code == 0, ending.said
    assert 'group = [\n    "g",\n    "h",\n]' in (tmp_path / "s.toml").read_text(encoding="utf-8")
    shown = command("show", "out", "group_gap[axis=h,level=y,metric=false_reject_rate]/judge")
    assert shown.code == 0, shown.said


def test_known_gaps_are_found_and_covered(audited) -> None:
    hits = 0
    for seed in range(8):
        gap = audited(binary(seed), resamples=100)["group_gap[axis=g,level=b,metric=false_accept_rate]/judge"]
        hits += gap.ci_low <= 0.2 <= gap.ci_high
    assert hits >= 6


@pytest.mark.slow
def test_known_gaps_are_covered_at_length(audited) -> None:
    hits = 0
    for seed in range(300):
        gap = audited(binary(seed), resamples=100)["group_gap[axis=g,level=b,metric=false_accept_rate]/judge"]
        hits += gap.ci_low <= 0.2 <= gap.ci_high
    assert 0.92 <= hits / 300 <= 0.98
