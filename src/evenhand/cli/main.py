"""The entry point: finds commands by their files, and turns every ending into a sentence and an exit code."""

import importlib
import pkgutil
import sys
import tempfile
import traceback
from pathlib import Path

import click

from evenhand.cli import commands
from evenhand.errors import EvenhandError

_FAULT = 70
_INTERRUPTED = 130


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(module.name for module in pkgutil.iter_modules(commands.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"{commands.__name__}.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from evenhand.errors import did_you_mean

        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as problem:
            raise click.UsageError(
                problem.message.rstrip(".") + did_you_mean(args[0], self.list_commands(ctx)), ctx
            ) from None


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
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
    except click.UsageError as problem:
        problem.show()
        return 2
    except click.ClickException as problem:
        problem.show()
        return 2
    except EvenhandError as problem:
        click.echo(f"error: {problem}", err=True)
        return problem.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return _INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return 0
    except Exception as fault:  # noqa: BLE001  the outermost frame: a fault of ours becomes a sentence and a file
        return _report_fault(fault)
    return result if isinstance(result, int) else 0


def _silence_stdout() -> None:
    """The reader of our output went away: let the interpreter's last flush go nowhere."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_fault(fault: Exception) -> int:
    with tempfile.NamedTemporaryFile(
        "w", prefix="evenhand-fault-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        traceback.print_exception(fault, file=file)
    click.echo(
        f"error: a fault of evenhand's own ({type(fault).__name__}). Nothing was written. "
        f"The details are in {Path(file.name)}: please report them with the command you ran",
        err=True,
    )
    return _FAULT
