"""``evenhand simulate loop``: what becomes of a label effect when marks feed the belief that labels the next answer."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.simulating import (
    Results,
    check_out,
    numbers,
    out_option,
    progress,
    seed_option,
    text_of,
    write_results,
)
from evenhand.errors import RequestError

if TYPE_CHECKING:
    from evenhand.report.svg import Drawing
    from evenhand.simulate.loop import Course, LoopOutcome
    from evenhand.simulate.loop_graders import NamedGrader
    from evenhand.stats.arrays import Array

_COLUMNS = ("grader", "quantity", "value", "low", "high")
_NOTE = (
    "loop_multiplier is the spread of beliefs with the label fed back over the spread with a label that always says the "
    "middle of the scale; loop_total is over the spread without labels. Errors are root mean squared distances of belief "
    "from ability, shares of the scale. Strong learners are the ablest fifth; recovery is the median number of items until "
    "a false record stays within 0.05 of the default start's belief. Ends hold 95 % of draws over learners, and over the "
    "label effect where it has a standard error. These are properties of the simulation, not observations of a course."
)
_STOPS = 8
"""Points of a path that are drawn."""


@click.command("loop", short_help="What a label effect becomes over a course in which marks feed the label.")
@click.option("--grader", "source", type=click.Path(path_type=Path), metavar="FILE", help="TOML or JSON of graders.")
@click.option("--label-effect", type=float, metavar="X", help="Marks per point of label, before clipping.")
@click.option("--label-effect-error", type=float, metavar="X", help="Its standard error (default 0: known).")
@click.option("--slope", type=float, metavar="X", help="Of marks on reference marks (default 1).")
@click.option("--intercept", type=float, metavar="X", help="Of that line (default 0).")
@click.option("--shift", type=float, metavar="X", help="Marks that showing any label adds (default 0).")
@click.option("--interaction", type=float, metavar="X", help="What a label adds to the slope (default 0).")
@click.option("--noise", type=float, metavar="X", help="SD of a mark about its line (default 1).")
@click.option("--scale", default="0,10", show_default=True, metavar="LOW,HIGH", callback=numbers, help="Of the marks.")
@click.option(
    "--ability", default="5,1.25", show_default=True, metavar="MEAN,SD", callback=numbers, help="Of learners."
)
@click.option("--answer-sd", type=float, default=0.0, show_default=True, metavar="X", help="Of answers about ability.")
@click.option("--learners", type=int, default=500, show_default=True, metavar="N", help="Learners of the cohort.")
@click.option("--items", type=int, default=40, show_default=True, metavar="N", help="Items of the course.")
@click.option("--skills", type=int, default=4, show_default=True, metavar="N", help="Skills, asked in turn.")
@click.option("--days", type=float, default=2.5, show_default=True, metavar="X", help="Days from item to item.")
@click.option(
    "--recovering", type=float, metavar="X", help="Ability behind the false record (default 7 in 10 of scale)."
)
@click.option("--draws", type=int, default=200, show_default=True, metavar="N", help="Draws behind the intervals.")
@seed_option(0)
@out_option("loop.csv, loop.parquet, simulation.json and plots")
def command(
    source: Path | None,
    scale: tuple[float, ...],
    ability: tuple[float, ...],
    answer_sd: float,
    learners: int,
    items: int,
    skills: int,
    days: float,
    recovering: float | None,
    draws: int,
    seed: int,
    out: Path | None,
    **given: float | None,
) -> None:
    """Run a course with and without the edge from a learner's belief to the label, on the same learners and noise.

    A grader is a line: mark = intercept + slope × reference, and with a label shift + label effect × (label − middle) +
    interaction × (reference − middle) on top; marks are rounded and clipped. Four ways of labelling are compared: none,
    a label frozen at the middle, the belief itself, and a binary label (mastered from a belief of 0.6).

    \b
      evenhand simulate loop --label-effect 0.2 --slope 0.6 --intercept 1.5
      evenhand simulate loop --grader graders.toml --out loop
      graders.toml:  [[grader]]
                     name = "one"
                     label_effect = 0.14
                     label_effect_error = 0.02
                     slope = 0.57
                     intercept = 1.8
    """
    from evenhand.simulate.loop import Cohort, Course, simulate_course
    from evenhand.simulate.loop_graders import as_grader, drawn_graders
    from evenhand.simulate.population import check_whole

    check_out(out)
    check_whole("draws", draws, least=2, most=100_000)
    low, high = _pair("scale", scale)
    graders = _graders(source, {name: value for name, value in given.items() if value is not None})
    course = Course(
        n_items=items,
        n_skills=skills,
        days_between=days,
        low=low,
        high=high,
        recovering=low + 0.7 * (high - low) if recovering is None else recovering,
        binary_labels=(low + 0.3 * (high - low), low + 0.7 * (high - low)),
    )
    cohort = Cohort(*_pair("ability", ability), answer_sd=answer_sd, n_learners=learners)
    with progress("draws", len(graders) * (draws + 1)) as step:
        point = simulate_course(as_grader(graders), cohort, course, seed=seed, step=step)
        drawn = drawn_graders(graders, draws, seed + 1)
        spread = simulate_course(
            drawn, cohort, course, seed=seed, weights=_resamples(learners, draws, seed + 2), step=step
        )
    settings = {
        "graders": {one.name: {**one.parameters, "label_effect_error": one.label_effect_error} for one in graders},
        "course": {name: getattr(course, name) for name in course.__dataclass_fields__},
        "cohort": {name: getattr(cohort, name) for name in cohort.__dataclass_fields__},
        "draws": draws,
        "seed": seed,
    }
    rows = tuple(_rows(graders, course, point, spread, drawn.label_effect))
    found = Results("loop", settings, _COLUMNS, rows, tuple(_drawings(graders, point, spread)), _NOTE)
    if out is not None:
        write_results(found, out)
    click.echo(text_of(found))


def _pair(name: str, given: tuple[float, ...]) -> tuple[float, float]:
    if len(given) != 2:
        raise RequestError(f"--{name} takes two numbers apart by a comma, such as 5,1.25; here are {len(given)}")
    return given[0], given[1]


def _graders(source: Path | None, given: dict[str, float]) -> "tuple[NamedGrader, ...]":
    from evenhand.simulate.loop_graders import grader_of, read_graders

    if source is None and "label_effect" not in given:
        raise RequestError("which grader? Say --label-effect X (marks per point of label), or --grader FILE")
    if source is None:
        return (grader_of("grader", given),)
    if given:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise RequestError(f"--grader {source.name} says what the graders are: leave {named} out")
    return read_graders(source)


def _resamples(n_learners: int, n_draws: int, seed: int) -> "Array":
    """(draws, learners) bootstrap counts."""
    from evenhand.stats.resampling import draw_weights

    return draw_weights(seed, n_draws, n_learners)


def _rows(
    graders: "Sequence[NamedGrader]", course: "Course", point: "LoopOutcome", spread: "LoopOutcome", effects: "Array"
) -> Iterator[tuple[str | float, ...]]:
    """Long rows: a quantity of a grader with the ends of 95 % of draws."""
    from evenhand.stats.loop import eigenvalue, runaway_multiple

    own = [one.parameters["label_effect"] for one in graders]
    measured: list[tuple[str, Array, Array]] = [
        ("loop_eigenvalue", eigenvalue(own, course.kept, course.mass), eigenvalue(effects, course.kept, course.mass)),
        (
            "loop_runaway_multiple",
            runaway_multiple(own, course.kept, course.mass),
            runaway_multiple(effects, course.kept, course.mass),
        ),
        ("loop_multiplier", point.multiplier, spread.multiplier),
        ("loop_total", point.total, spread.total),
        ("loop_multiplier, binary label", point.binary_multiplier, spread.binary_multiplier),
        ("belief error, no label", point.error_without, spread.error_without),
        ("its change, label", point.error_change, spread.error_change),
        (
            "its change, binary label",
            point.binary_error - point.error_without,
            spread.binary_error - spread.error_without,
        ),
        ("strong learners, no label", point.strong_without, spread.strong_without),
        ("strong learners, label", point.strong_with, spread.strong_with),
        ("strong learners, binary label", point.binary_strong, spread.binary_strong),
        ("loop_recovery, no label", point.recovery_without, spread.recovery_without),
        ("loop_recovery, label", point.recovery_with, spread.recovery_with),
    ]
    for at, one in enumerate(graders):
        for name, values, drawn in measured:
            yield one.name, name, float(values[at]), *_ends(drawn[at])


def _ends(drawn: "Array") -> tuple[float, float]:
    """Ends of 95 % of draws; an undefined draw lies beyond every number, and an end there is undefined."""
    import numpy as np

    ends = np.quantile(np.where(np.isnan(drawn), np.inf, drawn), [0.025, 0.975], method="inverted_cdf")
    low, high = np.where(np.isfinite(ends), ends, np.nan).tolist()
    return low, high


def _drawings(graders: "Sequence[NamedGrader]", point: "LoopOutcome", spread: "LoopOutcome") -> Iterator["Drawing"]:
    from evenhand.report.curves import Curve, Point, curves
    from evenhand.report.drawings import ForestRow, Panel, forest
    from evenhand.report.tables import plain_number

    names = ("default, no label", "default, label", "false, no label", "false, label")
    n_items = point.paths.shape[-1] - 1
    shown = sorted({round(at * n_items / _STOPS) for at in range(_STOPS + 1)})
    yield curves(
        "loop-recovery",
        f"Recovery from a false record: {graders[0].name}",
        "Mean belief about learners of one ability over the course, from the default start and from a false low record, "
        "without a label and with the belief as label.",
        [
            Curve(name, tuple(Point(float(item), beliefs[item]) for item in shown))
            for name, beliefs in zip(names, point.paths[0].tolist(), strict=True)
        ],
        x_words="items",
        y_words="belief",
    )
    panels = []
    for title, values, drawn in (
        ("Spread fed back over spread with a frozen label", point.multiplier, spread.multiplier),
        ("The same with a binary label", point.binary_multiplier, spread.binary_multiplier),
    ):
        rows = []
        for at, one in enumerate(graders):
            value, (low, high) = float(values[at]), _ends(drawn[at])
            if all(map(math.isfinite, (value, low, high))):
                rows.append(ForestRow(one.name, value, low, high, plain_number(value)))
        panels += [Panel(title, tuple(rows), percent=False)] if rows else []
    yield forest("loop-multiplier", panels, "What feedback does to the spread of beliefs")
