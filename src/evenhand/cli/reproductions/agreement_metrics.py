"""``evenhand reproduce agreement-metrics``: the worked examples and identities of Rao and Callison-Burch (2026)."""

from pathlib import Path

import click


@click.command("agreement-metrics", short_help="Worked examples and identities of Rao and Callison-Burch (2026).")
@click.option("--json", "as_document", is_flag=True, help="One JSON document instead of text.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.json", help="Save the document as well.")
def command(as_document: bool, out: Path | None) -> None:
    """Recompute what "Agreement Metrics for LLM-as-Judge Evaluation" (arXiv 2606.00093) prints, with an audit's functions.

    Numbers are compared to their printed digits; identities are checked on random tables from a fixed seed. Three
    slips of the text are shown for what they are. Exit code 1 when a line that should match does not.

    \b
      evenhand reproduce agreement-metrics
      evenhand reproduce agreement-metrics --json
    """
    from evenhand.cli.reproducing import finish
    from evenhand.reproducing.agreement_metrics import SOURCE, agreement_metrics

    finish(SOURCE, agreement_metrics(), as_document=as_document, out=out)
