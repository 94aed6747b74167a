"""``evenhand check``: a gate for CI on a saved audit."""

from pathlib import Path

import click


@click.command("check", short_help="Hold a saved audit against thresholds; exit 1 when one fails.")
@click.argument("place", metavar="DIR|AUDIT.json", type=click.Path(path_type=Path))
@click.option(
    "--require",
    "requirements",
    multiple=True,
    required=True,
    metavar="'ID[.FIELD] OP NUMBER'",
    help="FIELD: estimate, ci_low, ci_high or n_used; without one the whole interval is judged. Repeat it.",
)
@click.option("--allow-undecided", is_flag=True, help="Exit 0 where an interval straddles its threshold.")
def command(place: Path, requirements: tuple[str, ...], allow_undecided: bool) -> int:
    """Judge each requirement: met when the whole interval satisfies it, failed when none of it does, else undecided.

    Any failed: exit 1. Else any undecided, undefined or absent: exit 2.

    \b
      evenhand check out --require 'accuracy[cut=5]/judge >= 0.85' --require 'cohen_kappa/judge.estimate > 0.6'
      evenhand check out --require 'equivalence[metric=leniency,quantity=inside]/judge == 1'
      evenhand check out --require 'false_accept_rate[by=author,p=holm]/judge > 0.05'
    """
    from evenhand.audits.gates import judge_requirement
    from evenhand.results import Audit

    audit = Audit.load(place)
    outcomes = [judge_requirement(audit, text) for text in requirements]
    for outcome in outcomes:
        click.echo(outcome.sentence)
    verdicts = {outcome.verdict for outcome in outcomes}
    if "failed" in verdicts:
        return 1
    unsure = verdicts - {"met"} - ({"undecided"} if allow_undecided else set())
    return 2 if unsure else 0
