"""``evenhand show``: numbers of a saved audit."""

import json
import shlex
from pathlib import Path

import click


@click.command("show", short_help="Print numbers of a saved audit, at full precision or as cards.")
@click.argument("place", metavar="DIR|AUDIT.json", type=click.Path(path_type=Path))
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with every field.")
@click.option("--card", is_flag=True, help="What the number is, about whom, from what.")
def command(place: Path, ids: tuple[str, ...], as_json: bool, card: bool) -> None:
    """Print one line per id: id, estimate, lower end, upper end, status, separated by tabs.

    Without ids all are listed. Ids hold brackets: quote them in a shell.

    \b
      evenhand show out
      evenhand show out 'accuracy[cut=5]/judge' --card
      evenhand show out 'error_rate[se=cr1]/judge' --json
      evenhand show out 'error_rate[line=11.3,p=holm]/judge' 'error_rate[contrast=others,criterion=6,interval=max_t]/judge'
    """
    from evenhand.report.card import card as card_of
    from evenhand.report.tables import full
    from evenhand.results import Audit

    audit = Audit.load(place)
    chosen = [audit[text] for text in ids] if ids else list(audit)
    for position, estimate in enumerate(chosen):
        if as_json:
            click.echo(json.dumps(estimate.model_dump(mode="json"), ensure_ascii=True, allow_nan=False))
        elif card:
            click.echo(
                ("\n" if position else "")
                + card_of(audit, estimate, f"evenhand show {shlex.quote(str(place))} {shlex.quote(estimate.id)} --card")
            )
        else:
            ends = (full(estimate.estimate), full(estimate.ci_low), full(estimate.ci_high))
            click.echo("\t".join((estimate.id, *ends, estimate.status)))
