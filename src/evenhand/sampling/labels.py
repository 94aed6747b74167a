"""The file of labels that an audit reads, and how far two raters agree before it does."""

import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evenhand.report.csv_tables import safe_text
from evenhand.sampling.form import CANNOT_ASSESS, Form
from evenhand.sampling.plan import KeyRow, Sample, SamplePlan
from evenhand.sampling.returned import Returned
from evenhand.stats.agreement import cohen_kappa
from evenhand.stats.arrays import Array
from evenhand.stats.marks import lin_ccc
from evenhand.verdicts.rated_columns import heading
from evenhand.verdicts.sides import split_condition

OWN_COLUMNS = ("rater_id", "rater_kind", "label", "weight", "stratum", "comment")
_BOTH = " + "


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two raters on the labels that both gave.

    Attributes:
        raters: their names.
        n: labels on which both are scored.
        n_responses: responses behind them.
        same: share of equal labels.
        kappa: Cohen's, of labels; Lin's concordance, which is the quadratically weighted κ, of marks. NaN where undefined.
        weighted: the same with design weights: as over all responses.
        name: of the coefficient.
    """

    raters: tuple[str, str]
    n: int
    n_responses: int
    same: float
    kappa: float
    weighted: float
    name: str


@dataclass(frozen=True, slots=True)
class Weights:
    """How much a response counts, by stratum: its stratum's share of all responses over its share of those like it.

    Among responses with a label the weights are in proportion to 1/(chance of being drawn and labelled), with mean 1 where every stratum has one; so are
    those of the others to 1/(chance of not being). Each part by itself then speaks of all responses, and each has its size.
    """

    labelled: Mapping[str, float]
    others: Mapping[str, float]


def weights_of(sheets: Sequence[Returned], sample: Sample) -> Weights:
    """Weights from how many responses of each stratum have a label, so that a drawn one without is made up for in its stratum."""
    given = {code for one in sheets for code, _ in one.labels}
    n = Counter(row.stratum for code, row in sample.key.items() if code in given)
    everyone = {one.name: one.responses for one in sample.plan.strata}
    rest = {name: size - n[name] for name, size in everyone.items()}

    def weights(part: Mapping[str, int]) -> dict[str, float]:
        inside, all_ = sum(part.values()), sum(everyone.values())
        return {name: everyone[name] / all_ / (size / inside) for name, size in part.items() if size}

    return Weights(weights(n), weights(rest))


def labels_csv(sheets: Sequence[Returned], sample: Sample) -> str:
    """Labels by response (and criterion) with whose they are, every rater's beside them, and weights.

    Where several raters label a slot, the label of the first sheet that has one is the reference; every other one stands
    in a column of its own. Responses without a label stand there, too, since a judge's rate on them needs a weight. Ids and
    labels are written as they are, for an audit to read; comments so that no spreadsheet runs them.
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(_header(sheets, sample.plan))
    writer.writerows(_rows(sheets, sample))
    return stream.getvalue()


def is_labels(path: Path) -> bool:
    """Whether a file is one that this module wrote."""
    with path.open("rb") as stream:
        start = stream.read(2**16).split(b"\n", 1)[0]
    return all(name in start for name in (b"rater_kind", b"weight", b"rated ("))


def n_without_label(sheets: Sequence[Returned], key: Mapping[str, KeyRow]) -> int:
    """Drawn responses on which no sheet has a label."""
    given = {code for one in sheets for code, _ in one.labels}
    return len(key.keys() - given)


def _header(sheets: Sequence[Returned], plan: SamplePlan) -> list[str]:
    place = [*plan.response_columns, *([plan.criterion_column] if plan.shape == "long" else [])]
    criteria = plan.form.criteria if plan.shape == "wide" else ("",)
    labels = [f"label_{name}" if name else "label" for name in criteria]
    rated = [heading(one.rater, name) for one in sheets for name in criteria]
    return [*place, "rater_id", "rater_kind", *labels, "weight", "stratum", *rated, "comment"]


def _rows(sheets: Sequence[Returned], sample: Sample) -> Iterator[list[str]]:
    plan, weights = sample.plan, weights_of(sheets, sample)
    given = {code for one in sheets for code, _ in one.labels}
    for code, row in sample.key.items():
        if code in given:
            yield from _labelled(sheets, plan, row, repr(weights.labelled[row.stratum]))
        else:
            first = next(name for name in plan.form.criteria if name not in plan.not_asked.get(code, ()))
            yield _unlabelled(sheets, plan, row.response, (row.stratum, first), weights)
    for response, place in sample.frame.items():
        yield _unlabelled(sheets, plan, response, place, weights)


