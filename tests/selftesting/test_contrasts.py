"""Shifts under arms and between groups, drawn from the audit's own standard error."""

import numpy as np
import pytest

from evenhand.selftesting.contrasts import of_contrasts
from evenhand.selftesting.marks import reference_sd
from evenhand.watching.saved import load_saved


@pytest.fixture
def grouped(command, write, tmp_path):
    """An audit of marks with a group column."""
    rng = np.random.default_rng(5)
    lines = ["item,question,gold,judge,sex"]
    for n in range(600):
        gold = int(rng.integers(0, 6))
        lines.append(f"r{n},q{n % 15},{gold},{int(np.clip(gold + rng.integers(-1, 2), 0, 5))},{'fm'[n // 15 % 2]}")
    write("marks.csv", "\n".join(lines) + "\n")
    options = ("--cluster", "question", "--scale", "ordinal", "--group", "sex")
    ending = command("audit", "marks.csv", *options, "--out", "out")
    assert ending.code == 0, ending.said
    return load_saved(tmp_path / "out")


def test_a_gap_is_seen_at_the_power_of_its_standard_error(grouped):
    found = list(of_contrasts(grouped, 0.95))
    assert found
    (gap, *_), sd = found, grouped.audit["sd_total/reference"].estimate
    error = grouped.audit[gap.id].std_error
    for size in (0.0, 6 * error / sd):
        called = np.mean([gap.world(np.random.default_rng([1, at]), size) for at in range(1_000)])
        assert called == pytest.approx(0.05 if size == 0 else 1.0, abs=0.025)


@pytest.mark.parametrize("scale", ["ordinal", "continuous"])
def test_a_gap_in_marks_of_several_criteria_is_in_sds_of_marks(command, write, tmp_path, scale):
    # two criteria that always agree: the totals' SD is twice that of a mark, and the gap is of marks
    rng = np.random.default_rng(5)
    lines = ["item,question,gold_a,gold_b,judge_a,judge_b,sex"]
    for n in range(300):
        gold, judge = int(rng.integers(0, 6)), int(rng.integers(0, 6))
        lines.append(f"r{n},q{n % 15},{gold},{gold},{judge},{judge},{'fm'[n // 15 % 2]}")
    write("marks.csv", "\n".join(lines) + "\n")
    options = (
        "--reference",
        "gold_{criterion}",
        "--judge",
        "judge_{criterion}",
        "--cluster",
        "question",
        "--scale",
        scale,
    )
    more = ("--range", "0,5") if scale == "continuous" else ("--levels", "0,1,2,3,4,5")
    ending = command("audit", "marks.csv", *options, *more, "--group", "sex", "--out", "out")
    assert ending.code == 0, ending.said
    saved = load_saved(tmp_path / "out")
    (gap, *_) = of_contrasts(saved, 0.95)
    assert gap.unit == "SDs of the reference's marks"
    assert gap.name == "groups are judged apart (m)"
    gold = np.repeat([float(line.split(",")[2]) for line in lines[1:]], 2)
    assert reference_sd(saved, "judge") == pytest.approx(gold.std())
    assert saved.audit["sd_total/reference"].estimate == pytest.approx(2 * gold.std(), rel=0.01)


def test_a_gap_in_rates_is_in_points_whatever_the_totals_are(command, write, tmp_path):
    rng = np.random.default_rng(6)
    lines = ["item,question,gold_a,gold_b,judge_a,judge_b,sex"]
    for n in range(300):
        verdicts = ",".join(str(int(rng.random() < 0.5)) for _ in range(4))
        lines.append(f"r{n},q{n % 15},{verdicts},{'fm'[n // 15 % 2]}")
    write("bank.csv", "\n".join(lines) + "\n")
    options = ("--reference", "gold_{criterion}", "--judge", "judge_{criterion}", "--cluster", "question")
    assert command("audit", "bank.csv", *options, "--group", "sex", "--out", "out").code == 0
    found = list(of_contrasts(load_saved(tmp_path / "out"), 0.95))
    assert [one.unit for one in found] == ["in its own unit"] * 2
    assert found[0].name == "groups are judged apart (m, false accept rate)"
