"""``evenhand convert``: any source as one table of single verdicts."""

from pathlib import Path
from typing import Any

import click

from evenhand.cli.options import given, spec_options


@click.command("convert", short_help="Any source as one table of verdicts: one row a verdict, nothing coerced.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--to", type=click.Path(path_type=Path), metavar="FILE", help="A .parquet, .csv or .jsonl file to write.")
@click.option("--explain-row", type=int, metavar="N", help="Tell what became of row N of the files; write nothing.")
@click.option(
    "--labels", type=click.Path(path_type=Path), metavar="FILE", help="Reference labels, joined on the response id."
)
@click.option(
    "--spec", type=click.Path(path_type=Path), metavar="FILE.toml", help="A saved mapping; options override it."
)
@click.option("--strict", is_flag=True, help="Refuse when a row is left out or a verdict is not scored.")
@spec_options
def command(
    sources: tuple[str, ...],
    to: Path | None,
    explain_row: int | None,
    labels: Path | None,
    spec: Path | None,
    strict: bool,
    **options: Any,
) -> None:
    """Convert the verdicts of files or logs to one row a verdict of one rater: value, status and reason, with the raw value and
    its source row. A converted file audits to the same numbers as its sources, without a mapping where it is Parquet.

    \b
      evenhand convert log.eval --to verdicts.parquet
      evenhand convert judge.csv --labels human.csv --to verdicts.csv
      evenhand convert judge.csv --labels human.csv --explain-row 7
      evenhand convert replies.csv --judge reply --parse grade --to verdicts.parquet
    """
    from evenhand.api import complete_spec
    from evenhand.cli.running import convert_to_file, explain_source_row
    from evenhand.errors import RequestError

    chosen = complete_spec(spec, given(options))
    if explain_row is not None:
        if to is not None:
            raise RequestError("--explain-row writes nothing: leave --to out, or run convert twice")
        click.echo(explain_source_row(sources, chosen, labels, explain_row))
        return
    if to is None:
        raise RequestError("say where the table goes: --to FILE.parquet (or .csv, .jsonl), or --explain-row N")
    click.echo(convert_to_file(sources, chosen, labels, to, strict=strict))
