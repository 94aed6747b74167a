"""``evenhand plan``: what a design would ask, cost and detect, before anything is asked."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evenhand.cli.planning import Looked


@click.command("plan", short_help="What a plan would ask, cost and detect; nothing is sent.")
@click.argument("plan", type=click.Path(path_type=Path), metavar="PLAN.toml", required=False)
@click.option(
    "--example",
    type=click.Choice(["rubric", "grader", "pairwise"]),
    help="A commented plan to write from; with --out also a bank.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Of --example: a new folder for both files."
)
@click.option(
    "--diff", type=click.Path(path_type=Path), metavar="FILE", help="Write what arms differ in: .html, else text."
)
@click.option(
    "--worlds", type=click.IntRange(100, 20_000), default=2_000, show_default=True, metavar="N", help="Of the floor."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Of the floor's worlds."
)
@click.option(
    "--register", type=click.Path(path_type=Path), metavar="FILE", help="Write hash, date and floor to a file."
)
@click.option("--deviation", metavar="WHY", help="With --register: record that the plan was changed, and why.")
def command(
    plan: Path | None,
    example: str | None,
    out: Path | None,
    diff: Path | None,
    worlds: int,
    seed: int,
    register: Path | None,
    deviation: str | None,
) -> None:
    """Render every prompt of a plan, count calls, tokens and cost, prove that arms differ in their block alone, and simulate what
    the design can see by the rule that will read it.

    \b
      evenhand plan --example grader --out study
      evenhand plan study/plan.toml --diff study.html
      evenhand plan study/plan.toml --register study.json
      evenhand run study/plan.toml --out run --registered study.json

    Costs come from a dated table of your own, which the plan names: prices = "prices.toml" with date, currency, and
    [models."NAME"] input, output and cached_input for a million tokens. A model without a price has no known cost.

    Exit codes: 0 the floor passes, or none is asked for · 2 it refuses (unanswerable at this size), or the plan cannot be carried out.
    """
    from evenhand.cli.planning import look_at, show_example
    from evenhand.errors import RequestError

    if example is not None:
        _only(example=True, plan=plan, diff=diff, register=register, deviation=deviation)
        click.echo(show_example(example, out), nl=out is not None)
        return
    if plan is None:
        raise RequestError("name a plan, or write one from an example: evenhand plan --example rubric --out DIR")
    if out is not None:
        raise RequestError("--out is the folder of an --example; a run's own folder is named to evenhand run")
    if deviation is not None and (register is None or not deviation.strip()):
        raise RequestError('--deviation "why" goes with --register FILE and says why the plan was changed')
    looked: Looked = look_at(plan, worlds=worlds, seed=seed, diff=diff, register=register, deviation=deviation or "")
    click.echo(looked.text)
    if looked.refusal:
        raise RequestError(looked.refusal)


def _only(**given: object) -> None:
    from evenhand.errors import RequestError

    others: Mapping[str, object] = {name: value for name, value in given.items() if name != "example" and value}
    if others:
        raise RequestError(f"--example writes a plan to start from; leave out {', '.join(others)}")
