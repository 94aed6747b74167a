"""A run that is killed at any moment: nothing finished is asked again, nothing is lost, and the end is the same."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from loopback import Answer, Body, serving

from evenhand.run.closing import read_attempts

pytest.importorskip("httpx2", reason="the HTTP client is an extra: pip install 'evenhand[run]'")

COMMAND = [sys.executable, "-c", "from evenhand.cli.main import main; main()"]
PLAN = """
[bank]
responses = "bank.csv"
text = ["answer"]
reference = "gold"
[scale]
kind = "binary"
[reply]
parse = "yes-no"
[[judge]]
name = "loop"
model = "small"
base_url = "{url}"
[[phrasing]]
name = "plain"
template = "plain.txt"
[run]
in_flight = 8
first_wait = 0.01
"""


def prepare(folder: Path, url: str, n: int) -> Path:
    folder.mkdir()
    rows = [f"r{number},answer number {number},{number % 2}" for number in range(n)]
    (folder / "bank.csv").write_text("\n".join(["response_id,answer,gold", *rows]) + "\n")
    (folder / "plain.txt").write_text("Is this met?\n{{ response }}\n")
    (folder / "plan.toml").write_text(PLAN.format(url=url))
    return folder / "plan.toml"


def script(body: Body, _number: int) -> Answer:
    text = body["messages"][0]["content"]
    number = int(text.split("answer number ")[1].split()[0])
    return Answer("yes" if number % 3 else "no", seconds=0.004)


def item(body: Body) -> str:
    return "r" + str(body["messages"][0]["content"]).split("answer number ")[1].split()[0]


def committed(path: Path) -> set[str]:
    """Responses with a committed reply, read from a copy as the killed process left it."""
    if not path.exists():
        return set()
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute(
            "SELECT json_extract(labels, '$.response_id') FROM attempts WHERE outcome = 'replied'"
        )
        return {row[0] for row in rows}
    except sqlite3.OperationalError:  # killed before the tables were made
        return set()
    finally:
        connection.close()


def survive(folder: Path, seed: int, kills: int, n: int) -> None:
    rng = random.Random(seed)
    with serving(script) as server:
        plan = prepare(folder, server.url, n)
        command = [*COMMAND, "run", str(plan), "--out", str(folder / "out")]
        environment = {**os.environ, "OPENAI_API_KEY": "sk-secret-0123456789"}
        finished: set[str] = set()
        for _ in range(kills):
            before = len(server.asked)
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            patience = time.monotonic() + 30
            target = before + rng.randrange(1, max(2, n // kills))
            while len(server.asked) < target and process.poll() is None and time.monotonic() < patience:
                time.sleep(0.001)
            time.sleep(rng.random() * 0.02)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            again = {item(body) for body in server.asked[before:]} & finished
            assert not again, f"asked again though finished: {sorted(again)[:5]}"
            finished |= committed(folder / "out" / "run.sqlite")
        before = len(server.asked)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert not {item(body) for body in server.asked[before:]} & finished
        attempts = list(read_attempts(folder / "out" / "ledger.parquet"))
        replies = Counter(one.labels["response_id"] for one in attempts if one.outcome == "replied")
        assert replies == Counter({f"r{number}": 1 for number in range(n)})
        for path in (folder / "out").iterdir():
            assert b"sk-secret" not in path.read_bytes()
        assert "sk-secret" not in done.stdout + done.stderr
        assert not (folder / "out" / "run.sqlite").exists()


def verdicts(folder: Path) -> list[tuple[object, ...]]:
    from evenhand.verdicts.engine import Engine

    with Engine() as engine:
        return engine.rows(
            "SELECT response_id, value, status, reference, occasion, phrasing, arm FROM read_parquet(?)",
            [str(folder / "out" / "verdicts.parquet")],
        )


def test_five_kills_lose_and_repeat_nothing(tmp_path: Path) -> None:
    survive(tmp_path / "killed", seed=1, kills=5, n=120)
    survive(tmp_path / "whole", seed=2, kills=0, n=120)
    assert verdicts(tmp_path / "killed") == verdicts(tmp_path / "whole")


@pytest.mark.slow
def test_fifty_kills_lose_and_repeat_nothing(tmp_path: Path) -> None:
    survive(tmp_path / "killed", seed=3, kills=50, n=500)
    survive(tmp_path / "whole", seed=4, kills=0, n=500)
    assert verdicts(tmp_path / "killed") == verdicts(tmp_path / "whole")
