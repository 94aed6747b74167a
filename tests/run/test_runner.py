"""The runner against scripted judges: every reply once, failures by kind, budgets, pairing, resumption."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.design.request import Message, PlannedCall, Request
from evenhand.run.backend import CallFailedError, FailureKind, Reply, Usage
from evenhand.run.budget import Budget, Tally
from evenhand.run.closing import verdict_rows
from evenhand.run.ledger import Ledger
from evenhand.run.prices import Price, Prices
from evenhand.run.runner import Policy, Run
from evenhand.verdicts.parsing import Parsed, yes_no

AT_ONCE = Policy(in_flight=4, attempts=3, first_wait=0.0)
FORM = yes_no(leading=True)


def calls(n: int, occasions: int = 1, **settings: Any) -> list[PlannedCall]:
    return [
        PlannedCall(
            occasion * n + item,
            {"response_id": f"q{item}", "occasion": str(occasion + 1), "rater_id": "j"},
            Request("loop", "m", (Message("user", f"item {item}"),), settings),
        )
        for occasion in range(occasions)
        for item in range(n)
    ]


class Scripted:
    """Answers by the text of a prompt; remembers what it was asked."""

    name = "scripted"

    def __init__(self, answer: Callable[[str, int], Reply], wait: Callable[[str], float] = lambda _text: 0.0) -> None:
        self.asked: list[str] = []
        self.answer, self.wait = answer, wait
        self.in_flight = self.most = 0

    async def complete(self, call: PlannedCall) -> Reply:
        text = call.request.messages[0].content
        self.asked.append(text)
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            await asyncio.sleep(self.wait(text))
            return self.answer(text, self.asked.count(text))
        finally:
            self.in_flight -= 1

    async def close(self) -> None:
        pass


def read(_call: PlannedCall, reply: Reply) -> Parsed:
    return FORM.parse(reply.text)


async def no_wait(_seconds: float) -> None:
    await asyncio.sleep(0)


def go(
    path: Path, planned: Sequence[PlannedCall], backend: Scripted, **more: Any
) -> tuple[Tally, list[dict[str, object]]]:
    with Ledger(path / "run.sqlite") as ledger:
        tally = asyncio.run(Run(planned, backend, ledger, read, **{"policy": AT_ONCE, "sleep": no_wait, **more})())
        return tally, list(verdict_rows(planned, ledger, "plan"))


def yes(_text: str, _time: int) -> Reply:
    return Reply("yes", "m", Usage(10, 0, 2))


def failing(kind: FailureKind, **more: Any) -> CallFailedError:
    return CallFailedError(kind, f"scripted {kind}", **more)


def test_every_call_is_made_once_and_stands_in_the_plans_order(tmp_path: Path) -> None:
    backend = Scripted(yes, wait=lambda text: 0.001 * (int(text.split()[1]) % 5))
    tally, rows = go(tmp_path, calls(40), backend)
    assert (tally.replied, tally.attempts, backend.most) == (40, 40, 4)
    assert [row["response_id"] for row in rows] == [f"q{item}" for item in range(40)]


def test_a_second_run_asks_nothing(tmp_path: Path) -> None:
    go(tmp_path, calls(9), Scripted(yes))
    backend = Scripted(yes)
    tally, rows = go(tmp_path, calls(9), backend)
    assert (backend.asked, tally.kept, tally.replied) == ([], 9, 0)
    assert {row["status"] for row in rows} == {"scored"}


def test_more_occasions_keep_the_earlier_ones(tmp_path: Path) -> None:
    go(tmp_path, calls(3, occasions=3), Scripted(yes))
    backend = Scripted(yes)
    tally, rows = go(tmp_path, calls(3, occasions=5), backend)
    assert (len(backend.asked), tally.kept, len(rows)) == (6, 9, 15)


@pytest.mark.parametrize("changed", [{"temperature": 0.0}, {"temperature": 1.0}, {"max_tokens": 5}, {"seed": 1}])
def test_a_changed_setting_is_another_call(tmp_path: Path, changed: dict[str, float]) -> None:
    go(tmp_path, calls(2), Scripted(yes))
    backend = Scripted(yes)
    go(tmp_path, calls(2, **changed), backend)
    assert len(backend.asked) == 2


def test_passing_failures_are_tried_again_and_every_attempt_is_kept(tmp_path: Path) -> None:
    def answer(text: str, time: int) -> Reply:
        if time < 3:
            raise failing("server", usage=Usage(5, 0, 0))
        return yes(text, time)

    planned = calls(2)
    tally, rows = go(tmp_path, planned, Scripted(answer))
    assert (tally.replied, tally.attempts, tally.failures["server"], tally.tokens) == (2, 6, 4, 2 * 12 + 4 * 5)
    assert {row["status"] for row in rows} == {"scored"}


def test_a_call_that_keeps_failing_is_an_error_never_a_verdict(tmp_path: Path) -> None:
    def answer(text: str, time: int) -> Reply:
        if text == "item 1":
            raise failing("timeout")
        return yes(text, time)

    tally, rows = go(tmp_path, calls(3), Scripted(answer))
    assert (tally.given_up, tally.failures["timeout"]) == (1, 3)
    assert [row["status"] for row in rows] == ["scored", "error", "scored"]
    assert (rows[1]["reason"], rows[1].get("value")) == ("timeout", None)


def test_a_bad_request_is_not_tried_again(tmp_path: Path) -> None:
    def answer(_text: str, _time: int) -> Reply:
        raise failing("bad request")

    backend = Scripted(answer)
    go(tmp_path, calls(1), backend)
    assert len(backend.asked) == 1


def test_payment_ends_the_run(tmp_path: Path) -> None:
    def answer(text: str, time: int) -> Reply:
        if text == "item 5":
            raise failing("payment", status=402)
        return yes(text, time)

    backend = Scripted(answer)
    tally, rows = go(tmp_path, calls(100), backend, policy=Policy(in_flight=1, attempts=5, first_wait=0.0))
    assert backend.asked.count("item 5") == 1
    assert tally.stopped.startswith("payment")
    assert [row["status"] for row in rows[:7]] == [*["scored"] * 5, "error", "missing"]


def test_an_outage_ends_the_run(tmp_path: Path) -> None:
    def answer(_text: str, _time: int) -> Reply:
        raise failing("connection")

    backend = Scripted(answer)
    tally, rows = go(tmp_path, calls(500), backend)
    assert tally.stopped.startswith("outage")
    assert len(backend.asked) < 60
    assert "scored" not in {row["status"] for row in rows}


def test_retry_after_goes_before_our_own_waiting(tmp_path: Path) -> None:
    waits: list[float] = []

    async def waiting(seconds: float) -> None:
        waits.append(seconds)

    def answer(text: str, time: int) -> Reply:
        if time <= 2:
            raise failing("rate limit", status=429, retry_after=7.0 if time == 1 else 0.0)
        return yes(text, time)

    go(tmp_path, calls(1), Scripted(answer), sleep=waiting, policy=Policy(1, 4, 0.5, 60.0))
    assert waits == [7.0, 1.0]


@pytest.mark.parametrize(
    ("budget", "most"),
    [(Budget(calls=7), 7), (Budget(tokens=300), 300), (Budget(money=0.002), 0.002)],
)
def test_a_budget_is_not_passed(tmp_path: Path, budget: Budget, most: float) -> None:
    prices = Prices("", "USD", {"m": Price(10.0, 10.0, 1.0)})
    tally, rows = go(tmp_path, calls(200, max_tokens=2), Scripted(yes), budget=budget, prices=prices)
    taken = {"calls": tally.attempts, "tokens": tally.tokens, "money": tally.money}
    name = next(name for name in taken if name in tally.stopped)
    assert 0 < taken[name] <= most
    assert {row["status"] for row in rows} == {"scored", "missing"}


def test_a_budget_counts_what_earlier_runs_took(tmp_path: Path) -> None:
    go(tmp_path, calls(20), Scripted(yes), budget=Budget(calls=7))
    backend = Scripted(yes)
    go(tmp_path, calls(20), backend, budget=Budget(calls=10))
    assert len(backend.asked) == 3


def test_stop_waits_for_the_calls_in_flight(tmp_path: Path) -> None:
    def answer(text: str, time: int) -> Reply:
        run.stop("interrupted")
        return yes(text, time)

    planned = calls(50)
    with Ledger(tmp_path / "run.sqlite") as ledger:
        run = Run(planned, Scripted(answer), ledger, read, policy=AT_ONCE)
        tally = asyncio.run(run())
        assert tally.replied == len(ledger.finished()) == tally.attempts <= 8


@settings(max_examples=40, deadline=None)
@given(data=st.data(), n=st.integers(1, 12), in_flight=st.integers(1, 6))
def test_whatever_fails_each_reply_stands_by_its_own_item(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, n: int, in_flight: int
) -> None:
    kinds: list[FailureKind] = ["rate limit", "timeout", "server", "cut reply", "bad request"]
    script = {
        f"item {item}": data.draw(st.lists(st.sampled_from(kinds), max_size=4), label=f"item {item}")
        for item in range(n)
    }
    word = {f"item {item}": data.draw(st.sampled_from(["yes", "no", "perhaps"])) for item in range(n)}

    def answer(text: str, time: int) -> Reply:
        if time <= len(script[text]):
            raise failing(script[text][time - 1])
        return Reply(word[text], "m", Usage(1, 0, 1))

    path = tmp_path_factory.mktemp("run")
    policy = Policy(in_flight=in_flight, attempts=3, first_wait=0.0)
    tally, rows = go(path, calls(n), Scripted(answer), policy=policy)
    for item, row in enumerate(rows):
        faults = script[f"item {item}"]
        fatal = "bad request" in faults[:3]
        if fatal or len(faults) >= 3:
            assert row["status"] in ("error", "missing")
        elif row["status"] not in ("missing", "error"):
            expected = {"yes": "yes", "no": "no", "perhaps": None}[word[f"item {item}"]]
            assert row["value"] == expected
    assert tally.attempts == tally.replied + sum(tally.failures.values())


def test_settings_are_kept_as_sent(tmp_path: Path) -> None:
    planned = calls(1, temperature=0.0)
    go(tmp_path, planned, Scripted(yes))
    with Ledger(tmp_path / "run.sqlite") as ledger:
        (attempt,) = ledger.attempts()
    assert json.loads(attempt.settings) == {"temperature": 0.0}
    assert attempt.request == planned[0].request.fingerprint


def test_a_stop_does_not_wait_for_calls_that_wait_to_be_tried_again(tmp_path: Path) -> None:
    async def go_on_for_ever(_seconds: float) -> None:
        await asyncio.Event().wait()

    def answer(text: str, time: int) -> Reply:
        if text == "item 1":
            run.stop("interrupted")
            return yes(text, time)
        raise failing("rate limit", status=429)

    with Ledger(tmp_path / "run.sqlite") as ledger:
        backend = Scripted(answer, wait=lambda text: 0.02 if text == "item 1" else 0.0)
        run = Run(calls(9), backend, ledger, read, policy=Policy(2, 5), sleep=go_on_for_ever)
        tally = asyncio.run(run())
    assert (tally.replied, sorted(backend.asked)) == (1, ["item 0", "item 1"])


def test_a_retry_after_holds_back_calls_that_were_not_begun(tmp_path: Path) -> None:
    """While one call waits as it was asked to, no other one is sent; then all are."""
    waiting: list[int] = []

    async def sleep(_seconds: float) -> None:
        await asyncio.sleep(0.05)
        waiting.append(len(backend.asked))

    def answer(text: str, time: int) -> Reply:
        if text == "item 0" and time == 1:
            raise failing("rate limit", status=429, retry_after=9.0)
        return yes(text, time)

    backend = Scripted(answer, wait=lambda text: 0.0 if text == "item 0" else 0.005)
    tally, _ = go(tmp_path, calls(40), backend, sleep=sleep, policy=Policy(4, 3, 0.0))
    assert waiting == [4]  # the four that were in flight
    assert tally.replied == 40


def test_refused_requests_are_an_outage_only_where_nothing_is_answered(tmp_path: Path) -> None:
    def answer(_text: str, _time: int) -> Reply:
        raise failing("bad request", status=400)

    backend = Scripted(answer)
    tally, _ = go(tmp_path, calls(200), backend)
    assert tally.stopped.startswith("outage")
    assert len(backend.asked) < 20


def test_text_that_no_file_can_hold_does_not_lose_a_paid_reply(tmp_path: Path) -> None:
    def answer(_text: str, _time: int) -> Reply:
        return Reply("yes \ud800", "m\udfff", refusal="", raw={"id": "\ud801"}, tokens={"\ud802": 0.5})

    tally, _ = go(tmp_path, calls(2), Scripted(answer))
    assert tally.replied == 2
