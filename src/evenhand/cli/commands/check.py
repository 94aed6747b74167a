"""``evenhand check``: a gate for CI on a saved audit, by itself or against earlier ones."""

from pathlib import Path

import click


@click.command("check", short_help="Hold a saved audit against thresholds or earlier audits; exit 1 when one fails.")
@click.argument("place", metavar="DIR|AUDIT.json", type=click.Path(path_type=Path))
@click.option(
    "--require",
    "requirements",
    multiple=True,
    metavar="'ID[.FIELD] OP NUMBER'",
    help="FIELD: estimate, ci_low, ci_high or n_used; without one the whole interval is judged. Repeat it.",
)
@click.option("--allow-undecided", is_flag=True, help="Exit 0 where an interval straddles its threshold.")
@click.option(
    "--against",
    "earlier",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="An earlier audit of the same judge: what has changed? Repeat it for a control chart (three or more).",
)
@click.option(
    "--history", metavar="DIR", type=click.Path(path_type=Path), help="A folder of folders of earlier audits."
)
@click.option(
    "--ids", multiple=True, metavar="ID", help="What is watched; by default what decisions rest on. Repeat it."
)
@click.option(
    "--false-alarm", type=float, default=0.05, show_default=True, metavar="P",
    help="Chance of any alarm where nothing has changed, over all that is watched.",
)  # fmt: skip
@click.option(
    "--ewma-weight", type=float, default=0.2, show_default=True, metavar="W",
    help="Weight of the newest audit in the moving average of a control chart.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of the draws behind joint p values.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder for change.json and a report.")
@click.option("--json", "as_json", is_flag=True, help="The comparison as one JSON document.")
def command(
    place: Path,
    requirements: tuple[str, ...],
    allow_undecided: bool,
    earlier: tuple[Path, ...],
    history: Path | None,
    ids: tuple[str, ...],
    false_alarm: float,
    ewma_weight: float,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> int:
    """Judge each requirement: met when the whole interval satisfies it, failed when none of it does, else undecided.

    Any failed: exit 1. Else any undecided, undefined or absent: exit 2.

    With --against the change since an earlier audit is held against its error, clusters of both audits being paired: exit 1
    on an alarm, 0 without one, 2 where the two cannot be compared. Three or more earlier audits make a control chart.

    \b
      evenhand check out --require 'accuracy[cut=5]/judge >= 0.85' --require 'cohen_kappa/judge.estimate > 0.6'
      evenhand check out --require 'equivalence[metric=leniency,quantity=inside]/judge == 1'
      evenhand check out --require 'false_accept_rate[by=author,p=holm]/judge > 0.05'
      evenhand check october --against september --ids error_rate/judge --ids cohen_kappa/judge
      evenhand check october --history audits --out chart
    """
    from evenhand.audits.gates import judge_requirement
    from evenhand.errors import RequestError
    from evenhand.results import Audit

    if not requirements and not earlier and history is None:
        raise RequestError("what is to be checked? Say --require 'ID OP NUMBER', --against DIR or --history DIR")
    if as_json and requirements:
        raise RequestError("--json is of a comparison; ask for --require in a command of its own")
    codes = set()
    if requirements:
        audit = Audit.load(place)
        outcomes = [judge_requirement(audit, text) for text in requirements]
        for outcome in outcomes:
            click.echo(outcome.sentence)
        verdicts = {outcome.verdict for outcome in outcomes}
        unsure = verdicts - {"met"} - ({"undecided"} if allow_undecided else set())
        codes.add(1 if "failed" in verdicts else 2 if unsure else 0)
    if earlier or history is not None:
        from evenhand.cli.watching import Watch, watch

        asked = Watch(tuple(one for text in ids for one in _split(text)), false_alarm, ewma_weight, seed)
        codes.add(watch(place, earlier, history, asked, out, as_json=as_json))
    return 1 if 1 in codes else max(codes)


def _split(text: str) -> list[str]:
    """Ids apart by commas; a comma within brackets belongs to its id."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
