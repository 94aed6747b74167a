"""The responses of a plan, as text by column."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from evenhand.design.plan import BankPart
from evenhand.errors import MappingError, RequestError, SourceError, did_you_mean, printable, quoted
from evenhand.importers.files import read_file
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.order import natural
from evenhand.verdicts.sources import Source

CRITERION = "{criterion}"
_ROWS = 500
"""Rows that are held as Python objects at a time, beside the responses made of them."""
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Item:
    """One response.

    Attributes:
        texts: by column, in the plan's order; the last one (two on a pairwise scale) is what is judged.
        criteria: text of each checklist line; one line without a name where there is no checklist.
        references: label of each line; empty where there is none.
        strata: value of the column the draw is stratified by.
        groups: values of the columns that say who the learner is; for the verdict table only.
    """

    response_id: str
    cluster_id: str
    learner_id: str
    texts: Mapping[str, str]
    criteria: Mapping[str, str]
    references: Mapping[str, str]
    strata: str = ""
    groups: Mapping[str, str] = field(default_factory=lambda: _NOTHING)

    @property
    def mark(self) -> float:
        """The reference as a number; NaN where it is none or the response has several lines."""
        said = next(iter(self.references.values()), "") if len(self.references) == 1 else ""
        try:
            return float(said)
        except ValueError:
            return math.nan


@dataclass(frozen=True)
class Bank:
    """All responses, in the order of the file."""

    items: tuple[Item, ...] = field(repr=False)
    shown: str
    sha256: str

    @cached_property
    def by_cluster(self) -> Mapping[str, tuple[Item, ...]]:
        """Responses of each cluster."""
        return _grouped(self.items, "cluster_id")

    @cached_property
    def by_learner(self) -> Mapping[str, tuple[Item, ...]]:
        """Responses of each learner."""
        return _grouped(self.items, "learner_id")


def read_bank(part: BankPart, folder: Path, strata: str | None = None) -> Bank:
    """Read the responses that a plan names.

    Args:
        part: of the plan.
        folder: that its file is relative to.
        strata: column the draw is stratified by.

    Raises:
        SourceError: the file cannot be read.
        MappingError: a column that is named does not exist.
        RequestError: a response id is blank or occurs twice, or a text that is judged is blank.
    """
    path = folder / part.responses
    with Engine() as engine:
        source = read_file(engine, path)
        lines = _lines(part, source)
        wanted = [part.response, *(one for one in (part.cluster, part.learner, strata) if one)]
        wanted += [*part.text, *part.group]
        wanted += [text for text, _ in lines.values() if text] + [label for _, label in lines.values() if label]
        columns = {name: _held(source, name) for name in dict.fromkeys(wanted)}
        made = _Maker(part, lines, strata)
        cursor = engine.connection.execute(f"SELECT {', '.join(columns.values())} FROM {source.relation}")
        found: list[Item] = []
        while rows := cursor.fetchmany(_ROWS):
            found += [made.item(dict(zip(columns, row, strict=True))) for row in rows]
    items = tuple(found)
    _check(items, source, part)
    return Bank(items, source.name, source.sha256)


def _lines(part: BankPart, source: Source) -> dict[str, tuple[str, str]]:
    """Columns of text and reference of each checklist line."""
    label = part.reference or ""
    if part.criteria is None:
        if CRITERION in label:
            raise RequestError(
                f'[bank] reference = "{printable(label)}" is a pattern, so [bank] criteria must be one too'
            )
        return {"": ("", label)}
    start, _, end = part.criteria.partition(CRITERION)
    shape = re.compile(re.escape(start) + "(.+)" + re.escape(end))
    names = sorted({found[1] for one in source.columns if (found := shape.fullmatch(one))}, key=natural)
    if not names:
        raise MappingError(
            f'{source.name}: no column is named like [bank] criteria = "{printable(part.criteria)}"; there are {quoted(source.columns)}'
        )
    return {name: (part.criteria.replace(CRITERION, name), label.replace(CRITERION, name)) for name in names}


def _held(source: Source, name: str) -> str:
    if name not in source.columns:
        raise MappingError(
            f'{source.name}: [bank] names a column "{printable(name)}" that is not there{did_you_mean(name, source.columns)}; '
            f"there are {quoted(source.columns)}"
        )
    return source.column(name, "[bank]")


class _Maker:
    """Makes responses of rows; what all of them have alike is held once."""

    def __init__(self, part: BankPart, lines: Mapping[str, tuple[str, str]], strata: str | None) -> None:
        self._part, self._lines, self._strata = part, lines, strata
        blank = dict.fromkeys(lines, "")
        self._criteria = blank if not any(text for text, _ in lines.values()) else None
        self._references = blank if not any(label for _, label in lines.values()) else None

    def item(self, row: Mapping[str, str | None]) -> Item:
        """The response of a row, texts by column."""
        part, lines, strata = self._part, self._lines, self._strata
        response = (row[part.response] or "").strip()
        criteria, references = self._criteria, self._references
        if criteria is None:
            criteria = {name: (row[text] or "") if text else "" for name, (text, _) in lines.items()}
        if references is None:
            references = {name: (row[label] or "").strip() if label else "" for name, (_, label) in lines.items()}
        return Item(
            response_id=response,
            cluster_id=(row[part.cluster] or "").strip() if part.cluster else response,
            learner_id=(row[part.learner] or "").strip() if part.learner else "",
            texts={name: row[name] or "" for name in part.text},
            criteria=criteria,
            references=references,
            strata=(row[strata] or "").strip() if strata else "",
            groups={name: (row[name] or "").strip() for name in part.group} if part.group else _NOTHING,
        )


def _check(items: tuple[Item, ...], source: Source, part: BankPart) -> None:
    seen: dict[str, int] = {}
    for number, item in enumerate(items, start=source.first_row):
        if not item.response_id:
            raise RequestError(
                f"{source.name} row {number}: a blank {printable(part.response)}; every response needs its id"
            )
        if item.response_id in seen:
            raise RequestError(
                f'{source.name} rows {seen[item.response_id]} and {number}: the response id "{printable(item.response_id)}" occurs twice'
            )
        seen[item.response_id] = number
        if item.texts and not list(item.texts.values())[-1].strip():
            raise RequestError(
                f"{source.name} row {number}: no text in {printable(part.text[-1])}; a blank answer is not sent to a judge: leave the row out"
            )
    if not items:
        raise SourceError(f"{source.name}: no response")


def _grouped(items: tuple[Item, ...], by: str) -> dict[str, tuple[Item, ...]]:
    found: dict[str, list[Item]] = {}
    for item in items:
        found.setdefault(getattr(item, by), []).append(item)
    return {name: tuple(group) for name, group in found.items()}
