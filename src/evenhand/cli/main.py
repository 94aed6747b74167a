"""The entry point: finds commands by their files, and turns every ending into a sentence and an exit code."""

import sys
import tempfile
import traceback
from pathlib import Path

import click

from evenhand.cli import commands
from evenhand.cli.folders import FolderGroup
from evenhand.errors import EvenhandError, printable

_REQUEST = 2
_FAULT = 70
_INTERRUPTED = 130
_NO_READER = 141
"""As a shell says of a command whose output nobody reads any more; never 0 or 1, which would speak of a gate."""


@click.command(
    cls=FolderGroup,
    package=commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(package_name="evenhand")
def evenhand() -> None:
    """Measure a language model as a judge or grader, and say what each number is about.

    First contact:  evenhand demo

    Your own file:  evenhand audit verdicts.csv --out out

    Exit codes: 0 done · 1 a gate failed · 2 the request or the data cannot carry it · 3 an outside service failed · 70 a
    fault of ours · 130 interrupted.
    """


def main() -> None:
    """Run a command; never show a traceback."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    try:
        result = evenhand.main(args=arguments, prog_name="evenhand", standalone_mode=False)
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.exceptions.NoArgsIsHelpError as problem:
        click.echo(problem.format_message(), err=True)
        return _REQUEST
    except click.ClickException as problem:
        _say(_usage(problem))
        return _REQUEST
    except EvenhandError as problem:
        _say(str(problem))
        return problem.exit_code
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted; nothing was written")
        return _INTERRUPTED
    except (BrokenPipeError, SystemExit):  # the latter is how click ends when the reader went away
        _silence_stdout()
        return _NO_READER
    except Exception as fault:  # noqa: BLE001  the outermost frame: a fault of ours becomes a sentence and a file
        return _report_fault(fault)
    return result if isinstance(result, int) else 0


def _say(words: str) -> None:
    """One message on stderr, free of control characters whatever it quotes."""
    click.echo(f"error: {printable(words)}", err=True)


def _usage(problem: click.ClickException) -> str:
    said = " ".join(problem.format_message().split())
    context = problem.ctx if isinstance(problem, click.UsageError) else None
    return said + (f" (see {context.command_path} --help)" if context else "")


def _silence_stdout() -> None:
    """The reader of our output went away: let the interpreter's last flush go nowhere."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_fault(fault: Exception) -> int:
    with tempfile.NamedTemporaryFile(
        "w", prefix="evenhand-fault-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        traceback.print_exception(fault, file=file)
    _say(
        f"a fault of evenhand's own ({type(fault).__name__}). No result was written. "
        f"The details are in {Path(file.name)}: please report them with the command you ran"
    )
    return _FAULT
