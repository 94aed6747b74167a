"""Shared by all tests: files to audit, and the command run in this process with its manners checked."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from evenhand.cli.main import run
from terminal_text import raw_controls

settings.register_profile(
    "steady", deadline=None, derandomize=True
)  # how fast is no property, and a gate gives one answer
settings.register_profile("search", deadline=None)  # pytest --hypothesis-profile=search draws anew
settings.load_profile("steady")


@dataclass(frozen=True)
class Ending:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err


Write = Callable[..., Path]
Command = Callable[..., Ending]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A file in the test's own folder, from text or bytes."""

    def written(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """The command line in this process and the test's folder; whatever it says is no traceback and safe in a terminal."""
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: object) -> Ending:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        assert "Traceback" not in said.out + said.err
        assert raw_controls(said.out + said.err) == []
        return Ending(code, said.out, said.err)

    return ran


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every path below a folder, with the bytes of files."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def refused(command: Command, tmp_path: Path) -> Command:
    """A command that must end with exit code 2, one sentence with these words, and every file as it was."""

    def ran(*arguments: object, says: tuple[str, ...] | str = ()) -> Ending:
        before = tree(tmp_path)
        ending = command(*arguments)
        assert ending.code == 2, ending.said
        assert ending.out == ""
        assert ending.err.startswith("error: ")
        assert ending.err.count("\n") == 1
        for words in (says,) if isinstance(says, str) else says:
            assert words in ending.err
        assert tree(tmp_path) == before
        return ending

    return ran
