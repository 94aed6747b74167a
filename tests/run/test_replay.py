"""Replays: the replies of a ledger as the same observations of a design, without a call and without a cost."""

from pathlib import Path

import pytest
from loopback import Answer, Body, serving
from studies import item, study

from evenhand.design.calls import load_design
from evenhand.errors import RequestError
from evenhand.run.backend import Reply, Usage
from evenhand.run.closing import read_attempts
from evenhand.run.running import run_design
from evenhand.verdicts.engine import Engine


def rows(path: Path) -> list[tuple[object, ...]]:
    with Engine() as engine:
        return engine.rows("SELECT response_id, occasion, value, status FROM read_parquet(?)", [str(path)])


def test_a_replay_reads_the_same_and_costs_nothing(tmp_path: Path) -> None:
    """Occasions that differ, a refusal, a reply that is unparsed: the verdicts are equal, whatever the judge is called now."""

    def script(body: Body, number: int) -> Answer:
        name = item(body["messages"][0]["content"])
        more = {"refusal": "I cannot"} if name == "r2" else {}
        return Answer("perhaps" if name == "r1" else ("yes", "no")[number % 2], more=more)

    with serving(script) as server:
        first = study(tmp_path / "study", 4, judge=f'base_url = "{server.url}"', occasions=3)
        original = run_design(load_design(first), tmp_path / "out", in_flight=1)
        replayed = f'base_url = "{server.url}"\nbackend = "replay"\nreplies = "../out/ledger.parquet"'
        second = study(tmp_path / "again", 4, judge=replayed, occasions=3)
        second.write_text(
            second.read_text(encoding="utf-8").replace('name = "judge"', 'name = "renamed"'), encoding="utf-8"
        )
        n_asked = len(server.asked)
        found = run_design(load_design(second), tmp_path / "replayed")
    assert len(server.asked) == n_asked
    assert rows(found.verdicts) == rows(original.verdicts)
    assert {row[3] for row in rows(found.verdicts)} == {"scored", "unparsed", "refused"}
    assert (found.tally.tokens, found.tally.money) == (0, 0.0)


def test_responses_with_the_same_text_keep_their_own_replies(tmp_path: Path) -> None:
    plan = study(tmp_path / "study", 4)
    (tmp_path / "study" / "bank.csv").write_text(
        "response_id,answer,gold\n" + "".join(f"r{n},the same,yes\n" for n in range(4))
    )
    replies = iter(["yes", "no", "no", "yes"])
    original = run_design(load_design(plan), tmp_path / "out", judges={"judge": lambda _r: next(replies)}, in_flight=1)
    plan.write_text(
        plan.read_text(encoding="utf-8").replace(
            'model = "small"', 'model = "small"\nbackend = "replay"\nreplies = "../out/ledger.parquet"'
        ),
        encoding="utf-8",
    )
    found = run_design(load_design(plan), tmp_path / "replayed")
    assert rows(found.verdicts) == rows(original.verdicts)


def test_probabilities_of_the_first_token_are_read_and_replayed(tmp_path: Path) -> None:
    """parse = "tokens" reads what the provider reports beside the text."""

    def judge(request: object) -> Reply:
        return Reply("yes", "small", Usage(1, 0, 1), tokens={"no": 0.7, "yes": 0.3})

    plan = study(tmp_path / "study", 2)
    text = plan.read_text(encoding="utf-8").replace('parse = "yes-no"', 'parse = "tokens"')
    text = text.replace('kind = "binary"', 'kind = "binary"\nlevels = ["no", "yes"]')
    plan.write_text(text, encoding="utf-8")
    original = run_design(load_design(plan), tmp_path / "out", judges={"judge": judge})
    assert {row[2] for row in rows(original.verdicts)} == {"no"}
    plan.write_text(
        text.replace('model = "small"', 'model = "small"\nbackend = "replay"\nreplies = "../out/ledger.parquet"'),
        encoding="utf-8",
    )
    found = run_design(load_design(plan), tmp_path / "replayed")
    assert rows(found.verdicts) == rows(original.verdicts)
    assert [one.confidence for one in read_attempts(tmp_path / "replayed" / "ledger.parquet")] == pytest.approx(
        [0.7, 0.7]
    )


def test_a_request_that_was_never_sent_has_no_reply(tmp_path: Path) -> None:
    plan = study(tmp_path / "study", 2)
    run_design(load_design(plan), tmp_path / "out", judges={"judge": lambda _request: "yes"})
    replayed = study(tmp_path / "more", 3, judge='backend = "replay"\nreplies = "../out/ledger.parquet"')
    found = run_design(load_design(replayed), tmp_path / "replayed")
    assert [row[3] for row in rows(found.verdicts)] == ["scored", "scored", "error"]


def test_a_ledger_that_is_not_there_is_named(tmp_path: Path) -> None:
    plan = study(tmp_path / "study", 1, judge='backend = "replay"\nreplies = "nowhere.parquet"')
    with pytest.raises(RequestError, match=r"there is no .*nowhere\.parquet"):
        run_design(load_design(plan), tmp_path / "out")