def _groups(plan: SamplePlan) -> list[tuple[str, ...]]:
    """Criteria that share a row."""
    return [plan.form.criteria] if plan.shape == "wide" else [(name,) for name in plan.form.criteria]


def _labelled(sheets: Sequence[Returned], plan: SamplePlan, row: KeyRow, weight: str) -> Iterator[list[str]]:
    said = _BOTH.join(dict.fromkeys(one.comments[row.code] for one in sheets if row.code in one.comments))
    for criteria in _groups(plan):
        given = [next((one for one in sheets if (row.code, name) in one.labels), None) for name in criteria]
        whose = list(dict.fromkeys(one.rater for one in given if one is not None))
        if plan.shape != "long" or criteria[0] not in plan.not_asked.get(row.code, ()):
            place = _response(row.response, len(plan.response_columns)) + (
                list(criteria) if plan.shape == "long" else []
            )
            labels = [one.labels[row.code, name] if one else "" for one, name in zip(given, criteria, strict=True)]
            rated = [one.labels.get((row.code, name), "") for one in sheets for name in criteria]
            yield [*place, _BOTH.join(whose), "human", *labels, weight, row.stratum, *rated, safe_text(said)]


def _unlabelled(
    sheets: Sequence[Returned], plan: SamplePlan, response: str, place: tuple[str, str], weights: Weights
) -> list[str]:
    """The row of a response without a label, of this stratum and with this first criterion."""
    stratum, criterion = place
    keys = _response(response, len(plan.response_columns)) + ([criterion] if plan.shape == "long" else [])
    blank = [""] * len(_groups(plan)[0])
    return [*keys, "", "human", *blank, repr(weights.others[stratum]), stratum, *blank * len(sheets), ""]


def _response(response: str, n_columns: int) -> list[str]:
    """The columns of a response's id, which stand in one text in the key."""
    return list(split_condition(response, n_columns))


def agreements(sheets: Sequence[Returned], sample: Sample) -> Iterator[Agreement]:
    """Every two raters who label the same slots."""
    plan, key = sample.plan, sample.key
    for one, other in itertools.combinations(sheets, 2):
        both = [
            slot
            for slot in one.labels
            if slot in other.labels and CANNOT_ASSESS not in (one.labels[slot], other.labels[slot])
        ]
        if both:
            mine, theirs = ([sheet.labels[slot] for slot in both] for sheet in (one, other))
            weights = np.array([key[code].weight for code, _ in both])
            same = float(np.mean([a == b for a, b in zip(mine, theirs, strict=True)]))
            each = [_coefficient(plan, mine, theirs, w) for w in (np.ones(len(both)), weights)]
            name = "κ" if plan.form.kind in ("binary", "nominal", "pairwise") else "quadratically weighted κ"
            yield Agreement(
                (one.rater, other.rater), len(both), len({code for code, _ in both}), same, each[0], each[1], name
            )


def _coefficient(plan: SamplePlan, mine: Sequence[str], theirs: Sequence[str], weights: Array) -> float:
    form = plan.form
    if form.kind in ("binary", "nominal", "pairwise"):
        q = len(form.levels)
        at = [[form.levels.index(label) for label in labels] for labels in (mine, theirs)]
        table = np.zeros((q, q))
        np.add.at(table, tuple(at), weights)
        return float(cohen_kappa(table))
    value = _values(form)
    numbers = [
        np.array([value[label] if label in value else float(label) for label in labels]) for labels in (mine, theirs)
    ]
    t, m = (one - numbers[0].min() for one in numbers)
    sums = [float(np.sum(weights * part)) for part in (np.ones_like(t), t, m, t * t, m * m, t * m, np.abs(m - t))]
    return float(lin_ccc(np.array(sums)))


def _values(form: Form) -> dict[str, float]:
    """Label → number: its own, or its place where labels are words; marks are their own numbers."""
    try:
        return {level: float(level) for level in form.levels}
    except ValueError:
        return {level: float(place) for place, level in enumerate(form.levels)}
