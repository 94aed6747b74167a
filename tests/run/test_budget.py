"""A budget against a real server: whatever it counts, it is passed by no more than the calls in flight."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback import Answer, Body, serving
from studies import study

from evenhand.design.calls import load_design
from evenhand.design.request import Message, PlannedCall, Request
from evenhand.run.backend import Usage
from evenhand.run.budget import Budget, Purse, Tally
from evenhand.run.prices import NO_PRICES, Price, Prices
from evenhand.run.running import run_design

pytest.importorskip("httpx2", reason="the HTTP client is an extra: pip install 'evenhand[run]'")
PRICES = 'date = "a day"\ncurrency = "USD"\n[models.small]\ninput = 1000000.0\noutput = 1000000.0\n'
"""One a token, so that money counts tokens."""


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    what=st.sampled_from(["calls", "tokens", "money"]),
    most=st.integers(0, 400),
    in_flight=st.integers(1, 12),
    reply=st.integers(1, 60),
    bounded=st.booleans(),
    failing=st.integers(1, 5),
)
def test_no_budget_is_passed_by_more_than_the_calls_in_flight(
    tmp_path_factory: pytest.TempPathFactory,
    what: str,
    most: int,
    in_flight: int,
    reply: int,
    bounded: bool,
    failing: int,
) -> None:
    """Slow replies of a length that no setting may bound, some failing; tokens and money may be passed by what is in flight, calls never."""
    folder = tmp_path_factory.mktemp("budget")

    def script(body: Body, number: int) -> Answer:
        return (
            Answer(status=500, seconds=0.01)
            if number % failing == failing - 1 and failing > 1
            else Answer(seconds=0.01)
        )

    with serving(script) as server:
        server.completion_tokens = reply
        settings_sent = f"settings = {{ max_tokens = {reply} }}" if bounded else ""
        plan = study(
            folder / "study",
            25,
            judge=f'base_url = "{server.url}"\n{settings_sent}',
            more=f"attempts = 2\n[budget]\n{what} = {most}",
            top='prices = "prices.toml"',
        )
        (folder / "study" / "prices.toml").write_text(PRICES)
        found = run_design(load_design(plan), folder / "out", in_flight=in_flight)
        one = (
            max((sum(len(str(m["content"]).split()) for m in body["messages"]) for body in server.asked), default=0)
            + reply
        )
        taken = {"calls": len(server.asked), "tokens": found.tally.tokens, "money": found.tally.money}[what]
        assert server.most_open <= in_flight
        assert taken <= most + (0 if what == "calls" or bounded else in_flight * one)
        assert found.tally.attempts == len(server.asked)


def call(n_characters: int = 300, **more: object) -> PlannedCall:
    return PlannedCall(0, {}, Request("loop", "m", (Message("user", "x" * n_characters),), more))  # type: ignore[arg-type]


def test_what_is_expected_is_the_prompt_and_the_longest_reply() -> None:
    purse = Purse(Budget(), Prices("", "", {"m": Price(1e6, 2e6, 0.0)}), Tally())
    assert (purse.expected(call(max_tokens=10)).tokens, purse.expected(call(max_tokens=10)).money) == (126, 136)
    assert purse.expected(call(max_completion_tokens=20)).tokens == 136
    assert purse.expected(call()).tokens == 116 + 512
    purse.spend("m", Usage(100, 0, 40), purse.set_aside(call()), replied=True)
    assert purse.expected(call()).tokens == 116 + 40


def test_calls_in_flight_are_set_aside_and_given_back() -> None:
    tally = Tally()
    purse = Purse(Budget(tokens=300), NO_PRICES, tally)
    first = purse.set_aside(call(max_tokens=10))
    second = purse.set_aside(call(max_tokens=10))
    assert "300 tokens" in purse.refusal(call(max_tokens=10))
    purse.give_back(first)
    purse.give_back(second)
    assert purse.refusal(call(max_tokens=10)) == ""
    assert tally.attempts == 2


def test_a_server_that_counts_no_tokens_does_not_lift_a_budget_of_tokens() -> None:
    purse = Purse(Budget(tokens=300), NO_PRICES, Tally())
    for _ in range(2):
        expected = purse.set_aside(call(max_tokens=10))
        purse.give_back(expected)
        purse.spend("m", Usage(), expected, replied=True)
    assert purse.refusal(call(max_tokens=10))


@given(most=st.integers(0, 1000), of=st.integers(1, 50))
def test_parts_of_a_budget_add_up_to_no_more_than_it(most: int, of: int) -> None:
    part = Budget(most, most, most).part(of)
    assert part.calls * of <= most
    assert part.tokens * of <= most + 1e-9
    assert math.isinf(Budget().part(of).calls)
