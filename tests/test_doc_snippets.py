"""README's Python runs, its commands parse, and its first two code blocks are the ones newcomers and CI rely on."""

import re
import shlex
from pathlib import Path

import pytest

from evenhand.cli.main import evenhand as group

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    line
    for language, text in BLOCKS
    if language == ""
    for line in text.replace("\\\n", " ").splitlines()
    if line.startswith("evenhand ")
]


def test_first_block_is_the_clone_to_report_line() -> None:
    assert BLOCKS[0][1].strip() == "python3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/evenhand demo"


def test_second_block_is_the_test_line() -> None:
    assert BLOCKS[1][1].strip().endswith(".venv/bin/python -m pytest")


@pytest.mark.parametrize("code", [text for language, text in BLOCKS if language == "python"])
def test_python_blocks_run(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    assert "judge" in capsys.readouterr().out


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_parse(line: str) -> None:
    name, *arguments = shlex.split(line)[1:]
    command = group.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None, name
    command.make_context(name, arguments)


def test_no_machine_paths_or_hosts_in_tracked_text() -> None:
    for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "pyproject.toml", "requirements-dev.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert f"/{'work'}/" not in text, name
        assert "index-url" not in text, name
