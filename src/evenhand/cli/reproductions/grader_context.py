"""``evenhand reproduce grader-context``: what a study of graders told about the student fixes by its text."""

from pathlib import Path

import click


@click.command("grader-context", short_help="Arithmetic and rules of a study of graders told about the student.")
@click.option(
    "--replay",
    "is_replay",
    is_flag=True,
    help="Replay the study on graders with planted effects: does an audit find them?",
)
@click.option("--seed", type=int, metavar="N", help="With --replay: of bank and marks.")
@click.option("--json", "as_document", is_flag=True, help="One JSON document instead of text.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.json", help="Save the document as well.")
def command(is_replay: bool, seed: int | None, as_document: bool, out: Path | None) -> None:
    """Recompute what the study's printed numbers, formulas and rules determine: offsets in QWK, verdicts, the loop.

    Its marks are not at hand: what only they or its code would give is named as not determined. Exit code 1 when a
    line that should match does not.

    With --replay graders with known effects mark a bank of the study's shape (300 answers by 33 learners, 600 with examples),
    the marks are audited, and every line says what was planted and what the audit makes of it. Exit code 1 when one is missed.

    \b
      evenhand reproduce grader-context
      evenhand reproduce grader-context --json
      evenhand reproduce grader-context --replay
    """
    from evenhand.cli.reproducing import finish
    from evenhand.errors import RequestError

    if is_replay:
        from evenhand.reproducing import grader_context_replay as planted

        lines = planted.replay(planted.SEED if seed is None else seed)
        finish(planted.SOURCE, lines, as_document=as_document, out=out)
        return
    if seed is not None:
        raise RequestError("--seed is of the marks that --replay plants: say --replay, or leave --seed out")
    from evenhand.reproducing.grader_context import SOURCE, grader_context

    finish(SOURCE, grader_context(), as_document=as_document, out=out)
