"""``evenhand audit``: verdicts in, a report out."""

from pathlib import Path
from typing import Any

import click

from evenhand.cli.options import given, spec_options


@click.command("audit", short_help="Verdicts in, a report out: agreement, error rates, what each number is about.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder for the report, audit.json and tables."
)
@click.option("--explain", is_flag=True, help="Print the reading, what it supports and what it lacks; write nothing.")
@click.option(
    "--labels", type=click.Path(path_type=Path), metavar="FILE", help="Reference labels, joined on the response id."
)
@click.option(
    "--spec", type=click.Path(path_type=Path), metavar="FILE.toml", help="A saved mapping; options override it."
)
@click.option(
    "--write-spec", type=click.Path(path_type=Path), metavar="FILE.toml", help="Save the mapping as it was read."
)
@click.option("--strict", is_flag=True, help="Refuse when any verdict is excluded.")
@spec_options
def command(
    sources: tuple[str, ...],
    out: Path | None,
    explain: bool,
    labels: Path | None,
    spec: Path | None,
    write_spec: Path | None,
    strict: bool,
    **options: Any,
) -> None:
    """Audit the verdicts in one or more files: CSV, JSON, JSON lines, Parquet or Arrow.

    A recognised layout needs no mapping: a response id, a judge and a reference column, or one column a criterion
    (gold_1, judge_1, gold_2, ...). See how a file is read before anything else:

    \b
      evenhand audit verdicts.csv --explain
      evenhand audit verdicts.csv --cluster question --out out
      evenhand audit judge.csv --labels human.csv --out out
      evenhand audit bank.csv --reference 'gold_e{criterion}' --judge 'judge_e{criterion}' --cut 4,5 --out out
    """
    from evenhand.api import complete_spec
    from evenhand.cli.running import explain_sources, run_to_folder
    from evenhand.errors import RequestError

    chosen = complete_spec(spec, given(options))
    if explain:
        if write_spec is not None:
            raise RequestError(
                "--explain writes nothing: leave --write-spec out, or give --out DIR in place of --explain"
            )
        click.echo(explain_sources(sources, chosen, labels))
        return
    if out is None:
        raise RequestError("say where the report goes: --out DIR (or --explain to see only how the file is read)")
    click.echo(run_to_folder(sources, chosen, labels, out, write_spec=write_spec, strict=strict))
