"""The study of graders told about the student, replayed on graders with planted effects: what an audit says of each.

Marks are written to files and audited as a user's are. A planted number is what the arms move on average, given the answers;
it is recovered where the audit's value lies within four of its own standard errors. A word is right where it is the word
that the planted numbers have; an audit that claims nothing is neither right nor wrong.
"""

import math
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import default_rng
from scipy import special

from evenhand.auditing import run_audit
from evenhand.reproducing.grader_context_worlds import (
    MARKS,
    TAILS,
    ExampleDraw,
    LabelDraw,
    Planted,
    PlantedExamples,
    draw_examples,
    draw_labels,
    write_examples,
    write_labels,
)
from evenhand.reproducing.lines import MOST_Z, Line, Verdict, not_computed, statement
from evenhand.results import Audit, Estimate
from evenhand.simulate.loop import Course
from evenhand.stats.arrays import Array
from evenhand.stats.loop import Grader, eigenvalue, fit_grader, label_sums, runaway_multiple
from evenhand.stats.toward_away import (
    DISTANCE_UNRESOLVED,
    FARTHER,
    NEARER,
    NO_MOVE,
    NO_MOVE_SHOWN,
    TOWARD,
    UNRESOLVED,
    Finding,
    call,
)
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.spec import Spec

SOURCE = "planted effects, in the shape of the study of LLM graders told about the student"
SEED = 20261
_LEVEL, _RESAMPLES = 0.95, 200
_PAIR, _NOT_BY_CHANCE, _NOTHING = "true-swapped", 0.001, 0.01
_AGAINST_BIAS = {TOWARD, NEARER, FARTHER}
_OPEN = (NO_MOVE_SHOWN, UNRESOLVED, DISTANCE_UNRESOLVED)


def _line(intercept: float, slope: float, effect: float, shift: float, interaction: float) -> Grader:
    return Grader(*(np.asarray(one) for one in (intercept, slope, effect, shift, interaction, 1.0)))


GRADERS = (
    Planted("lenient", _line(1.28, 0.82, 0.103, -0.022, -0.012), neutral=0.1),
    Planted("small", _line(1.41, 0.56, 0.11, -0.154, -0.022)),
    Planted("large", _line(1.83, 0.57, 0.154, -0.285, -0.029)),
    Planted("open", _line(1.56, 0.52, 0.22, -0.071, -0.074), neutral=-0.2),
    Planted("still", _line(0.0, 0.9, 0.0, 0.0, 0.0)),
    Planted("step", _line(1.3, 0.7, 0.0, 0.0, 0.0), step=0.3),
)
"""Four lines as printed for the four simulated graders, one that labels leave alone, and one that they move by a step."""
EXAMPLES = PlantedExamples(
    _line(0.5, 0.9, 0.0, 0.0, 0.0),
    {"control": 0.0, "unmarked": 0.42, "correct": -0.34, "shuffled": -0.12},
    pass_through=0.39,
)


@dataclass(frozen=True, slots=True)
class _Tail:
    """What is planted in one tail: drift of the true label, bias of the control and of the arm."""

    drift: float
    control: float
    arm: float

    @property
    def word(self) -> str:
        """The word that these have, all of them known; what clipping alone moves is no move."""
        return call(
            Finding(self.drift, resolved=abs(self.drift) > _NOTHING, inside=True),
            Finding(self.control, resolved=True),
            self.arm,
            Finding(abs(self.control) - abs(self.arm), resolved=True),
        )


