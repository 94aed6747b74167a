"""Every ending of a command is a sentence and an exit code."""

import re
from pathlib import Path

import click
import pytest

from evenhand.cli import main
from evenhand.errors import EvenhandError, UnmetRequirementError


@pytest.fixture
def ending_with(command, monkeypatch):
    """The command line, its work replaced by an exception."""

    def ran(problem: BaseException):
        def raised(**_: object) -> None:
            raise problem

        monkeypatch.setattr(main.evenhand, "main", raised)
        return command("audit")

    return ran


@pytest.mark.parametrize(
    ("problem", "code", "words"),
    [
        (EvenhandError("the data cannot carry it"), 2, "error: the data cannot carry it\n"),
        (EvenhandError("a\nb\x1b[2J"), 2, "error: a\\nb\\x1b[2J\n"),
        (UnmetRequirementError("unmet"), 1, "error: unmet\n"),
        (click.UsageError("no such option"), 2, "error: no such option\n"),
        (click.Abort(), 130, "error: interrupted; nothing was written\n"),
        (KeyboardInterrupt(), 130, "error: interrupted; nothing was written\n"),
        (click.exceptions.Exit(0), 0, ""),
    ],
)
def test_endings(ending_with, problem, code, words):
    ending = ending_with(problem)
    assert (ending.code, ending.err, ending.out) == (code, words, "")


def test_a_fault_of_ours_goes_to_a_file(ending_with):
    ending = ending_with(ZeroDivisionError("secret detail"))
    assert ending.code == 70
    assert "a fault of evenhand's own (ZeroDivisionError)" in ending.err
    assert "secret detail" not in ending.err
    found = re.search(r"in (\S+\.txt):", ending.err)
    assert found
    path = Path(found[1])
    assert "ZeroDivisionError: secret detail" in path.read_text(encoding="utf-8")
    path.unlink()


def test_every_command_is_found_by_its_file(command):
    commands = set(main.evenhand.list_commands(click.Context(main.evenhand)))
    assert {"audit", "check", "demo", "report", "show"} <= commands
    for name in commands:
        ending = command(name, "--help")
        assert ending.code == 0
        assert "Usage: evenhand" in ending.out


def test_version(command):
    assert re.fullmatch(r"evenhand, version \d+\.\d+\.\d+\n", command("--version").out)
