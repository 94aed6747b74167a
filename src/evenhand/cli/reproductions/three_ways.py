"""``evenhand reproduce three-ways``: every number of Zhu (2026) that its data and seeds determine."""

from pathlib import Path

import click


@click.command("three-ways", short_help="Every number and figure of Zhu (2026) on test theory and judges.")
@click.option(
    "--bank", type=click.Path(path_type=Path), metavar="FILE.csv", help="The published judge_item_bank.csv, with texts."
)
@click.option("--json", "as_document", is_flag=True, help="One JSON document instead of text.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.json", help="Save the document as well.")
@click.option(
    "--figures", type=click.Path(path_type=Path), metavar="DIR", help="Draw figures 2, A.1 and A.2 as SVG files."
)
def command(bank: Path | None, as_document: bool, out: Path | None, figures: Path | None) -> None:
    """Recompute "Three Ways Classical Test Theory Can Mislead About LLM Judges" with the functions of an audit.

    The 0/1 matrix comes along; lines about texts need the published file as --bank. Numbers of the bank are compared to their
    printed digits, simulated grids to their Monte-Carlo error. Exit code 1 when a line does not match, with its name.

    \b
      evenhand reproduce three-ways
      evenhand reproduce three-ways --bank judge_item_bank.csv --figures figures
    """
    from evenhand.cli.reproducing import finish, write_figures
    from evenhand.reproducing.three_ways import SOURCE, read_study

    study = read_study(bank)
    lines = list(study.lines())
    if figures is not None:
        from evenhand.reproducing.three_ways_figures import figures as drawn

        write_figures(list(drawn(study.numbers)), figures)
    finish(SOURCE, lines, as_document=as_document, out=out)
