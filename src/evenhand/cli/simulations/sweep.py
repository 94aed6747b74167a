"""``evenhand simulate sweep``: KR-20 over banks of growing spread and judges of growing error."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.simulating import (
    Results,
    check_out,
    grid_text,
    numbers,
    out_option,
    progress,
    refuse_with_published,
    wrapped,
    write_results,
)

if TYPE_CHECKING:
    from evenhand.report.svg import Drawing
    from evenhand.simulate.sweeps import Sweep

_COLUMNS = (
    *("part", "spread", "error_rate", "false_accept_rate", "false_reject_rate"),
    *("kr20_mean", "kr20_sd", "kr20_endless_bank", "n_defined"),
)
_TITLES = {
    "both": "Errors both ways",
    "accept": "False accepts only",
    "reject": "False rejects only",
    "two-way": "Errors both ways",
    "measured rate": "Errors both ways, the measured rate",
    "one-directional": "Measured rates of false accepts and false rejects",
    "lenient only": "False accepts only",
}
_NOTE = (
    "KR-20 follows the bank's spread (down a column of one error rate) as much as the judge's errors (along a row of one "
    "spread): a value of it says nothing about a judge until the same bank's value on reference labels stands beside it."
)


@click.command("sweep", short_help="What moves KR-20: the bank's spread beside the judge's error rate.")
@click.option(
    "--spreads", callback=numbers, metavar="A,B,...", help="Widths of the range of presence rates (default 0 to .8)."
)
@click.option("--error-rates", callback=numbers, metavar="A,B,...", help="Shares of wrong verdicts (default 0 to .3).")
@click.option(
    "--direction",
    type=click.Choice(["both", "accept", "reject"]),
    help="Errors both ways alike (default), or false accepts or false rejects only.",
)
@click.option("--responses", type=int, metavar="N", help="Responses of a bank (default 210).")
@click.option("--criteria", type=int, metavar="K", help="Criteria of a response (default 10).")
@click.option("--replicates", type=int, metavar="N", help="Banks a cell (default 1000).")
@click.option("--seed", type=int, metavar="N", help="Of every draw (default 0).")
@click.option(
    "--stream",
    type=click.Choice(["own", "published"]),
    default="own",
    show_default=True,
    help="published: the grids, seeds and draws of Zhu (2026)'s released script.",
)
@out_option("sweep.csv, sweep.parquet, simulation.json and plots")
def command(
    spreads: tuple[float, ...] | None,
    error_rates: tuple[float, ...] | None,
    direction: str | None,
    responses: int | None,
    criteria: int | None,
    replicates: int | None,
    seed: int | None,
    stream: str,
    out: Path | None,
) -> None:
    """Draw banks whose responses differ more and more, let judges err more and more, and compute KR-20.

    A response meets each criterion at a rate of its own, uniform around one half; the spread is the width of that range.
    The judge then errs at constant rates. Each cell shows the mean and SD of KR-20 over replicates beside its value for
    an endless bank, in closed form.

    \b
      evenhand simulate sweep
      evenhand simulate sweep --spreads 0.2,0.8 --error-rates 0,0.1 --direction accept --replicates 10000 --out sweep
      evenhand simulate sweep --stream published
    """
    from evenhand.simulate import sweeps

    check_out(out)
    asked = {
        "spreads": spreads,
        "error_rates": error_rates,
        "direction": direction,
        "responses": responses,
        "criteria": criteria,
        "replicates": replicates,
        "seed": seed,
    }
    if stream == "published":
        refuse_with_published(asked)
        parts = {
            "two-way": sweeps.published_sweep(sweeps.TWO_WAY, seed=11),
            "measured rate": sweeps.published_sweep(sweeps.MEASURED_RATE, seed=13),
        }
        one_way = sweeps.published_sweep(sweeps.ONE_DIRECTIONAL, seed=17)
        parts |= {"one-directional": one_way.part(0, 5), "lenient only": one_way.part(5, 10)}
        settings: dict[str, object] = {"stream": stream, "seeds": [11, 13, 17], "replicates": 60}
    else:
        way = direction or "both"
        worlds = sweeps.grid(
            spreads or sweeps.SPREADS,
            error_rates or tuple(sorted((*sweeps.ERRORS, sweeps.MEASURED))),
            way,  # type: ignore[arg-type]
        )
        n = 1000 if replicates is None else replicates
        sizes = {"n_responses": responses, "n_criteria": criteria, "seed": seed}
        with progress("banks", len(worlds) * n) as step:
            given = {name: value for name, value in sizes.items() if value is not None}
            parts = {way: sweeps.own_sweep(worlds, n_replicates=n, step=step, **given)}
        settings = {"stream": stream, "direction": way, "replicates": n, "seed": seed or 0}
    found = _results(parts, settings)
    if out is not None:
        write_results(found, out)
    click.echo(_text(parts))


def _results(parts: "dict[str, Sweep]", settings: dict[str, object]) -> Results:
    rows = []
    for name, sweep in parts.items():
        columns = (sweep.mean, sweep.sd, sweep.population, sweep.n_defined)
        for one, mean, sd, endless, n in zip(sweep.worlds, *(column.tolist() for column in columns), strict=True):
            rates = (one.error_rate, one.false_accept_rate, one.false_reject_rate)
            rows.append((name, float(one.spread), *map(float, rates), mean, sd, endless, int(n)))
    first = next(iter(parts.values()))
    sizes = {"n_responses": first.n_responses, "n_criteria": first.n_criteria}
    return Results("sweep", {**settings, **sizes}, _COLUMNS, tuple(rows), (_drawing(first),), _NOTE)


def _text(parts: "dict[str, Sweep]") -> str:
    """Mean and SD, spreads down and error rates across, a grid a part."""
    from evenhand.report.tables import plain_number, plural

    lines = []
    for name, sweep in parts.items():
        cells = {
            (f"spread {one.spread:g}", f"{100 * one.error_rate:.3g} %"): f"{plain_number(mean)} ±{plain_number(sd)}"
            for one, mean, sd in zip(sweep.worlds, sweep.mean.tolist(), sweep.sd.tolist(), strict=True)
        }
        n = sweep.kr20.shape[-1]
        lines += [
            f"{_TITLES[name]}, {plural(n, 'bank')} a cell: mean KR-20 ± SD of a single bank",
            grid_text(cells),
            "",
        ]
    return "\n".join([*lines, wrapped(_NOTE)])


def _drawing(sweep: "Sweep") -> "Drawing":
    from evenhand.report.curves import Curve, Point, curves

    named: dict[float, list[Point]] = {}
    for one, mean, sd in zip(sweep.worlds, sweep.mean.tolist(), sweep.sd.tolist(), strict=True):
        if mean == mean:
            named.setdefault(one.error_rate, []).append(Point(one.spread, mean, sd if sd == sd else 0.0))
    drawn = [
        Curve(f"error {100 * rate:.3g} %", tuple(sorted(points, key=lambda point: point.x)))
        for rate, points in named.items()
    ]
    return curves(
        "kr20-by-spread",
        "KR-20 by the bank's spread and the judge's error rate",
        "Mean KR-20 of simulated banks, bars one SD of a single bank to either side; one curve an error rate.",
        drawn,
        x_words="spread of presence rates",
        y_words="KR-20",
    )
