"""Cases RUN-01, -02, -04, -05, -06 and the re-run line of PWX-01 of the list of public bug reports.

Each case is run as a plan: through `evenhand run` against a server on loopback where the protocol matters, else through the
functions behind it. Inputs are the list's, as small texts.
"""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Body, serving

import evenhand
from evenhand.cli.main import run as evenhand_command
from evenhand.design.calls import Design, load_design
from evenhand.run.backend import CallFailedError, FailureKind, Reply, Usage
from evenhand.run.closing import read_attempts
from evenhand.run.prices import Price, Prices
from evenhand.run.running import run_design
from evenhand.verdicts.engine import Engine

PLAN = """
[bank]
responses = "bank.csv"
response = "item_id"
text = ["answer"]
{reference}
[scale]
kind = "binary"
levels = ["fail", "pass"]
[reply]
parse = "whole"
[[judge]]
name = "judge"
model = "judge-a"
{judge}
[[phrasing]]
name = "plain"
template = "plain.txt"
[facets]
occasions = {occasions}
[run]
in_flight = {in_flight}
first_wait = 0.0
most_wait = 0.0
"""


def plan(
    folder: Path,
    items: dict[str, str],
    *,
    human: dict[str, str] | None = None,
    occasions: int = 1,
    judge: str = "",
    in_flight: int = 8,
) -> Path:
    folder.mkdir(exist_ok=True)
    rows = ["item_id,answer" + (",human" if human else "")]
    rows += [f"{name},{text}" + (f",{human[name]}" if human else "") for name, text in items.items()]
    (folder / "bank.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "plain.txt").write_text("Mark this.\n{{ response }}\n", encoding="utf-8")
    text = PLAN.format(
        reference='reference = "human"' if human else "", judge=judge, occasions=occasions, in_flight=in_flight
    )
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return folder / "plan.toml"


def answers(path: Path) -> list[tuple[Any, ...]]:
    with Engine() as engine:
        return engine.rows("SELECT response_id, value, status, reason FROM read_parquet(?)", [str(path)])


def item(text: str) -> str:
    """The item a prompt shows: its answer is `answer of ID`."""
    return text.split("answer of ")[1].split()[0]


# --- RUN-01 ---


def test_run_01_repeats_are_calls_of_their_own_and_a_second_run_replays_them(tmp_path: Path) -> None:
    """RUN-01 through `evenhand.run`'s core: nine calls, then none; agreement of repeats .555556; five repeats make two new calls an item."""
    replies = {"i1": ["pass", "fail", "pass"], "i2": ["pass", "pass", "pass"], "i3": ["fail", "fail", "pass"]}
    asked: Counter[str] = Counter()

    def judge(request: Any) -> str:
        name = item(request.messages[0].content)
        asked[name] += 1
        return (replies[name] + ["pass", "pass"])[asked[name] - 1]

    items = {name: f"answer of {name}" for name in replies}
    path = plan(tmp_path / "study", items, occasions=3)
    first = run_design(load_design(path), tmp_path / "out", judges={"judge": judge}, in_flight=1)
    assert asked.total() == 9
    by_item: dict[str, list[str]] = {}
    for response, value, _, _ in answers(first.verdicts):
        by_item.setdefault(response, []).append(value)
    assert {name: sorted(found) for name, found in by_item.items()} == {
        name: sorted(found) for name, found in replies.items()
    }
    pairs = [a == b for found in by_item.values() for at, a in enumerate(found) for b in found[at + 1 :]]
    assert sum(pairs) / len(pairs) == pytest.approx(0.555556, abs=5e-7)
    assert sum(len(set(found)) == 1 for found in by_item.values()) == 1
    audit = evenhand.audit(str(first.verdicts))
    assert audit["flip_rate/judge"].estimate == pytest.approx(1 - 0.555556, abs=5e-7)
    before = answers(first.verdicts)
    second = run_design(load_design(path), tmp_path / "out", judges={"judge": judge})
    assert (asked.total(), second.tally.kept) == (9, 9)
    assert answers(second.verdicts) == before
    path = plan(tmp_path / "study", items, occasions=5)
    third = run_design(load_design(path), tmp_path / "out", judges={"judge": judge})
    assert asked.total() == 15
    assert set(before) <= set(answers(third.verdicts))


# --- RUN-02 ---


BASE: dict[str, Any] = {"judge_model": "judge-a", "system": "You grade.", "rubric": "2 points for units", "temperature": 0, "max_tokens": 200,
    "seed": 1, "scale": [0, 2], "item_text": "answer 1", "item_id": "q1"}  # fmt: skip


def graded(folder: Path, **change: Any) -> Design:
    """A plan of one call with this judge, system prompt, rubric, settings, scale and item."""
    folder.mkdir(exist_ok=True)
    said = {**BASE, **change}
    (folder / "bank.csv").write_text(f'item_id,answer\n{said["item_id"]},"{said["item_text"]}"\n', encoding="utf-8")
    (folder / "plain.txt").write_text("{{ rubric }}\n{{ response }}\n", encoding="utf-8")
    (folder / "system.txt").write_text(said["system"], encoding="utf-8")
    (folder / "rubric.md").write_text(said["rubric"], encoding="utf-8")
    settings = ", ".join(
        f"{name} = {said[name]}" for name in ("temperature", "max_tokens", "seed") if said[name] is not None
    )
    (folder / "plan.toml").write_text(
        f'system = "system.txt"\n[bank]\nresponses = "bank.csv"\nresponse = "item_id"\ntext = ["answer"]\nrubric = "rubric.md"\n'
        f'[scale]\nkind = "continuous"\nrange = {said["scale"]}\n[reply]\nparse = "rating"\n[[judge]]\nname = "judge"\n'
        f'model = "{said["judge_model"]}"\nsettings = {{ {settings} }}\n[[phrasing]]\nname = "plain"\ntemplate = "plain.txt"\n',
        encoding="utf-8",
    )
    return load_design(folder / "plan.toml")


@pytest.mark.parametrize(
    "change",
    [
        {"judge_model": "judge-b"}, {"system": "You grade strictly."}, {"rubric": "2 points for units."}, {"temperature": 1},
        {"temperature": None}, {"max_tokens": 20}, {"seed": 2}, {"scale": [0, 5]}, {"item_text": "answer 1 "},
    ],
)  # fmt: skip
def test_run_02_whatever_changes_a_verdict_makes_a_new_call(tmp_path: Path, change: dict[str, Any]) -> None:
    """RUN-02: nine variants miss; the old verdict is not reported for the new design, and the run says that the plan was changed."""
    asked = []

    def judge(request: Any) -> str:
        asked.append(request)
        return f"[[{len(asked)}]]"

    run_design(graded(tmp_path / "study"), tmp_path / "out", judges={"judge": judge})
    again = run_design(graded(tmp_path / "study", **change), tmp_path / "out", judges={"judge": judge})
    assert len(asked) == 2
    assert answers(again.verdicts) == [("q1", "2", "scored", None)]
    assert again.changed_plans == 1
    assert len(list(read_attempts(tmp_path / "out" / "ledger.parquet"))) == 2


def test_run_02_place_and_pace_change_nothing_and_each_verdict_carries_its_fingerprint(tmp_path: Path) -> None:
    """RUN-02: the same plan elsewhere keeps its calls; records carry request, plan and settings; a new item id is on its record."""
    one, other = graded(tmp_path / "one"), graded(tmp_path / "other")
    assert [call.key for call in one.calls()] == [call.key for call in other.calls()]
    assert one.saved.hash == other.saved.hash
    found = run_design(
        graded(tmp_path / "one", item_id="q9"), tmp_path / "out", judges={"judge": lambda _request: "[[1]]"}
    )
    with Engine() as engine:
        ((response, request, plan_hash, model),) = engine.rows(
            "SELECT response_id, request, plan, model FROM read_parquet(?)", [str(found.verdicts)]
        )
    assert (response, len(request), len(plan_hash), model) == ("q9", 64, 64, "judge-a")


def test_run_02_a_model_swapped_under_the_name_is_reported_and_its_verdicts_are_kept_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """RUN-02 with `evenhand run`: two served models under one name are said, and the verdicts carry them as conditions."""

    def script(_body: Body, number: int) -> Answer:
        return Answer("pass", model="judge-a" if number % 2 else "judge-a-mini")

    with serving(script) as server:
        path = plan(
            tmp_path / "study",
            {f"q{n}": f"answer of q{n}" for n in range(6)},
            judge=f'base_url = "{server.url}"',
            in_flight=1,
        )
        assert evenhand_command(["run", str(path), "--out", str(tmp_path / "out")]) == 0
    assert "judge-a, judge-a-mini" in capsys.readouterr().out
    with Engine() as engine:
        models = engine.rows(
            "SELECT model, count(*) FROM read_parquet(?) GROUP BY ALL ORDER BY 1",
            [str(tmp_path / "out" / "verdicts.parquet")],
        )
    assert models == [("judge-a", 3), ("judge-a-mini", 3)]


# --- RUN-04 ---


def test_run_04_cost_counts_cached_tokens_once_and_failed_attempts_too(tmp_path: Path) -> None:
    """RUN-04: .009209 in all, .00525 of it on the attempt whose reply was no JSON; a kept reply is free; no price is no cost."""
    price = Price(2.5, 10.0, 0.25)
    attempts = [Usage(1200, 1000, 50), Usage(900, 0, 300), Usage(950, 896, 40), Usage(700, 0, 20)]
    costs = [price.of(usage) for usage in attempts]
    assert sum(costs) == pytest.approx(0.009209, abs=5e-7)
    assert costs[1] == pytest.approx(0.00525, abs=5e-7)
    prices = Prices("", "USD", {"judge-a": price})
    assert prices.cost("unknown", attempts[0]) is None
    script: dict[str, list[Usage | FailureKind]] = {
        "c1": [attempts[0]], "c2": ["cut reply", attempts[2]], "c4": ["rate limit", attempts[3]],
    }  # fmt: skip

    async def judge(request: Any) -> Reply:
        await asyncio.sleep(0)
        step = script[item(request.messages[0].content)].pop(0)
        if isinstance(step, str):
            paid = attempts[1] if step == "cut reply" else Usage()
            raise CallFailedError(step, "scripted", usage=paid)
        return Reply("pass", "judge-a", step)

    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "prices.toml").write_text(
        'date = "a day"\ncurrency = "USD"\n[models."judge-a"]\ninput = 2.5\ncached_input = 0.25\noutput = 10.0\n',
        encoding="utf-8",
    )
    path = plan(tmp_path / "study", {name: f"answer of {name}" for name in script})
    path.write_text('prices = "prices.toml"\n' + path.read_text(encoding="utf-8"), encoding="utf-8")
    found = run_design(load_design(path), tmp_path / "out", judges={"judge": judge})
    assert found.tally.money == pytest.approx(0.009209, abs=5e-7)
    assert (found.tally.attempts, sum(found.tally.failures.values())) == (5, 2)
    again = run_design(load_design(path), tmp_path / "out", judges={"judge": judge})
    assert (again.tally.kept, again.tally.money) == (3, pytest.approx(0.009209, abs=5e-7))


