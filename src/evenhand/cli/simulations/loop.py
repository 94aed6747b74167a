"""``evenhand simulate loop``: what becomes of a label effect when marks feed the belief that labels the next answer."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import given, spec_options
from evenhand.cli.simulating import check_out, numbers, out_option, progress, write_results
from evenhand.errors import RequestError, printable

if TYPE_CHECKING:
    from evenhand.results import Audit
    from evenhand.simulate.loop_graders import NamedGrader
    from evenhand.simulate.loop_runs import LabelRun
    from evenhand.simulate.loop_study import Wishes

_GIVEN = ("label_effect", "label_effect_error", "slope", "intercept", "shift", "interaction", "noise")
_OWN = (*_GIVEN, "ability", "answer_sd", "learners", "items", "skills", "days", "recovering", "draws", "labels", "spec")
_OF_COURSE = ("range", "seed", "confidence_level")
_OF_RUN = (
    *("response", "cluster", "criterion", "rater", "rater_kind", "judge", "verdict", "reference", "status", "model"),
    *("setting", "occasion", "arm", "control", "learner", "tail", "label_shown", "n_prior_shown", "scale", "levels"),
    *("range", "na", "blank", "clean", "format", "sheet", "encoding", "decimal", "fractions", "seed"),
    *("confidence_level",),
)
"""Options of audit that a run under labels may need; a --spec says the rest."""


def _run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of audit that map a run, as audit has them."""
    every = spec_options(lambda: None)
    chosen = [option for option in every.__click_params__ if option.name in _OF_RUN]  # type: ignore[attr-defined]
    function.__click_params__ = [*chosen, *getattr(function, "__click_params__", [])]  # type: ignore[attr-defined]
    return function


@click.command("loop", short_help="What a label effect becomes over a course in which marks feed the label.")
@click.option(
    "--from", "runs", multiple=True, type=click.Path(path_type=Path), metavar="SOURCE|AUDIT_DIR",
    help="A grader's run with and without labels, to fit it from: files as audit reads them, or a saved audit.",
)  # fmt: skip
@click.option("--grader", "source", type=click.Path(path_type=Path), metavar="FILE", help="TOML or JSON of graders.")
@click.option("--label-effect", type=float, metavar="X", help="Marks per point of label, before clipping.")
@click.option("--label-effect-error", type=float, metavar="X", help="Its standard error (default 0: known).")
@click.option("--slope", type=float, metavar="X", help="Of marks on reference marks (default 1).")
@click.option("--intercept", type=float, metavar="X", help="Of that line (default 0).")
@click.option("--shift", type=float, metavar="X", help="Marks that showing any label adds (default 0).")
@click.option("--interaction", type=float, metavar="X", help="What a label adds to the slope (default 0).")
@click.option("--noise", type=float, metavar="X", help="SD of a mark about its line (default 1).")
@click.option(
    "--ability", metavar="MEAN,SD", callback=numbers,
    help="Of learners (default of a run: its own; else the middle and an eighth of the scale).",
)  # fmt: skip
@click.option(
    "--answer-sd", type=float, metavar="X", help="Of answers about ability (default of a run: its own; else 0)."
)
@click.option("--learners", type=int, default=500, show_default=True, metavar="N", help="Learners of the cohort.")
@click.option("--items", type=int, default=40, show_default=True, metavar="N", help="Items of the course.")
@click.option("--skills", type=int, default=4, show_default=True, metavar="N", help="Skills, asked in turn.")
@click.option("--days", type=float, default=2.5, show_default=True, metavar="X", help="Days from item to item.")
@click.option(
    "--recovering", type=float, metavar="X", help="Ability behind the false record (default 7 in 10 of scale)."
)
@click.option("--draws", type=int, default=200, show_default=True, metavar="N", help="Draws behind the intervals.")
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --from: reference marks, joined on the response id.",
)
@click.option(
    "--spec",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="With --from: a saved mapping; options override it.",
)
@out_option("audit.json, loop.csv, loop.parquet, simulation.json, loop.md and plots")
@_run_options
def command(runs: tuple[Path, ...], source: Path | None, out: Path | None, **options: Any) -> None:
    """Run a course with and without the edge from a learner's belief to the label, on the same learners and noise.

    A grader is a line: mark = intercept + slope × reference, and with a label shift + label effect × (label − middle) +
    interaction × (reference − middle) on top; marks are rounded and clipped. It is fitted from its own run (--from, mapped by the options of
    audit, which stand below), or given. Four ways of labelling are compared: none, a label frozen at the middle, the belief itself, and a binary
    label (mastered from a belief of 0.6).

    \b
      evenhand simulate loop --from marks.csv --range 0,10 --out loop
      evenhand simulate loop --from marks.csv --arm told --learner student --label-shown label --reference teacher --judge mark --range 0,10
      evenhand show loop 'loop_multiplier/true-swapped'
      evenhand simulate loop --label-effect 0.2 --slope 0.6 --intercept 1.5
      evenhand simulate loop --grader graders.toml --out loop
      graders.toml:  [[grader]]
                     name = "one"
                     label_effect = 0.14
                     label_effect_error = 0.02
                     slope = 0.57
                     intercept = 1.8
    """
    from evenhand.cli.loop_results import results_of, text_of
    from evenhand.simulate.loop_study import study
    from evenhand.simulate.population import check_whole

    check_out(out)
    check_whole("draws", options["draws"], least=2, most=100_000)
    line = {name: options[name] for name in _GIVEN if options[name] is not None}
    files = {name: options[name] for name in ("labels", "spec")}
    mapping = given({name: value for name, value in options.items() if name not in _OWN})
    base, graders = _graders(runs, source, line, mapping, files)
    asked = _asked(options, mapping, base)
    with progress("draws", len(graders) * (asked.n_draws + 1)) as step:
        found = [study(one, run, asked, step) for one, run in graders]
    results = results_of(found, base, asked)
    if out is not None:
        write_results(results, out)
    click.echo(text_of(found))


