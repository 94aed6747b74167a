"""Cases reported in public against tools like this: UND-03 (kappa part), with its command and ids.

Rows are the case list's own small synthetic inputs; expected values were computed there by two independent methods.
"""

import json
from pathlib import Path

import pytest

from evenhand.cli.main import run
from evenhand.results import Audit

UND_03A = "item_id,r1,r2\n" + "".join(f"q{n:02},ok,{'bad' if n == 20 else 'ok'}\n" for n in range(1, 21))
UND_03B = "item_id,r1,r2\nq1,A,B\nq2,B,A\nq3,A,B\n"


def audited(tmp_path: Path, text: str, *options: str) -> Audit:
    source = tmp_path / "case.csv"
    source.write_text(text, encoding="utf-8")
    assert run(["audit", str(source), *options, "--out", str(tmp_path / "out")]) == 0
    json.loads((tmp_path / "out" / "audit.json").read_text(), parse_constant=lambda token: pytest.fail(token))
    return Audit.load(tmp_path / "out")


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
