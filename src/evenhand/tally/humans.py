"""Human raters beside the judges: their labels on the judges' slots, distinct combinations by unit of resampling."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import KeyClashError, printable, quoted
from evenhand.stats.arrays import Counts
from evenhand.tally.packing import ABSENT, SILENT, Packing, distinct
from evenhand.tally.ratings import MOST_RATERS, Ratings
from evenhand.verdicts.statuses import status_code
from evenhand.verdicts.table import VerdictTable


@dataclass(frozen=True)
class Humans:
    """Labels of judges and humans on the same slots.

    Attributes:
        everyone: ratings whose columns are the judges, then the humans; its reference is the audit's.
        n_judges: how many columns are judges.
        reference: name of the human whose labels are the audit's reference, None where none is.
    """

    everyone: Ratings
    n_judges: int
    reference: str | None

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges."""
        return self.everyone.names[: self.n_judges]

    @property
    def names(self) -> tuple[str, ...]:
        """(H,) names of the humans."""
        return self.everyone.names[self.n_judges :]

    @cached_property
    def labels(self) -> Counts:
        """(P, H) label codes of the humans, -1 where one gives none."""
        return self.everyone.labels[:, self.n_judges :]

    @cached_property
    def n_given(self) -> Counts:
        """(P,) humans with a label."""
        given: Counts = (self.labels >= 0).sum(axis=1)
        return given

    @cached_property
    def agree(self) -> NDArray[np.bool_]:
        """(P,) two humans or more give a label, and all the same."""
        highest = self.labels.max(axis=1)
        same: NDArray[np.bool_] = ((self.labels == highest[:, None]) | (self.labels < 0)).all(axis=1)
        return np.logical_and(same, self.n_given > 1)

    def among_themselves(self) -> Ratings:
        """The humans as an ensemble of raters."""
        one = self.everyone
        each = tuple(
            Ratings(one.n_units, one.n_labels, self.names, part.unit, part.labels[:, self.n_judges :], part.count)
            for part in (one, *one.by_criterion)
        )
        return replace(each[0], by_criterion=each[1:])


def tally_humans(table: VerdictTable) -> Humans | None:
    """Join the humans' labels to the judges' slots; None without humans, or with too many raters.

    Raises:
        KeyClashError: a human fills one slot twice.
    """
    reading = table.reading
    names = (*reading.raters, *reading.humans)
    if not reading.humans or len(names) > MOST_RATERS:
        return None
    packing, relation = Packing(table.scale.size, len(reading.criteria)), _coded(table)
    by_condition = _check_key(table, relation)
    judged = [one for rater in range(len(reading.raters)) for one in packing.columns("judge", f"rater = {rater}")]
    judged += packing.shared_columns("reference")
    given = [one for rater in range(len(reading.humans)) for one in packing.columns("label", f"rater = {rater}")]
    keys = "response, condition" if by_condition else "response"
    words = [f"w{number}" for number in range(len(judged) + len(given))]
    made = [f"{column} AS {word}" for column, word in zip([*judged, *given], words, strict=True)]
    listed = [*words[: len(judged)], *(f"coalesce({word}, 0) AS {word}" for word in words[len(judged) :])]
    found = table.engine.integers(
        f"SELECT unit, {', '.join(listed)}, count(*) AS n FROM "
        f"(SELECT response, condition, min(unit) AS unit, {', '.join(made[: len(judged)])} FROM {table.relation} GROUP BY response, condition) "
        f"LEFT JOIN (SELECT {keys}, {', '.join(made[len(judged) :])} FROM {relation} GROUP BY {keys}) USING ({keys}) GROUP BY ALL"
    )
    packed = np.stack([found[word] for word in words], axis=1).reshape(len(found["n"]), -1, packing.n_words)
    return Humans(
        _unpacked(table, packing, names, packed, found["unit"], found["n"]),
        len(reading.raters),
        reading.spec.reference if reading.spec.reference in reading.humans else None,
    )


def _unpacked(
    table: VerdictTable, packing: Packing, names: tuple[str, ...], packed: Counts, unit: Counts, count: Counts
) -> Ratings:
    """Rows of labels, of all criteria and of each, from (P, R+2+H, W) words of judges, reference (twice) and humans."""
    n_judges, parts, counts = len(table.reading.raters), [], []
    for criterion in range(packing.n_criteria):
        labels = packing.labels(np.delete(packed, n_judges + 1, axis=1), criterion)
        labels[:, n_judges] = packing.shared_labels(packed[:, n_judges], packed[:, n_judges + 1], criterion)
        here = (labels[:, :n_judges] != ABSENT).any(axis=1)
        parts.append(np.column_stack([unit[here], np.maximum(labels[here], SILENT)]))
        counts.append(count[here])

    def gathered(rows: Counts, repeats: Counts) -> Ratings:
        (units, *columns), total = distinct(list(rows.T), repeats)
        reference = columns.pop(n_judges)
        given = reference if table.reading.has_reference else None
        return Ratings(len(table.units.names), packing.n_labels, names, units, np.stack(columns, axis=1), total, given)

    each = tuple(gathered(*one) for one in zip(parts, counts, strict=True)) if len(parts) > 1 else ()
    return replace(gathered(np.concatenate(parts), np.concatenate(counts)), by_criterion=each)


def _coded(table: VerdictTable) -> str:
    """Table of (rater, response, criterion, condition, label) of the humans."""
    engine, scale, name = table.engine, table.scale, table.engine.name("human_labels")
    codes = engine.table("labels", {"text": "VARCHAR", "code": "INTEGER"}, scale.reference_codes.items())
    code = f"coalesce(c.code, {scale.status('missing')})"
    code = status_code(scale, "h.status", code) if table.reading.spec.status else code
    engine.run(
        f"CREATE TEMP TABLE {name} AS SELECT h.rater, h.response, h.criterion, h.condition, {code} AS label "
        f"FROM {table.reading.of_humans} h LEFT JOIN {codes} c ON c.text = h.reference"
    )
    return name


def _check_key(table: VerdictTable, relation: str) -> bool:
    """Whether humans label anew under each condition.

    Raises:
        KeyClashError: a slot is filled twice.
    """
    rows = table.engine.rows(
        f"SELECT response, rater, criterion, count(*) AS n FROM {relation} GROUP BY response, rater, criterion, condition "
        "HAVING n > 1 ORDER BY ALL LIMIT 1"
    )
    for response, rater, criterion, n in rows:
        on = table.reading.criteria[criterion]
        raise KeyClashError(
            f"the human rater {quoted([table.reading.humans[rater]])} fills one verdict slot {n} times: response "
            f'"{printable(response)}"' + (f', criterion "{printable(on)}"' if on else "") + "; take the repeats out"
        )
    (most,) = table.engine.one(
        f"SELECT coalesce(max(n), 0) FROM (SELECT count(DISTINCT condition) AS n FROM {relation} GROUP BY response, rater, criterion)"
    )
    return bool(most > 1)
