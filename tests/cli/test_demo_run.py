"""`demo --run`: a small model judges here and now, and what its audit says; the model itself is asked in the slow layer."""

import importlib.util
import re
import time
from pathlib import Path

import pytest

from conftest import Command
from evenhand.cli.commands.demo import _write_plan
from evenhand.design.calls import load_design
from evenhand.design.request import Request
from evenhand.errors import EvenhandError
from evenhand.run import embedded, running
from evenhand.run.backends.function import FunctionBackend
from evenhand.simulate.demo import LINES_TO_JUDGE, N_TO_JUDGE, bank_to_judge_rows

VERDICT_OF_WORDING = "This judge's verdicts are set by the wording, not by the work"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Requests to a judge in the model's place that says no to one wording, yes to another, and looks at the work in the third."""
    seen: list[Request] = []

    def answer(request: Request) -> str:
        seen.append(request)
        prompt = request.messages[-1].content
        if prompt.startswith("You are a strict examiner"):
            return "no"
        return "yes" if prompt.startswith("Decide") or len(prompt) % 3 else "no"

    monkeypatch.setattr(embedded, "check_installed", lambda: None)
    monkeypatch.setattr(embedded, "model_file", lambda: Path("not.gguf"))
    monkeypatch.setattr(running, "backend_of", lambda *_judge: FunctionBackend(answer))
    return seen


def test_it_says_whether_wording_or_work_decides(
    command: Command, tmp_path: Path, asked: list[Request], capsys: pytest.CaptureFixture[str]
) -> None:
    ending = command("demo", "--run")
    out = tmp_path / "evenhand-demo-run"
    assert ending.code == 0, ending.said
    assert VERDICT_OF_WORDING in " ".join(ending.out.split())
    assert "two repeats differ on 0.0 % of items" in " ".join(ending.out.split())
    assert ending.out.rstrip().endswith(f"The report: {out / 'report' / 'report.html'}")
    assert sorted(one.name for one in out.iterdir()) == ["bank.csv", "plan.toml", "report", "run"]
    assert VERDICT_OF_WORDING in (out / "report" / "report.md").read_text()
    assert len(asked) == N_TO_JUDGE * LINES_TO_JUDGE * 3 * 2
    again = command("demo", "--run")
    assert (again.code, len(asked)) == (0, 144)
    assert "144 of 144 calls have their reply (144 from before)" in again.out


def test_its_plan_can_be_copied_and_run(command: Command, tmp_path: Path, asked: list[Request]) -> None:
    _write_plan(tmp_path / "d")
    plan = load_design(tmp_path / "d" / "plan.toml").plan
    assert (plan.judge[0].backend, plan.judge[0].settings["temperature"]) == ("embedded", 0.0)
    wordings = [f"builtin:rubric/{one}" for one in ("plain", "strict", "statement")]
    assert [one.template for one in plan.phrasing] == wordings
    assert command("run", "d/plan.toml", "--out", "mine").code == 0


def test_the_bank_to_judge_is_small_and_has_both_labels() -> None:
    header, *rows = bank_to_judge_rows()
    gold = [label for row in rows for name, label in zip(header, row, strict=True) if name.startswith("gold")]
    assert (len(rows), len(gold)) == (N_TO_JUDGE, N_TO_JUDGE * LINES_TO_JUDGE)
    assert 6 <= gold.count("yes") <= 18
    assert all(row[header.index("answer")] for row in rows)


def test_without_the_extra_it_says_how_to_install_it(
    refused: Command, write: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    refused("demo", "--run", says="pip install 'evenhand[judge]'")


def test_a_foreign_folder_is_not_touched(refused: Command, write: object, asked: list[Request]) -> None:
    write("evenhand-demo-run/mine.txt", "mine")  # type: ignore[operator]
    refused("demo", "--run", says=('"mine.txt"', "another --out"))
    assert not asked


def test_a_plan_that_was_written_on_is_not_replaced(refused: Command, tmp_path: Path, asked: list[Request]) -> None:
    _write_plan(tmp_path / "d")
    path = tmp_path / "d" / "plan.toml"
    path.write_text(path.read_text().replace("occasions = 2", "occasions = 3"))
    refused("demo", "--run", "--out", "d", says=("plan.toml was changed", "evenhand run d/plan.toml --out DIR"))


@pytest.mark.slow
def test_the_model_itself_is_set_by_the_wording(command: Command, tmp_path: Path) -> None:
    try:
        embedded.check_installed()
        embedded.model_file()
    except EvenhandError as problem:
        pytest.skip(f"the embedded judge is not to be had here: {problem}")
    started = time.monotonic()
    ending = command("demo", "--run")
    assert ending.code == 0, ending.said
    said = " ".join(ending.out.split())
    assert VERDICT_OF_WORDING in said
    shares = re.search(r"([\d.]+) % lies between wordings and ([\d.]+) % between responses", said)
    assert shares is not None
    assert float(shares[1]) > 50 > float(shares[2])
    assert time.monotonic() - started < 600
