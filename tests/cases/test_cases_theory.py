"""Cases of classical test theory reported in public: CTT-01, CTT-02 and CTT-05, each with its command and ids.

Rows are the case list's own small synthetic inputs; expected values were computed there by two independent methods.
"""

import json
from pathlib import Path

import pytest

from evenhand.cli.main import run
from evenhand.results import Audit

ITEMS = """student,i1,i2,i3,i4,i5,i6,i7,i8
s01,1,1,1,1,1,1,1,0
s02,1,1,1,1,0,1,0,0
s03,1,1,0,1,1,0,0,0
s04,1,0,1,0,0,0,0,0
s05,1,1,1,1,1,1,1,1
s06,0,1,0,0,0,0,0,0
s07,1,1,1,0,1,1,0,0
s08,1,0,0,1,0,0,1,0
s09,1,1,1,1,1,0,1,1
s10,0,1,1,0,0,0,0,0
"""
NINE = "".join(f"{line},{'i9' if line.startswith('student') else 1}\n" for line in ITEMS.strip().splitlines())
CONSTANT = "student,i1,i2,i3\n" + "".join(f"s{number},1,0,1\n" for number in range(1, 7))
SCORES = [
    9, 12, 15, 7, 14, 11, 18, 10, 13, 16, 8, 12, 14, 17, 6, 11, 13, 15, 12, 10,
    19, 9, 14, 12, 13, 16, 11, 8, 15, 10, 12, 17, 13, 14, 9, 11, 16, 12, 10, 15,
]  # fmt: skip
SPLIT = [2] * 6 + [3] * 3 + [18] * 4 + [19] * 7
ITEM_OPTIONS = ("--response", "student", "--judge", "i{criterion}")
SCORE_OPTIONS = ("--response", "student", "--judge", "score", "--scale", "continuous", "--range", "0,20")


def scored(scores: list[int]) -> str:
    return "student,score\n" + "".join(f"s{at:02},{score}\n" for at, score in enumerate(scores, start=1))


def audited(tmp_path: Path, text: str, *options: str) -> Audit:
    source, out = tmp_path / "case.csv", tmp_path / "out"
    source.write_text(text, encoding="utf-8")
    assert run(["audit", str(source), *options, "--out", str(out)]) == 0
    json.loads((out / "audit.json").read_text(), parse_constant=lambda token: pytest.fail(token))
    return Audit.load(out)


def value(audit: Audit, estimate_id: str) -> float:
    found = audit[estimate_id]
    assert found.status == "ok", found.reason
    assert found.estimate is not None
    return found.estimate


# --- CTT-01 ---


def test_ctt_01_one_divisor_on_both_levels(tmp_path: Path) -> None:
    """`evenhand audit CTT-01.csv --response student --judge 'i{criterion}' --out DIR`: kr20[variance=n]/judge and its kin."""
    audit = audited(tmp_path, ITEMS, *ITEM_OPTIONS)
    assert value(audit, "kr20[variance=n]/judge") == pytest.approx(0.780807, abs=5e-5)
    assert value(audit, "cronbach_alpha/judge") == pytest.approx(0.780807, abs=5e-5)
    assert value(audit, "kr21[variance=n]/judge") == pytest.approx(0.711014, abs=5e-5)
    # the mixed form is another number under its own id, and both say their divisors
    assert value(audit, "kr20/judge") == pytest.approx(0.8170, abs=5e-5)
    assert "1/(n−1)" in audit["kr20/judge"].estimand
    assert "both variances with 1/n" in audit["kr20[variance=n]/judge"].estimand
    assert audit["kr21[variance=n]/judge"].estimand.startswith("KR-21")


# --- CTT-02 ---


