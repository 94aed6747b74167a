"""A simulated course in the shape of a saved audit, so that its numbers are shown, checked and reported as any others."""

from collections.abc import Sequence
from importlib.metadata import version

from evenhand.ids import encode
from evenhand.results import Audit, Data, Declarations, Estimate
from evenhand.simulate.loop import Course


def given_audit(
    names: Sequence[str], course: Course, estimates: Sequence[Estimate], level: float, seed: int, note: str
) -> Audit:
    """Of graders that were given, without any data.

    Args:
        names: of the graders.
        course: the course.
        estimates: of all graders.
        level, seed: of the draws.
        note: what the numbers say.
    """
    return Audit(
        evenhand_version=version("evenhand"),
        data=Data(
            sources=(), rows_read=0, rows_used=0, rows_excluded={}, source_rows={}, n_responses=0, n_criteria=1, n_clusters=0,
            judges=tuple(names), has_reference=False,
        ),
        declarations=Declarations(
            scale="continuous", levels=(), positive=None, scale_reading=f"marks from {course.low:g} to {course.high:g}", abstention_mode="exclude",
            tie_handling="none declared", criteria="shared", cluster_unit="learner", n_units=0, conditions={}, cuts=(), interval_method="default",
            resamples=0, seed=seed, confidence_level=level, reading={},
        ),
        estimates=(*(_no_verdicts(source) for source in dict.fromkeys(one.source for one in estimates)), *estimates),
        tables={},
        warnings=(note,),
    )  # fmt: skip


def _no_verdicts(source: str) -> Estimate:
    """That nothing was read of a grader: the count by which readers of an audit know its judges."""
    return Estimate(
        id=f"n_verdicts/{encode(source)}", statistic="n_verdicts", params={}, source=source, estimate=0, std_error=None, ci_low=None, ci_high=None,
        interval_method="none", status="ok", reason="the grader was given, not read from a run", unit="verdict", events=None, trials=None, n_used=0,
        n_excluded=0, n_clusters=0, design_effect=None, describes="bank", estimand="verdict slots that were read",
    )  # fmt: skip


def run_audit_of(base: Audit, estimates: Sequence[Estimate], note: str) -> Audit:
    """Of a run: its audit with the course's numbers in place of its own about the loop.

    Args:
        base: the audit of the run.
        estimates: of the course.
        note: what they say.
    """
    told = {one.id for one in estimates}
    kept = [one for one in base.estimates if one.id not in told]
    return base.model_copy(update={"estimates": (*kept, *estimates), "warnings": (*base.warnings, note)})
