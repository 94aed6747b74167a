"""Progress of long work on stderr: a bar on a terminal, a plain line now and then elsewhere, nothing where it is short."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

if TYPE_CHECKING:
    from evenhand.run.budget import Tally

_FIRST, _EVERY, _PLAIN_EVERY = 1.0, 0.2, 30.0
"""Seconds before the first word, between two states of a bar, and between two plain lines."""


class RunProgress:
    """Calls done, what they took, and when the rest will be."""

    def __init__(self, n_calls: int) -> None:
        """Nothing is shown until the work has taken a moment."""
        self._n, self._started, self._shown = n_calls, time.monotonic(), 0.0
        self._bar = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, problem, trace
        if self._bar and self._shown:
            click.echo("", err=True)

    def __call__(self, tally: "Tally") -> None:
        """Show where a run stands, if it is time to."""
        now = time.monotonic()
        if now - self._started < _FIRST or now - self._shown < (_EVERY if self._bar else _PLAIN_EVERY):
            return
        self._shown = now
        click.echo(self._line(tally, now), err=True, nl=not self._bar)

    def _line(self, tally: "Tally", now: float) -> str:
        done = tally.kept + tally.replied
        rate = tally.replied / max(now - self._started, 1e-9)
        left = (self._n - done) / rate if rate > 0 else float("inf")
        eta = f", {_clock(left)} left" if left < 1e6 else ""
        money = f", {tally.money:,.4f} spent" if tally.money else ""
        failed = f", {sum(tally.failures.values()):,} failed attempts" if tally.failures else ""
        said = f"{done:,} of {self._n:,} calls{failed}, {tally.tokens:,} tokens{money}{eta}"
        if not self._bar:
            return said
        width = 24
        filled = int(width * done / max(self._n, 1))
        return f"\r{'█' * filled}{'░' * (width - filled)} {said}\x1b[K"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