def test_ctt_02a_a_constant_item_is_kept_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`evenhand audit CTT-02a.csv --response student --judge 'i{criterion}' --out DIR`: kr20[variance=n]/judge at k = 9."""
    audit = audited(tmp_path, NINE, *ITEM_OPTIONS)
    said = " ".join(capsys.readouterr().out.split())
    assert value(audit, "kr20[variance=n]/judge") == pytest.approx(0.768607, abs=5e-5)
    assert value(audit, "cronbach_alpha/judge") == pytest.approx(0.768607, abs=5e-5)
    assert (value(audit, "n_criteria/judge"), audit.data.n_criteria) == (9, 9)
    constant = audit["item_total_correlation[criterion=9]/judge"]
    assert (constant.status, constant.estimate, constant.ci_low) == ("undefined", None, None)
    assert "constant" in constant.reason
    assert all(audit[f"item_total_correlation[criterion={one}]/judge"].status == "ok" for one in range(1, 9))
    assert "uses one label only on 1 criterion (9)" in said


def test_ctt_02a_dropping_the_item_is_the_users_choice(tmp_path: Path) -> None:
    """The same command without the column i9: k = 8."""
    assert value(audited(tmp_path, ITEMS, *ITEM_OPTIONS), "kr20[variance=n]/judge") == pytest.approx(0.780807, abs=5e-5)


def test_ctt_02b_equal_totals_have_no_consistency(tmp_path: Path) -> None:
    """`evenhand audit CTT-02b.csv --response student --judge 'i{criterion}' --out DIR`: undefined, with the reason."""
    audit = audited(tmp_path, CONSTANT, *ITEM_OPTIONS, "--cut", "2", "--reliability", "0.7")
    for name in ("kr20", "kr20[variance=n]", "kr21", "kr21[variance=n]", "cronbach_alpha"):
        found = audit[f"{name}/judge"]
        assert (found.status, found.estimate, found.ci_low, found.ci_high) == ("undefined", None, None, None)
        assert "totals do not vary" in found.reason
    for name in ("huynh[cut=2,quantity=consistency]", "hanson_brennan[cut=2,quantity=accuracy]", "effective_length"):
        found = audit[f"{name}/judge"]
        assert (found.status, found.estimate) == ("undefined", None)
        assert "scores do not vary" in found.reason


# --- CTT-05 ---


def test_ctt_05_effective_length_and_two_parameters(tmp_path: Path) -> None:
    """`evenhand audit CTT-05.csv --response student --judge score --scale continuous --range 0,20 --cut 12 --reliability 0.8 --out DIR`."""
    audit = audited(tmp_path, scored(SCORES), *SCORE_OPTIONS, "--cut", "12", "--reliability", "0.8")
    assert value(audit, "effective_length/judge") == pytest.approx(45.477676, abs=5e-5)
    assert "1/(n−1)" in audit["effective_length/judge"].estimand
    model = "cut=12,model=ll2,reliability=0.8"
    assert value(audit, f"livingston_lewis_accuracy[{model}]/judge") == pytest.approx(0.859157, abs=0.012)
    assert value(audit, f"livingston_lewis_consistency[{model}]/judge") == pytest.approx(0.806817, abs=0.012)
    assert value(audit, f"livingston_lewis_kappa[{model}]/judge") == pytest.approx(0.5965, abs=0.012)
    assert (
        "about the bank and the checklist, not the judge" in audit[f"livingston_lewis_accuracy[{model}]/judge"].estimand
    )
    assert audit.declarations.reliability == 0.8


@pytest.mark.parametrize(("scores", "cut", "reliability"), [(SCORES, "12", "0.8"), (SPLIT, "10", "0.95")])
def test_ctt_05_impossible_four_parameters_fall_back_and_say_so(
    tmp_path: Path, scores: list[int], cut: str, reliability: str
) -> None:
    """Both files: livingston_lewis_accuracy[cut=C,model=ll4,reliability=R]/judge is that of ll2, with the reason."""
    audit = audited(tmp_path, scored(scores), *SCORE_OPTIONS, "--cut", cut, "--reliability", reliability)
    for quantity in ("accuracy", "consistency", "kappa"):
        four, two = (
            audit[f"livingston_lewis_{quantity}[cut={cut},model=ll{n},reliability={reliability}]/judge"] for n in (4, 2)
        )
        assert four.estimate == two.estimate
        assert four.estimate is not None
        assert 0 < four.estimate < 1
        assert "four parameters are impossible here" in four.reason
        assert "two fitted, ends 0 and 1" in four.reason
        assert "four parameters" not in two.reason


@pytest.mark.parametrize("reliability", ["0", "1", "1.02", "-0.1", "nan"])
def test_ctt_05_an_impossible_reliability_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reliability: str
) -> None:
    """The same command with `--reliability 0`, `1`, `1.02`, `-0.1`: exit 2, the allowed range, nothing written."""
    (tmp_path / "case.csv").write_text(scored(SCORES), encoding="utf-8")
    out = tmp_path / "out"
    command = ["audit", str(tmp_path / "case.csv"), *SCORE_OPTIONS, "--cut", "12", "--reliability", reliability]
    assert run([*command, "--out", str(out)]) == 2
    said = capsys.readouterr()
    assert "between 0 and 1, both ends left out" in said.err
    assert said.out == ""
    assert not out.exists()


def test_ctt_05_an_effective_length_below_one_gives_no_number(tmp_path: Path) -> None:
    """Scores at both ends of the scale only: effective_length/judge and what rests on it are undefined, with the reason."""
    audit = audited(tmp_path, scored([0, 20] * 6), *SCORE_OPTIONS, "--cut", "12", "--reliability", "0.8")
    for name in ("effective_length", "livingston_lewis_accuracy[cut=12,model=ll2,reliability=0.8]"):
        found = audit[f"{name}/judge"]
        assert (found.status, found.estimate, found.ci_low) == ("undefined", None, None)
        assert "effective length of" in found.reason
        assert "below 2" in found.reason


def test_ctt_05_a_cut_at_zero_passes_everyone(tmp_path: Path) -> None:
    """`--cut 0`: accuracy and consistency 1, kappa undefined, said so."""
    audit = audited(tmp_path, scored(SCORES), *SCORE_OPTIONS, "--cut", "0", "--reliability", "0.8")
    for model in ("ll2", "ll4"):
        params = f"cut=0,model={model},reliability=0.8"
        assert value(audit, f"livingston_lewis_accuracy[{params}]/judge") == 1
        assert value(audit, f"livingston_lewis_consistency[{params}]/judge") == 1
        kappa = audit[f"livingston_lewis_kappa[{params}]/judge"]
        assert (kappa.status, kappa.estimate) == ("undefined", None)
        assert "every response passes or none does" in kappa.reason


def test_ctt_05_the_cut_is_met_by_equality(tmp_path: Path) -> None:
    """`--cut 12,12.0001`: passing is reaching the cut, which the estimand says; above a possible total it is another cut."""
    audit = audited(tmp_path, scored(SCORES), *SCORE_OPTIONS, "--cut", "12,12.0001", "--reliability", "0.8")
    at, above = (
        audit[f"livingston_lewis_consistency[cut={cut},model=ll2,reliability=0.8]/judge"] for cut in ("12", "12.0001")
    )
    assert at.estimate != above.estimate
    assert "pass meaning at least the cut" in at.estimand