def test_run_04_a_model_without_a_price_has_an_unknown_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """RUN-04: tokens are counted and the cost is said to be unknown, never 0.00."""
    with serving(lambda _body, _n: Answer("pass")) as server:
        path = plan(tmp_path / "study", {"q1": "answer of q1"}, judge=f'base_url = "{server.url}"')
        assert evenhand_command(["run", str(path), "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "cost unknown" in said
    assert "0.00" not in said


# --- RUN-05 ---


@pytest.mark.parametrize("workers", [1, 6])
def test_run_05_replies_that_arrive_out_of_order_stand_by_their_items(tmp_path: Path, workers: int) -> None:
    """RUN-05: agreement .833333 and kappa .666667, output in the order of the input, for one worker and for six."""
    stub = {"q1": (0.03, "pass", "pass"), "q2": (0.005, "fail", "fail"), "q3": (0.02, "pass", "pass"), "q4": (0.01, "fail", "pass"),
        "q5": (0.001, "fail", "fail"), "q6": (0.025, "pass", "pass")}  # fmt: skip

    async def judge(request: Any) -> str:
        wait, reply, _ = stub[item(request.messages[0].content)]
        await asyncio.sleep(wait)
        return reply

    human = {name: label for name, (_, _, label) in stub.items()}
    path = plan(tmp_path / "study", {name: f"answer of {name}" for name in stub}, human=human)
    found = run_design(load_design(path), tmp_path / "out", judges={"judge": judge}, in_flight=workers)
    assert [(name, value) for name, value, _, _ in answers(found.verdicts)] == [(name, stub[name][1]) for name in stub]
    audit = evenhand.audit(str(found.verdicts))
    assert audit["observed_agreement/judge"].estimate == pytest.approx(0.833333, abs=5e-7)
    assert audit["cohen_kappa/judge"].estimate == pytest.approx(0.666667, abs=5e-7)


# --- RUN-06 ---


def test_run_06_an_outage_gives_no_score_and_says_what_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """RUN-06, all fail, with `evenhand run`: exit 3, the kinds with their counts, the first raw error; no verdict is scored."""
    status = {"q1": 429, "q2": 429, "q3": 500, "q4": 402, "q5": 408, "q6": 429}

    def script(body: Body, _number: int) -> Answer:
        return Answer(status=status[item(body["messages"][0]["content"])], error="the quota is used up", seconds=0.05)

    with serving(script) as server:
        path = plan(
            tmp_path / "study",
            {name: f"answer of {name}" for name in status},
            judge=f'base_url = "{server.url}"',
            in_flight=6,
        )
        text = (
            path.read_text(encoding="utf-8")
            .replace("first_wait = 0.0", "first_wait = 5.0")
            .replace("most_wait = 0.0", "most_wait = 5.0")
        )
        path.write_text(text.replace("[run]", "[run]\nattempts = 1"), encoding="utf-8")
        assert evenhand_command(["run", str(path), "--out", str(tmp_path / "out")]) == 3
    said = capsys.readouterr().err
    for kind in (
        "rate limit (429) × 3",
        "server (500) × 1",
        "payment (402) × 1",
        "timeout (408) × 1",
        "the quota is used up",
    ):
        assert kind in said
    assert {status for _, _, status, _ in answers(tmp_path / "out" / "verdicts.parquet")} == {"error"}


def test_run_06_a_late_outage_keeps_what_was_paid_and_a_resume_judges_the_rest(tmp_path: Path) -> None:
    """RUN-06, partial, with `evenhand run`: 7 judged, 3 not, pass rate .714286 among the judged; 402 is met once; q8 to q10 come later."""
    replies = dict(
        zip([f"q{n}" for n in range(1, 8)], ["pass", "pass", "fail", "pass", "fail", "pass", "pass"], strict=True)
    )
    paid = {"now": False}

    def script(body: Body, _number: int) -> Answer:
        name = item(body["messages"][0]["content"])
        if name in replies or paid["now"]:
            return Answer(replies.get(name, "pass"))
        return Answer(status=402)

    with serving(script) as server:
        items = {f"q{n}": f"answer of q{n}" for n in range(1, 11)}
        path = plan(tmp_path / "study", items, judge=f'base_url = "{server.url}"', in_flight=1)
        assert evenhand_command(["run", str(path), "--out", str(tmp_path / "out")]) == 3
        found = answers(tmp_path / "out" / "verdicts.parquet")
        judged = [value for _, value, status, _ in found if status == "scored"]
        assert (len(judged), len(found) - len(judged)) == (7, 3)
        assert judged.count("pass") / len(judged) == pytest.approx(0.714286, abs=5e-7)
        assert len(judged) / len(found) == 0.7
        assert len(server.asked) == 8
        paid["now"] = True
        assert evenhand_command(["run", str(path), "--out", str(tmp_path / "out")]) == 0
        assert [item(body["messages"][0]["content"]) for body in server.asked[8:]] == ["q8", "q9", "q10"]


# --- PWX-01 ---


def test_pwx_01_rows_without_a_preference_are_tried_again(tmp_path: Path) -> None:
    """PWX-01, the re-run line: calls that got no reply are missing, not losses, and the next run asks exactly them."""
    asked: list[str] = []
    down = {"now": True}

    def judge(request: Any) -> str:
        name = item(request.messages[0].content)
        asked.append(name)
        if down["now"] and name in ("k", "l"):
            raise CallFailedError("bad request", "no answer")
        return "pass"

    path = plan(tmp_path / "study", {name: f"answer of {name}" for name in "abcdefghijkl"})
    first = run_design(load_design(path), tmp_path / "out", judges={"judge": judge}, in_flight=1)
    assert [status for _, _, status, _ in answers(first.verdicts)] == ["scored"] * 10 + ["error"] * 2
    down["now"] = False
    asked.clear()
    run_design(load_design(path), tmp_path / "out", judges={"judge": judge})
    assert sorted(asked) == ["k", "l"]
    assert json.loads((tmp_path / "out" / "plan.json").read_text(encoding="utf-8"))["hash"]
