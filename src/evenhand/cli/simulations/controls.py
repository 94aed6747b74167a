"""``evenhand simulate controls``: what Phi(lambda) and Livingston-Lewis estimate, where the truth is known."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.simulating import (
    Results,
    check_out,
    out_option,
    progress,
    refuse_with_published,
    text_of,
    write_results,
)

if TYPE_CHECKING:
    from evenhand.report.svg import Drawing
    from evenhand.simulate.controls import EstimandControl, PhiControl
    from evenhand.stats.arrays import Array

_COLUMNS = ("control", "cut", "quantity", "mean", "sd", "endless_bank")
_NOTE = (
    "Livingston–Lewis recovers accuracy against the response's own true score; Φ(λ), a ratio of squared distances, does "
    "not, and is no accuracy. Where the judge's true score is not the reference's, accuracy against its own true score "
    "exceeds accuracy against the reference: only reference labels give the second."
)


@click.command("controls", short_help="What Φ(λ) and Livingston–Lewis estimate, where true scores are known.")
@click.option("--responses", type=int, metavar="N", help="Responses of a bank (default 4000).")
@click.option("--replicates", type=int, metavar="N", help="Banks of each control (default 200).")
@click.option("--seed", type=int, metavar="N", help="Of every draw (default 0).")
@click.option(
    "--stream",
    type=click.Choice(["own", "published"]),
    default="own",
    show_default=True,
    help="published: one bank of each control, with the seeds and draws of Zhu (2026)'s released script.",
)
@out_option("controls.csv, controls.parquet, simulation.json and plots")
def command(responses: int | None, replicates: int | None, seed: int | None, stream: str, out: Path | None) -> None:
    """Draw banks whose true scores are known, and hold Φ(λ) and Livingston–Lewis against them at cuts of 4 to 7.

    The Φ control draws totals from the beta-binomial model that Livingston–Lewis fits. The estimand control has no
    sampling of criteria, but a judge whose own true score differs from the reference's total.

    \b
      evenhand simulate controls
      evenhand simulate controls --replicates 1000 --responses 500 --out controls
      evenhand simulate controls --stream published
    """
    from evenhand.simulate.controls import estimand_control, phi_control

    check_out(out)
    asked = {"responses": responses, "replicates": replicates, "seed": seed}
    if stream == "published":
        refuse_with_published(asked)
        phi, estimand = phi_control(method="grid400"), estimand_control()
        settings: dict[str, object] = {"stream": stream, "seeds": [101, 303], "replicates": 1, "n_responses": 4000}
    else:
        n = 200 if replicates is None else replicates
        size, start = 4000 if responses is None else responses, 0 if seed is None else seed
        with progress("banks", 2 * n) as step:
            phi = phi_control(n_responses=size, n_replicates=n, seed=start, stream="own", step=step)
            estimand = estimand_control(n_responses=size, n_replicates=n, seed=start, step=step)
        settings = {"stream": stream, "replicates": n, "seed": start, "n_responses": size}
    found = Results("controls", settings, _COLUMNS, tuple(_rows(phi, estimand)), tuple(_drawings(phi, estimand)), _NOTE)
    if out is not None:
        write_results(found, out)
    click.echo(text_of(found))


def _columns(phi: "PhiControl", estimand: "EstimandControl") -> Iterator[tuple[str, str, "Array", "Array | None"]]:
    """Control, quantity, values (replicates, cuts), and their value for an endless bank."""
    import numpy as np

    from evenhand.simulate.controls import ALPHA, BETA, CUTS, N_CRITERIA
    from evenhand.simulate.population import beta_binomial, population_phi_lambda
    from evenhand.stats.strong_true_score import livingston_lewis

    cuts = np.asarray(CUTS)
    true = livingston_lewis(beta_binomial(ALPHA, BETA, N_CRITERIA), cuts).accuracy
    endless = population_phi_lambda(ALPHA, BETA, N_CRITERIA, cuts)
    yield "Φ", "accuracy, true score", phi.accuracy, true
    yield "Φ", "Livingston–Lewis", phi.livingston_lewis, true
    yield "Φ", "Φ(λ)", phi.phi_lambda, endless
    yield "Φ", "accuracy − Φ(λ)", phi.gap, true - endless
    yield "estimand", "accuracy, own true score", estimand.own, None
    yield "estimand", "accuracy, reference", estimand.reference, None
    yield "estimand", "difference", estimand.difference, None


def _rows(phi: "PhiControl", estimand: "EstimandControl") -> Iterator[tuple[str | int | float, ...]]:
    from evenhand.simulate.controls import CUTS

    for control, quantity, values, endless in _columns(phi, estimand):
        for place, cut in enumerate(CUTS):
            column = values[:, place]
            sd = float(column.std(ddof=1)) if len(column) > 1 else float("nan")
            known = float("nan") if endless is None else float(endless[place])
            yield control, cut, quantity, float(column.mean()), sd, known


def _drawings(phi: "PhiControl", estimand: "EstimandControl") -> Iterator["Drawing"]:
    from evenhand.report.curves import Curve, Point, curves
    from evenhand.simulate.controls import CUTS

    def curve(name: str, values: "Array") -> Curve:
        return Curve(
            name, tuple(Point(cut, mean) for cut, mean in zip(CUTS, values.mean(axis=0).tolist(), strict=True))
        )

    yield curves(
        "phi-control",
        "Φ(λ) beside the accuracy it is taken for",
        "Accuracy against the true score, its Livingston–Lewis estimate and Φ(λ) at each cut, means over banks.",
        [curve("accuracy", phi.accuracy), curve("Livingston–L.", phi.livingston_lewis), curve("Φ(λ)", phi.phi_lambda)],
        x_words="cut, criteria met",
        y_words="share or coefficient",
    )
    yield curves(
        "estimand-control",
        "Accuracy against two true scores",
        "Accuracy of the same decisions against the judge's own true score and against the reference, means over banks.",
        [curve("own true score", estimand.own), curve("reference", estimand.reference)],
        x_words="cut, criteria met",
        y_words="accuracy",
    )
