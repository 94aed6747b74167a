"""A sample before it is written: what was asked, what was drawn, and its tables and plan as they will stand."""

import csv
import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from evenhand.errors import RequestError, quoted
from evenhand.report.csv_tables import safe_text
from evenhand.sampling.dealing import Deal
from evenhand.sampling.drawing import Allocation, Draw
from evenhand.sampling.form import Form
from evenhand.sampling.labels import OWN_COLUMNS
from evenhand.sampling.plan import FRAME_COLUMNS, KEY_COLUMNS, KeyRow, SamplePlan, Shape, Stratum
from evenhand.sampling.population import Population
from evenhand.sampling.texts import Texts
from evenhand.verdicts.reading import Reading
from evenhand.verdicts.spec import Spec

BY = ("verdict", "cluster")
"""What a draw may be spread over."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of a sample.

    Attributes:
        n: labels.
        by: any of ``BY``.
        raters: R.
        shared: responses that all label; all of them when None.
        allocation: of labels to strata.
        expected: shares of wrong verdicts by stratum, as the user expects them.
    """

    n: int | None
    by: tuple[str, ...] = BY
    raters: int = 2
    shared: int | None = None
    allocation: Allocation = "proportional"
    expected: tuple[float, ...] = ()


@dataclass(frozen=True)
class Drawn:
    """Everything of a sample before it is written."""

    reading: Reading
    people: Population
    chosen: Draw
    dealt: Deal
    texts: Texts
    form: Form
    asked: tuple[frozenset[str], ...]
    wish: Wish


def key_text(made: Drawn) -> str:
    """What each code is, with its chance and weight, as CSV."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(KEY_COLUMNS)
    raters: list[list[str]] = [[] for _ in made.dealt.codes]
    for number, order in enumerate(made.dealt.sheets, 1):
        for place in order.tolist():
            raters[place].append(f"rater_{number}")
    for place, at in enumerate(made.chosen.taken.tolist()):
        row = KeyRow(
            code=made.dealt.codes[place],
            response=made.people.responses[at],
            cluster=made.people.clusters[made.people.cluster[at]],
            stratum=made.people.strata[made.people.stratum[at]],
            inclusion_probability=float(made.chosen.chance[place]),
            weight=float(made.chosen.weight[place]),
            raters=" ".join(raters[place]),
        )
        cells = (getattr(row, column) for column in KEY_COLUMNS)
        writer.writerow([safe_text(cell) if isinstance(cell, str) else repr(cell) for cell in cells])
    return stream.getvalue()


def frame_text(made: Drawn) -> str:
    """The responses that were not drawn."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(FRAME_COLUMNS)
    drawn, people = set(made.chosen.taken.tolist()), made.people
    for at, response in enumerate(people.responses):
        if at not in drawn:
            criterion = made.form.criteria[people.criterion[at]]
            writer.writerow(map(safe_text, (response, people.strata[people.stratum[at]], criterion)))
    return stream.getvalue()


def plan_of(made: Drawn, spec: Spec, tables: Mapping[str, str]) -> SamplePlan:
    """The plan as it is saved, with the hashes of these tables.

    Raises:
        RequestError: ids of several columns of which one is called like a column of labels.
    """
    people, reading = made.people, made.reading
    sizes, labels = people.sizes.tolist(), made.chosen.sizes.tolist()
    shape: Shape = "single"
    if reading.criteria != ("",):
        shape = "long" if reading.spec.criterion else "wide"
    everything = frozenset(made.form.criteria)
    return SamplePlan(
        evenhand_version=version("evenhand"),
        sources={one.name: one.sha256 for source in reading.sources for one in (source.parts or (source,))},
        seed=spec.seed,
        by=made.wish.by,
        allocation=made.wish.allocation,
        n_responses=len(people.responses),
        n_labels=len(made.dealt.codes),
        n_clusters=people.n_clusters,
        n_raters=len(made.dealt.sheets),
        n_shared=made.dealt.n_shared,
        strata=tuple(
            Stratum(name=name, responses=all_, labels=taken, inclusion_probability=taken / all_, weight=all_ / taken)
            for name, all_, taken in zip(people.strata, sizes, labels, strict=True)
        ),
        form=made.form,
        not_asked={
            code: tuple(name for name in made.form.criteria if name not in has)
            for code, has in zip(made.dealt.codes, made.asked, strict=True)
            if has != everything
        },
        shape=shape,
        response_columns=_response_columns(reading.spec, shape),
        criterion_column=reading.spec.criterion or "",
        sha256={name: hashlib.sha256(text.encode()).hexdigest() for name, text in tables.items()},
    )


def _response_columns(spec: Spec, shape: Shape) -> tuple[str, ...]:
    """The names of the file's own id columns, so that an audit finds them again without being told.

    Raises:
        RequestError: one of several is called like a column of labels.
    """
    taken = {*OWN_COLUMNS, *([spec.criterion.casefold()] if shape == "long" and spec.criterion else [])}
    clash = [name for name in spec.response if name.casefold() in taken or name.casefold().startswith("label_")]
    if clash and len(spec.response) > 1:
        raise RequestError(
            f"{quoted(clash)}: the file of labels has a column of that name, too; rename it in the source"
        )
    return ("response_id",) if clash else spec.response
