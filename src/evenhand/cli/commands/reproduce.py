"""``evenhand reproduce``: published numbers beside recomputed ones."""

import click

from evenhand.cli import reproductions
from evenhand.cli.folders import FolderGroup


@click.command(
    "reproduce",
    cls=FolderGroup,
    package=reproductions,
    short_help="Published numbers beside recomputed ones, a verdict a line.",
)
def command() -> None:
    """Recompute the numbers of a source with the functions that an audit uses.

    Each line names its place, the published text and the recomputed value, and says exact, within Monte-Carlo error, or
    how it differs. Exit code 1 when a line that should match does not.
    """
