"""lm-evaluation-harness: ``samples_<task>_<time>.jsonl``, one line a document and filter, one verdict a metric.

The harness marks by code, so its rater is ``lm_eval``; a filter (the rule that takes the answer out of a reply) is a
setting. A document has one response.
"""

from collections.abc import Iterator
from pathlib import Path

from evenhand.errors import printable
from evenhand.importers.json_stream import lines
from evenhand.importers.records import Carried, Column, Head, LogImporter, Record, Tally, objects
from evenhand.importers.values import Verdict, as_dict, as_list, scalar, text

_FIELDS = frozenset(
    {
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "filter",
        "metrics",
        "doc_hash",
        "prompt_hash",
        "target_hash",
    }
)


def _recognises(_path: Path, head: Head) -> bool:
    return {"doc_id", "resps", "filtered_resps"} <= as_dict(head.document).keys()


def _records(path: Path, tally: Tally) -> Iterator[Record]:
    for number, line in objects(lines(path), printable(path.name), "line", tally):
        names = [text(name) or "" for name in as_list(line.get("metrics"))]
        # Before the list of metrics was written, every further number was one.
        names = names or [
            name for name, value in line.items() if name not in _FIELDS and isinstance(value, int | float)
        ]
        if not names:
            tally["lines without any metric, left out"] += 1
        for name in names:
            yield {"line": line, "metric": name, "value": line.get(name), "number": number}


def _verdict(record: Record) -> Verdict:
    verdict = scalar(record["value"])
    if verdict.reason == "not one value":
        return verdict._replace(reason="parts of a score of the whole task, no verdict on one document")
    return verdict


IMPORTER = LogImporter(
    name="lm_eval",
    endings=(".jsonl",),
    recognises=_recognises,
    records=_records,
    columns=(
        Column("response_id", "line.doc_id"),
        Column("criterion_id", "metric"),
        Column("rater_id", "", "lm_eval"),
        Column("rater_kind", "", "judge"),
        Column("setting", "line.filter"),
    ),
    verdict=_verdict,
    carried=(Carried("line", but=frozenset({"doc_id", "filter"})),),
    verified=("0.4.13",),
    notes=("lm_eval: these verdicts are a program's, not a model's",),
)
