"""``evenhand simulate``: known truth, to hold an estimator against."""

import click

from evenhand.cli import simulations
from evenhand.cli.folders import FolderGroup


@click.command(
    "simulate",
    cls=FolderGroup,
    package=simulations,
    short_help="Known truth: banks, judges, and what moves a coefficient.",
)
def command() -> None:
    """Simulate banks and judges whose truth is known.

    Each simulation says what it draws and from which seed; the same seed gives the same numbers.
    """
