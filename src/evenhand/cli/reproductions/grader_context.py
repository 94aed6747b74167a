"""``evenhand reproduce grader-context``: what a study of graders told about the student fixes by its text."""

from pathlib import Path

import click


@click.command("grader-context", short_help="Arithmetic and rules of a study of graders told about the student.")
@click.option("--json", "as_document", is_flag=True, help="One JSON document instead of text.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.json", help="Save the document as well.")
def command(as_document: bool, out: Path | None) -> None:
    """Recompute what the study's printed numbers, formulas and rules determine: offsets in QWK, verdicts, the loop.

    Its marks are not at hand: what only they or its code would give is named as not determined. Exit code 1 when a
    line that should match does not.

    \b
      evenhand reproduce grader-context
      evenhand reproduce grader-context --json
    """
    from evenhand.cli.reproducing import finish
    from evenhand.reproducing.grader_context import SOURCE, grader_context

    finish(SOURCE, grader_context(), as_document=as_document, out=out)
