"""Langfuse scores, as its API or an export gives them (JSON, JSON lines or CSV): judge and human in one table.

A score's name is its criterion; an annotation's author is a human rater, an evaluator's and the API's scores are a judge's.
"""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.errors import SourceError, printable
from evenhand.importers.json_stream import JsonFile, lines
from evenhand.importers.records import Carried, Column, Head, LogImporter, Record, Tally, objects
from evenhand.importers.values import Verdict, as_dict, as_list, scalar, text

_FIELDS = frozenset({"id", "traceId", "name", "source", "value"})
_HUMAN, _SOURCES = "ANNOTATION", frozenset({"ANNOTATION", "API", "EVAL"})


def _recognises(path: Path, head: Head) -> bool:
    if path.suffix.casefold() == ".csv":
        first = head.data.decode("utf-8-sig", "ignore").splitlines()[:1]
        return bool(first) and set(next(csv.reader(first), [])) >= _FIELDS
    return _place(head) is not None


def _place(head: Head) -> str | None:
    """Where the list of scores lies in a JSON document; None where there is none."""
    document = head.document
    for place, listed in (("", document), ("data", as_dict(document).get("data")), ("line", [document])):
        first = as_dict((as_list(listed) or [None])[0])
        if first.keys() >= _FIELDS and text(first["source"]) in _SOURCES:
            return place
    return None


def _records(path: Path, tally: Tally) -> Iterator[Record]:
    for number, score in objects(_scores(path), printable(path.name), "score", tally):
        source = text(score.get("source")) or ""
        subject = [text(score.get(name)) for name in ("traceId", "observationId", "sessionId", "datasetRunId")]
        yield {
            "score": score,
            "number": number,
            "response": " | ".join(name for name in subject if name) or None,
            "rater": (score.get("authorUserId") or source) if source == _HUMAN else source,
            "kind": "human" if source == _HUMAN else "judge",
        }


def _scores(path: Path) -> Iterator[tuple[int, Any]]:
    ending = path.suffix.casefold()
    if ending == ".csv":
        yield from _csv_rows(path)
    elif ending in (".jsonl", ".ndjson"):
        yield from lines(path)
    else:
        yield from enumerate(JsonFile(path, _place(Head.of(path)) or "").elements(), 1)


def _csv_rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Cells as text, empty ones as nothing; the header is row 1."""
    shown = printable(path.name)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            for number, row in enumerate(csv.DictReader(stream, strict=True), 2):
                if None in row or None in row.values():
                    raise SourceError(f"{shown} row {number}: does not fit the header")
                yield number, {name: cell or None for name, cell in row.items()}
    except (csv.Error, UnicodeDecodeError, OSError) as problem:
        raise SourceError(f"{shown}: cannot be read as CSV: {printable(str(problem))[:160]}") from None


def _verdict(record: Record) -> Verdict:
    score: Mapping[str, Any] = record["score"]
    worded = score.get("stringValue")
    if worded is not None and score.get("dataType") != "NUMERIC":
        return scalar(worded)
    return scalar(score.get("value"))


IMPORTER = LogImporter(
    name="langfuse",
    endings=(".json", ".jsonl", ".ndjson", ".csv"),
    recognises=_recognises,
    records=_records,
    columns=(
        Column("response_id", "response"),
        Column("criterion_id", "score.name"),
        Column("rater_id", "rater"),
        Column("rater_kind", "kind"),
        Column("explanation", "score.comment"),
    ),
    verdict=_verdict,
    carried=(
        Carried("score", but=frozenset({"name", "stringValue", "comment"})),
        Carried("score.metadata", "metadata."),
    ),
)