def replay(seed: int = SEED) -> tuple[Line, ...]:
    """Every line: label study, its loop, examples, and how many intervals hold what was planted."""
    rng = default_rng(seed)
    labels, examples = draw_labels(rng), draw_examples(rng)
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "labels.csv", Path(folder) / "examples.csv"
        write_labels(first, labels, GRADERS, rng)
        write_examples(second, examples, EXAMPLES, rng)
        of_labels = _audited(first, learner="learner_id", tail="tail", model="model", label_shown="label_shown")
        of_examples = _audited(second, shown_marks="shown_marks")
    lines, numbers = [], []
    for line, one, planted in (*_label_numbers(of_labels, labels), *_example_numbers(of_examples, examples)):
        lines.append(line)
        if _is_counted(one) and one.ci_low is not None and one.ci_high is not None:
            numbers.append(one.ci_low <= planted <= one.ci_high)
    return (*lines, *_words(of_labels, labels), _covered(numbers))


def _is_counted(one: Estimate) -> bool:
    """Drifts, label effects of single tails and what examples pass on: the other numbers are functions of such."""
    return one.statistic in ("drift", "pass_through") or (one.statistic == "label_effect" and "tail" in one.params)


def _audited(path: Path, **columns: str) -> Audit:
    spec = Spec.of(
        response=("response_id",), cluster="question_id", judge=("mark",), reference="reference", arm="arm", scale="ordinal",
        range=(MARKS.low, MARKS.high), resamples=_RESAMPLES, **columns,
    )  # fmt: skip
    with Engine() as engine:
        return run_audit(engine, [path], spec).audit


_Number = tuple[Line, Estimate, float]


def _label_numbers(audit: Audit, draw: LabelDraw) -> Iterator[_Number]:
    for grader in GRADERS:
        place, mean = f"labels, {grader.name}", draw.expected(grader)
        run = f"[model={grader.name}]"
        for arm in ("neutral", "true", "swapped"):
            planted = float((mean[arm] - mean["control"]).mean())
            yield _held(audit, place, f"drift{run}/{arm}-control", planted)
        own_is_higher = np.where(draw.tail == 0, 1.0, -1.0)
        effect = own_is_higher * (mean["true"] - mean["swapped"])
        yield _held(audit, place, f"label_effect{run}/{_PAIR}", float(effect.mean()))
        yield _held(audit, place, f"label_effect_share{run}/{_PAIR}", float(effect.mean()) / (MARKS.high - MARKS.low))
        for at, tail in enumerate(TAILS):
            name = f"label_effect[model={grader.name},tail={tail}]/{_PAIR}"
            yield _held(audit, place, name, float(effect[draw.tail == at].mean()))
        yield _held(audit, place, f"dose_slope[against=control,model={grader.name}]/{_PAIR}", _fitted(draw, mean))
        if not grader.step:
            yield from _loop_numbers(audit, place, grader)


def _fitted(draw: LabelDraw, mean: Mapping[str, Array]) -> float:
    """The label effect that least squares finds in mean marks."""
    t, x = np.tile(draw.reference, 2), np.concatenate([draw.own, draw.swapped])
    control, marked = np.tile(mean["control"], 2), np.concatenate([mean["true"], mean["swapped"]])
    sums = label_sums(t, control, marked, x, MARKS.mid, np.zeros(len(t), dtype=np.int64), 1)
    return float(fit_grader(sums[0], MARKS.mid).label_effect)


def _loop_numbers(audit: Audit, place: str, grader: Planted) -> Iterator[_Number]:
    planted, course = float(grader.line.label_effect), Course()
    own = f"model={grader.name}"
    yield _held(audit, place, f"dose_slope[against=control,clipping=undone,{own}]/{_PAIR}", planted)
    yield _held(audit, place, f"loop_eigenvalue[{own}]/{_PAIR}", float(eigenvalue(planted, course.kept, course.mass)))
    if planted > 0:
        multiple = float(runaway_multiple(planted, course.kept, course.mass))
        yield _held(audit, place, f"loop_runaway_multiple[{own}]/{_PAIR}", multiple)


