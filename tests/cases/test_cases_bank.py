"""Cases reported in public against tools like this: UND-03 (kappa part), CTT-01 and CTT-02, each with its command and ids.

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
CTT_02A = "\n".join(f"{line},{'i9' if line.startswith('student') else 1}" for line in ITEMS.strip().splitlines())
CTT_02B = "student,i1,i2,i3\n" + "".join(f"s{number},1,0,1\n" for number in range(1, 7))
UND_03A = "item_id,r1,r2\n" + "".join(f"q{n:02},ok,{'bad' if n == 20 else 'ok'}\n" for n in range(1, 21))
UND_03B = "item_id,r1,r2\nq1,A,B\nq2,B,A\nq3,A,B\n"


def audited(tmp_path: Path, text: str, *options: str) -> Audit:
    source = tmp_path / "case.csv"
    source.write_text(text, encoding="utf-8")
    assert run(["audit", str(source), *options, "--out", str(tmp_path / "out")]) == 0
    json.loads((tmp_path / "out" / "audit.json").read_text(), parse_constant=lambda token: pytest.fail(token))
    return Audit.load(tmp_path / "out")


ITEM_OPTIONS = ("--response", "student", "--judge", "i{criterion}")


def test_ctt_01_kr20_with_one_divisor_equals_alpha(tmp_path: Path) -> None:
    """`evenhand audit CTT-01.csv --response student --judge 'i{criterion}'`: kr20[variance=n]/judge, cronbach_alpha/judge."""
    audit = audited(tmp_path, ITEMS, *ITEM_OPTIONS)
    assert audit["kr20[variance=n]/judge"].estimate == pytest.approx(0.780807, abs=5e-7)
    assert audit["cronbach_alpha/judge"].estimate == pytest.approx(0.780807, abs=5e-7)
    assert audit["kr21[variance=n]/judge"].estimate == pytest.approx(0.711014, abs=5e-7)
    mixed = audit["kr20/judge"]
    assert mixed.estimate == pytest.approx(0.8170, abs=5e-5)
    assert "1/(n−1)" in mixed.estimand  # the mixed form names its divisors
    assert "both variances with 1/n" in audit["kr20[variance=n]/judge"].estimand


def test_ctt_02a_a_constant_item_is_kept_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`evenhand audit CTT-02a.csv --response student --judge 'i{criterion}'`: kr20[variance=n]/judge at K = 9."""
    audit = audited(tmp_path, CTT_02A, *ITEM_OPTIONS)
    said = " ".join(capsys.readouterr().out.split())
    assert audit["kr20[variance=n]/judge"].estimate == pytest.approx(0.768607, abs=5e-7)
    constant = audit["item_total_correlation[criterion=9]/judge"]
    assert (constant.status, constant.estimate, constant.ci_low) == ("undefined", None, None)
    assert "constant" in constant.reason
    assert "the judge uses one label only on 1 criterion (9)" in said
    assert "9 criteria" in said


def test_ctt_02a_dropping_the_item_is_the_users_choice(tmp_path: Path) -> None:
    assert audited(tmp_path, ITEMS, *ITEM_OPTIONS)["kr20[variance=n]/judge"].estimate == pytest.approx(
        0.780807, abs=5e-7
    )


def test_ctt_02b_equal_totals_leave_kr20_undefined_with_the_reason(tmp_path: Path) -> None:
    """`evenhand audit CTT-02b.csv --response student --judge 'i{criterion}'`: kr20/judge."""
    audit = audited(tmp_path, CTT_02B, *ITEM_OPTIONS)
    for estimate_id in ("kr20/judge", "kr20[variance=n]/judge", "cronbach_alpha/judge"):
        estimate = audit[estimate_id]
        assert (estimate.status, estimate.estimate, estimate.ci_low, estimate.ci_high) == (
            "undefined",
            None,
            None,
            None,
        )
        assert "totals do not vary" in estimate.reason


def test_und_03a_kappa_zero_is_a_result_beside_its_label_shares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`evenhand audit UND-03a.csv --reference r1 --judge r2`: cohen_kappa/judge, observed_agreement/judge, gwet_ac1/judge."""
    audit = audited(tmp_path, UND_03A, "--reference", "r1", "--judge", "r2")
    said = capsys.readouterr().out
    assert audit["observed_agreement/judge"].estimate == pytest.approx(0.95)
    assert audit["gwet_ac1/judge"].estimate == pytest.approx(0.947438, abs=5e-7)
    kappa = audit["cohen_kappa/judge"]
    assert (kappa.status, kappa.estimate) == ("ok", 0.0)
    assert "0.000" in next(line for line in said.splitlines() if "κ" in line)
    assert "ok 97.5 %" in said


def test_und_03b_negative_kappa_is_not_clipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`evenhand audit UND-03b.csv --reference r1 --judge r2`: cohen_kappa/judge."""
    audit = audited(tmp_path, UND_03B, "--reference", "r1", "--judge", "r2")
    # by hand: p_o = 0; margins (2/3, 1/3) and (1/3, 2/3): p_e = 4/9; kappa = -(4/9)/(5/9)
    assert audit["cohen_kappa/judge"].estimate == pytest.approx(-0.8)
    assert "-0.800" in capsys.readouterr().out
