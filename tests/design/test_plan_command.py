"""``evenhand plan``: examples that work at once, what is said of a plan, refusals, registrations."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.design.calls import load_design
from evenhand.design.examples import EXAMPLES, example_plan
from evenhand.design.proof import look
from evenhand.run.prices import prices_of

Command = Callable[..., object]
FAST = ("--worlds", "100")


@pytest.mark.parametrize("kind", EXAMPLES)
def test_an_example_can_be_looked_at_and_tried_at_once(kind: str, command, tmp_path: Path) -> None:
    assert command("plan", "--example", kind, "--out", "study").code == 0
    looked = command("plan", "study/plan.toml", *FAST)
    assert looked.code == 0, looked.said
    assert 'cost    unknown for "local-model"' in looked.out
    assert re.search(r"calls   [\d,]+, about \d+ k tokens in, ", looked.out)
    tried = command("run", "study/plan.toml", "--dry-run")
    assert tried.code == 0
    assert tried.out.startswith("first prompt to ")
    _, proof = look(load_design(tmp_path / "study" / "plan.toml"))
    assert proof.equal == proof.responses


@pytest.mark.parametrize("kind", EXAMPLES)
def test_an_example_without_a_folder_is_the_plan_alone(kind: str, command) -> None:
    shown = command("plan", "--example", kind)
    assert (shown.code, shown.out) == (0, example_plan(kind))
    assert shown.out.count("#") > 10


def test_an_example_never_replaces_what_was_written_on(command, refused) -> None:
    command("plan", "--example", "rubric", "--out", "study")
    refused("plan", "--example", "grader", "--out", "study", says="not empty")


def test_the_grader_example_says_what_it_detects(command) -> None:
    command("plan", "--example", "grader", "--out", "study")
    out = command("plan", "study/plan.toml", "--worlds", "400").out
    assert "judge   local: local-model, sends max_tokens = 16; the rest is the provider's default" in out
    assert "200 of 384 responses (100 in the high tail, 100 in the low tail) × 4 arms" in out
    assert "prompts of one response differ only in the block (200 of 200 checked)" in out
    assert "label effect (true against swapped)" in out
    assert re.search(r"detects an effect of 0\.3 in \d+\.\d % of 400 planted worlds, 0\.2 in", out)
    assert "of 400 worlds without an effect" in out
    assert re.search(r"PASS at 0\.\d+ and above: 0\.3 is asked for", out)


def test_a_refusing_floor_ends_with_2_and_the_size_that_would_do(command, folder: Path, grader: str) -> None:
    plan = grader.replace("[draw]", "[floor]\neffect = 0.2\n[draw]")
    (folder / "plan.toml").write_text(plan)
    ended = command("plan", "plan.toml", "--worlds", "200", "--register", "study.json")
    assert ended.code == 2
    assert "REFUSED: unanswerable at this size" in ended.out
    assert re.search(r"about [\d,]+ responses of [\d,]+ learners would do", ended.err)
    assert "nothing was registered" in ended.err
    assert not (folder / "study.json").exists()


def test_registering_running_and_deviating(command, refused, folder: Path, grader: str) -> None:
    assert command("plan", "plan.toml", *FAST, "--register", "study.json").code == 0
    registered = json.loads((folder / "study.json").read_text())
    assert registered["entries"][0]["plan"] == load_design(folder / "plan.toml").saved.hash
    assert registered["entries"][0]["floor"]["unit"] == "learner"
    assert command("run", "plan.toml", "--dry-run", "--registered", "study.json").code == 0
    (folder / "plan.toml").write_text(grader.replace("seed = 7", "seed = 8"))
    refused("run", "plan.toml", "--dry-run", "--registered", "study.json", says="registered is plan")
    refused("run", "plan.toml", "--out", "run", "--registered", "study.json", says="registered is plan")
    refused("plan", "plan.toml", *FAST, "--register", "study.json", says="--deviation")
    assert command("plan", "plan.toml", *FAST, "--register", "study.json", "--deviation", "a typing error").code == 0
    assert command("run", "plan.toml", "--dry-run", "--registered", "study.json").code == 0
    assert len(json.loads((folder / "study.json").read_text())["entries"]) == 2


def test_differences_are_written_and_foreign_files_stay(command, refused, folder: Path) -> None:
    assert command("plan", "plan.toml", *FAST, "--diff", "arms.html").code == 0
    assert command("plan", "plan.toml", *FAST, "--diff", "arms.html").code == 0
    assert command("plan", "plan.toml", *FAST, "--diff", "arms.txt").code == 0
    assert (folder / "arms.html").read_text().startswith("<!doctype html>")
    assert "characters before" not in (folder / "arms.txt").read_text()
    (folder / "notes.txt").write_text("mine")
    refused("plan", "plan.toml", *FAST, "--diff", "notes.txt", says="exists and is no such difference")
    refused("plan", "plan.toml", *FAST, "--diff", "bank.csv", says="choose another name")


def test_costs_at_dated_prices(command, refused, folder: Path, grader: str) -> None:
    (folder / "plan.toml").write_text(f'prices = "prices.toml"\n{grader}')
    (folder / "prices.toml").write_text('date = "2001-02-03"\n[models.small]\ninput = 100.0\noutput = 1000.0\n')
    out = command("plan", "plan.toml", *FAST).out
    volume, _ = look(load_design(folder / "plan.toml"))
    cost = (volume.tokens_in * 100 + volume.tokens_out * 1000) / 1e6
    assert f"cost    {cost:,.2f} USD at prices of 2001-02-03 (prices.toml)" in out
    (folder / "prices.toml").write_text("[models]\nsmall = 3\n")
    refused("plan", "plan.toml", *FAST, says='[models."small"] must be a table of prices')


def test_no_prices_come_along(tmp_path: Path) -> None:
    assert dict(prices_of(None, tmp_path).models) == {}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--example rubric --out DIR"),
        (("absent.toml",), "cannot be read"),
        (("plan.toml", "--out", "x"), "folder of an --example"),
        (("plan.toml", "--deviation", "why"), "goes with --register"),
        (("plan.toml", "--register", "r.json", "--deviation", " "), "why the plan was changed"),
        (("plan.toml", "--example", "rubric"), "leave out plan"),
        (("plan.toml", "--worlds", "1"), "--worlds"),
        (("--example", "rubrik"), "rubrik"),
    ],
)
def test_refusals(refused, folder: Path, arguments: tuple[str, ...], says: str) -> None:
    refused("plan", *arguments, says=says)


def test_hostile_names_are_printed_as_escapes(command, folder: Path, grader: str) -> None:
    (folder / "plan.toml").write_text(grader.replace('name = "neutral"', 'name = "neu\\u202etral"'), encoding="utf-8")
    assert "neu\\u202etral" in command("plan", "plan.toml", *FAST).out