def _asked(options: Mapping[str, Any], mapping: Mapping[str, Any], base: "Audit | None") -> "Wishes":
    from evenhand.simulate.loop_study import Wishes

    level = base.declarations.confidence_level if base is not None else mapping.get("confidence_level", 0.95)
    if not 0 < level < 1:
        raise RequestError(f"--confidence-level {level:g}: a share between 0 and 1, such as 0.95")
    return Wishes(
        scale=_pair("range", mapping.get("range", (0.0, 10.0))),
        ability=None if options["ability"] is None else _pair("ability", options["ability"]),
        answer_sd=options["answer_sd"],
        n_learners=options["learners"],
        n_items=options["items"],
        n_skills=options["skills"],
        days=options["days"],
        recovering=options["recovering"],
        n_draws=options["draws"],
        seed=mapping.get("seed", 0),
        level=level,
    )


def _pair(name: str, value: tuple[float, ...]) -> tuple[float, float]:
    if len(value) != 2:
        raise RequestError(f"--{name} takes two numbers apart by a comma, such as 5,1.25; here are {len(value)}")
    return value[0], value[1]


def _graders(
    runs: Sequence[Path],
    source: Path | None,
    line: Mapping[str, float],
    mapping: Mapping[str, Any],
    files: Mapping[str, Path | None],
) -> "tuple[Audit | None, list[tuple[NamedGrader, LabelRun | None]]]":
    """The graders, and the audit of the run that they were fitted from."""
    from evenhand.simulate.loop_graders import SOLE_GRADER, grader_of, read_graders
    from evenhand.simulate.loop_runs import label_runs

    if sum((bool(runs), source is not None)) > 1:
        raise RequestError("--from fits graders and --grader FILE gives them: say one of the two")
    if line and (runs or source is not None):
        named = ", ".join(f"--{name.replace('_', '-')}" for name in line)
        why = f"--grader {printable(source.name)} says" if source is not None else "--from finds"
        raise RequestError(f"{why} what the graders are: leave {named} out")
    if runs:
        audit = _audited(runs, mapping, files)
        return audit, [(run.grader, run) for run in label_runs(audit)]
    useless = [
        name
        for name in (*mapping, *(name for name, value in files.items() if value is not None))
        if name not in _OF_COURSE
    ]
    if useless:
        raise RequestError(f"--{useless[0].replace('_', '-')} says how a run is read: say which with --from SOURCE")
    if source is None and "label_effect" not in line:
        raise RequestError(
            "which grader? Say --label-effect X (marks per point of label), --grader FILE, or --from SOURCE to fit one from its run"
        )
    graders = read_graders(source) if source is not None else (grader_of(SOLE_GRADER, line),)
    return None, [(one, None) for one in graders]


def _audited(runs: Sequence[Path], mapping: Mapping[str, Any], files: Mapping[str, Path | None]) -> "Audit":
    """The audit of a run: read, or made of its files."""
    from evenhand.results import Audit
    from evenhand.simulate.loop_runs import is_audit

    saved = [path for path in runs if is_audit(path)]
    if not saved:
        from evenhand.api import complete_spec
        from evenhand.auditing import run_audit
        from evenhand.verdicts.engine import Engine

        with Engine() as engine:
            return run_audit(engine, list(runs), complete_spec(files["spec"], dict(mapping)), files["labels"]).audit
    if len(runs) > 1:
        raise RequestError(f"{printable(str(saved[0]))} is a saved audit: give it alone, or the files of the run")
    useless = [
        name for name in (*mapping, *(name for name, value in files.items() if value is not None)) if name != "seed"
    ]
    if useless:
        raise RequestError(
            f"{printable(str(saved[0]))} is a saved audit, whose run is read already: leave --{useless[0].replace('_', '-')} out, or give the files of the run"
        )
    return Audit.load(saved[0])
