"""``evenhand simulate phrasing``: does a study of phrasings find the component it is after, and how well?"""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.simulating import Results, check_out, out_option, progress, seed_option, text_of, write_results

if TYPE_CHECKING:
    from evenhand.report.svg import Drawing
    from evenhand.simulate.phrasing import PhrasingStudy

_COLUMNS = (
    *("scenario", "true_phrasing", "responses_mean", "phrasing_mean", "phrasing_sd", "residual_mean"),
    *("true_phi", "phi_mean", "phi_5_percent", "phi_95_percent"),
)


@click.command("phrasing", short_help="How well a study of several phrasings finds what the wording does to a judge.")
@click.option("--responses", type=int, default=210, show_default=True, metavar="N", help="Responses of a study.")
@click.option("--phrasings", type=int, default=3, show_default=True, metavar="R", help="Phrasings of a study.")
@click.option("--replicates", type=int, default=200, show_default=True, metavar="N", help="Studies of each scenario.")
@seed_option(7)
@out_option("phrasing.csv, phrasing.parquet, simulation.json and a plot")
def command(responses: int, phrasings: int, replicates: int, seed: int, out: Path | None) -> None:
    """Simulate studies in which a judge marks the same responses under several wordings of its instruction.

    Four scenarios, from wordings that change nothing to a judge that is fixed given its wording. Φ is at a single
    phrasing, as it will be used. The component is found on average; the columns of SD and percentiles say how far a
    single study may be off. The defaults give the published stream of Zhu (2026), digit for digit.

    \b
      evenhand simulate phrasing
      evenhand simulate phrasing --phrasings 8 --replicates 5000 --out phrasing
    """
    from evenhand.simulate.phrasing import SCENARIOS, phrasing_study

    check_out(out)
    with progress("studies", len(SCENARIOS) * replicates) as step:
        studies = [
            phrasing_study(
                scenario, n_responses=responses, n_phrasings=phrasings, n_studies=replicates, seed=seed, step=step
            )
            for scenario in SCENARIOS
        ]
    settings = {"n_responses": responses, "n_phrasings": phrasings, "replicates": replicates, "seed": seed}
    rows = tuple(_row(study) for study in studies)
    found = Results("phrasing", settings, _COLUMNS, rows, (_drawing(studies),), _note(studies[-1], phrasings))
    if out is not None:
        write_results(found, out)
    click.echo(text_of(found))


def _row(study: "PhrasingStudy") -> tuple[str | float, ...]:
    parts, phrasing = study.components, study.components.criterion
    sd = float(phrasing.std(ddof=1)) if len(phrasing) > 1 else float("nan")
    means = [float(part.mean()) for part in (parts.response, phrasing, parts.residual, study.phi)]
    return (
        study.scenario.name,
        float(study.scenario.phrasing),
        means[0],
        means[1],
        sd,
        means[2],
        float(study.scenario.phi),
        means[3],
        *study.phi_range(),
    )


def _note(study: "PhrasingStudy", n_phrasings: int) -> str:
    from evenhand.report.tables import plain_number, plural

    low, high = map(plain_number, study.phi_range())
    return (
        f"{plural(n_phrasings, 'phrasing')} leave the phrasing component {plural(n_phrasings - 1, 'degree')} of freedom: it is "
        f"found on average, but a single study of a judge that is fixed given its phrasing gives Φ between {low} and "
        f"{high} in nine cases of ten. Φ also moves with the responses' spread: report the component beside it."
    )


def _drawing(studies: "list[PhrasingStudy]") -> "Drawing":
    from evenhand.report.drawings import ForestRow, Panel, forest
    from evenhand.report.tables import plain_number

    rows = []
    for study in studies:
        low, high = study.phi_range()
        mean = float(study.phi.mean())
        rows.append(ForestRow(study.scenario.name, mean, low, high, plain_number(mean)))
    panel = Panel("Φ at a single phrasing: mean, and 5 to 95 % of single studies", tuple(rows), percent=False)
    return forest("phi-of-single-studies", [panel], "How far single studies of phrasings scatter")