def _example_numbers(audit: Audit, draw: ExampleDraw) -> Iterator[_Number]:
    place, mean = "examples", EXAMPLES.expected(draw)
    for arm, other in (
        ("unmarked", "control"),
        ("correct", "control"),
        ("up", "control"),
        ("down", "control"),
        ("shuffled", "correct"),
    ):
        yield _held(audit, place, f"drift/{arm}-{other}", float((mean[arm] - mean[other]).mean()))
    kept = float((mean["shuffled"] - mean["control"]).mean() / (mean["correct"] - mean["control"]).mean())
    yield _held(audit, place, "pass_through[quantity=share_kept]/shuffled-correct", kept)
    level = {arm: float(draw.shown[arm].mean()) for arm in ("up", "down")}
    moved = float((mean["up"] - mean["down"]).mean()) / (level["up"] - level["down"])
    yield _held(audit, place, "pass_through/up-down", moved)


def _held(audit: Audit, place: str, name: str, planted: float) -> _Number:
    """A line of one planted number, recovered within four standard errors."""
    one = audit[name]
    value, low, high = one.estimate, one.ci_low, one.ci_high
    if value is None or low is None or high is None:
        return statement(place, name, f"{planted:.4f}", one.status, holds=False, note=one.reason), one, planted
    side = value - low if planted < value else high - value
    z = abs(value - planted) / side * float(special.ndtri(0.5 + _LEVEL / 2)) if side > 0 else math.inf
    shown = f"{value:.4f} [{low:.4f}, {high:.4f}]"
    verdict: Verdict = "within Monte-Carlo error" if z < MOST_Z else "differs"
    note = "" if z < MOST_Z else f"{z:.1f} standard errors away"
    return Line(place, name, f"{planted:.4f}", shown, verdict, note), one, planted


def _words(audit: Audit, draw: LabelDraw) -> Iterator[Line]:
    """Toward or away, by grader and tail."""
    for grader in GRADERS:
        mean = draw.expected(grader)
        for at, tail in enumerate(TAILS):
            here = draw.tail == at
            known = _Tail(*(float(one[here].mean()) for one in (
                mean["true"] - mean["control"], mean["control"] - draw.reference, mean["true"] - draw.reference)))  # fmt: skip
            name = f"toward_away[model={grader.name},tail={tail}]/true-control"
            said = audit[name].reason.partition(":")[0].partition(";")[0]
            place, quantity = "words, true label against control", f"{grader.name}, {tail} tail"
            if said == known.word or (said, known.word) == (NO_MOVE_SHOWN, NO_MOVE):
                yield statement(place, quantity, known.word, said, holds=True)
            elif {said, known.word} <= _AGAINST_BIAS and _holds_0(audit, grader, tail):
                why = f"the direction is right ({said}); whether the mark passes the reference lies within its error"
                yield not_computed(place, quantity, known.word, "not determined", why)
            elif said in _OPEN:
                why = (
                    f"the audit leaves it open: {said} (planted: drift {known.drift:.2f}, bias {known.control:.2f} "
                    f"without the label and {known.arm:.2f} with it)"
                )
                yield not_computed(place, quantity, known.word, "not determined", why)
            else:
                yield statement(place, quantity, known.word, said, holds=False)


def _holds_0(audit: Audit, grader: Planted, tail: str) -> bool:
    """Whether the interval of the bias under the true label holds 0: on which side of the reference it lands is open."""
    one = audit[f"toward_away[model={grader.name},quantity=bias_arm,tail={tail}]/true-control"]
    return one.ci_low is not None and one.ci_high is not None and one.ci_low <= 0 <= one.ci_high


def _covered(held: list[bool]) -> Line:
    """How many intervals hold what was planted: no fewer than chance allows at their level, taken as independent."""
    n, hits = len(held), sum(held)
    chance = float(special.bdtr(hits, n, _LEVEL))
    return statement(
        "all numbers", f"{100 * _LEVEL:g} % intervals that hold the planted number", f"{_LEVEL * n:.1f} of {n}", f"{hits} of {n}",
        holds=chance > _NOT_BY_CHANCE, note=f"chance of this few: {chance:.3f}, were they independent",
    )  # fmt: skip
