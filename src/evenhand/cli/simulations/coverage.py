"""``evenhand simulate coverage``: how often the intervals hold the truth."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evenhand.simulate.coverage_table import CoverageTable

_INTERRUPTED = 130
_WORST = 12
"""Failing statistics listed on the terminal; all are in the JSON file."""


@click.command("coverage", short_help="Share of intervals that hold the truth, by statistic and design.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Folder for coverage.csv and coverage.json.",
)
@click.option(
    "--banks", "n_banks", type=int, default=2_000, show_default=True, metavar="N", help="Simulated banks a cell."
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, metavar="N", help="Of all draws.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes; the numbers do not depend on it.",
)
@click.option(
    "--statistic",
    "statistics",
    multiple=True,
    metavar="ID",
    help="Only this one, as in an audit's ids; may be repeated.",
)
@click.option(
    "--interval",
    "method",
    default="default",
    show_default=True,
    metavar="METHOD",
    help="As in evenhand audit --interval.",
)
def command(out: Path, n_banks: int, seed: int, jobs: int, statistics: tuple[str, ...], method: str) -> None:
    """Simulate banks whose truth is known and count the 95 % intervals that hold it.

    Designs are 5 to 100 clusters, equal or unequal (coefficient of variation 1.3), three sets of base rates and three
    intraclass correlations; all statistics share each bank. A cell fails when its 99 % Monte-Carlo interval lies outside
    93 to 97 %. A study that is stopped goes on where it was when it is started again with the same options.

    \b
      evenhand simulate coverage --out coverage --jobs 2
      evenhand simulate coverage --out quick --banks 200 --statistic cohen_kappa/judge
    """  # fmt: skip
    from evenhand.simulate.coverage import designs
    from evenhand.simulate.coverage_study import Study, run_study

    study, started = Study(n_banks, seed, statistics, method), time.monotonic()
    with click.progressbar(length=len(designs()), label="designs", file=sys.stderr, show_pos=True) as bar:
        try:
            table = run_study(study, out, jobs=jobs, told=lambda done, _of, _name: bar.update(done - bar.pos))
        except KeyboardInterrupt:
            click.echo("\ninterrupted; designs that are done are kept: the same command goes on from there", err=True)
            raise click.exceptions.Exit(_INTERRUPTED) from None
    click.echo(_summary(table, out, time.monotonic() - started))


def _summary(table: "CoverageTable", out: Path, seconds: float) -> str:
    from evenhand.errors import printable
    from evenhand.simulate.coverage_study import CELLS_FILE, FACTS_FILE, LEAST_CLUSTERS, failing

    at_least = [cell for cell in table.cells if cell.design.clusters >= LEAST_CLUSTERS]
    short = [cell for cell in at_least if cell.failing == "short"]
    wide = [cell for cell in at_least if cell.failing == "wide"]
    with_more = f"with {LEAST_CLUSTERS} clusters or more {len(at_least):,}"
    lines = [
        f"cells   {len(table.cells):,} in {seconds:,.0f} s; {with_more}: {len(short):,} below 93 %, {len(wide):,} above 97 %"
    ]
    found = sorted(failing(short).items(), key=lambda entry: float(str(entry[1]["lowest"])))
    for name, entry in found[:_WORST]:
        lines.append(f"short   {name}: {entry['short']} cell(s), the lowest {100 * float(str(entry['lowest'])):.1f} %")
    if len(found) > _WORST:
        lines.append(f"        and {len(found) - _WORST} more statistics: failing in {FACTS_FILE}")
    return "\n".join([*lines, f"wrote   {printable(str(out))}: {CELLS_FILE}, {FACTS_FILE}"])
