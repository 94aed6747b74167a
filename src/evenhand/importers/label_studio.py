"""Label Studio's JSON export: annotations are human raters, predictions are judges; a control tag is a criterion.

The export of a project's button names predictions by their ids alone; beside each annotation stands the prediction that its
annotator saw, and is read from there. A snapshot can hold them in full.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.importers.json_stream import JsonFile
from evenhand.importers.records import Carried, Column, Head, LogImporter, Record, Tally, objects
from evenhand.importers.values import Verdict, as_dict, as_list, scalar, text

_VALUES = ("choices", "rating", "number", "text", "taxonomy", "ranker")
_PLAIN = frozenset(
    {"completed_by", "was_cancelled", "draft_created_at", "result_count", "created_ago", "task", "project"}
)
_GROUND_TRUTH = "ground_truth"
_ONLY_IDS = "predictions of which the export holds the id alone, left out (an export snapshot can hold them in full)"


def _recognises(_path: Path, head: Head) -> bool:
    first = as_dict((as_list(head.document) or [None])[0])
    return {"id", "data"} <= first.keys() and isinstance(first.get("annotations"), list)


def _records(path: Path, tally: Tally) -> Iterator[Record]:
    file = JsonFile(path, "")
    for number, task in objects(enumerate(file.elements(), 1), file.shown, "task", tally):
        told = {"task": task, "number": number}
        for annotation in map(as_dict, as_list(task.get("annotations"))):
            if annotation.get("was_cancelled") is True:
                tally["annotations that the annotator skipped, left out"] += 1
                continue
            yield from _results({**told, **_annotator(annotation)}, annotation, tally)
        for prediction in _predictions(task, tally):
            judge = {"rater": text(prediction.get("model_version")) or "prediction", "kind": "judge"}
            yield from _results({**told, **judge, "confidence": prediction.get("score")}, prediction, tally)


def _predictions(task: Mapping[str, Any], tally: Tally) -> Iterator[Mapping[str, Any]]:
    """A task's predictions; those named by id as they stand beside an annotation."""
    seen = [as_dict(as_dict(annotation).get("prediction")) for annotation in as_list(task.get("annotations"))]
    known = {text(one["id"]): one for one in seen if one.get("id") is not None and "result" in one}
    for prediction in as_list(task.get("predictions")):
        whole = prediction if isinstance(prediction, dict) else known.get(text(prediction))
        if whole is None:
            tally[_ONLY_IDS] += 1
        else:
            yield whole


def _annotator(annotation: Mapping[str, Any]) -> dict[str, Any]:
    """Who it was; an annotation marked as ground truth is the reference's, whoever made it."""
    person = annotation.get("completed_by")
    name = person.get("email") or person.get("id") if isinstance(person, dict) else person
    if annotation.get("ground_truth") is True:
        return {"rater": _GROUND_TRUTH, "kind": "reference", "more": {"annotator": text(name)}}
    return {"rater": text(name), "kind": "human", "more": {}}


def _results(told: Mapping[str, Any], given: Mapping[str, Any], tally: Tally) -> Iterator[Record]:
    """A record a control tag; regions of a text or picture are no verdict on the whole."""
    results = [as_dict(one) for one in as_list(given.get("result"))]
    if not results:
        tally["annotations and predictions without any result, left out"] += 1
    for result in results:
        kind = next((name for name in _VALUES if name in as_dict(result.get("value"))), None)
        if kind is None or "start" in as_dict(result.get("value")):
            tally["results that mark a region or link two, left out"] += 1
            continue
        yield {**told, "given": given, "result": result, "value": as_dict(result.get("value"))[kind]}


def _verdict(record: Record) -> Verdict:
    value = record["value"]
    if not isinstance(value, list):
        return scalar(value)
    if len(value) == 1:
        return scalar(value[0])
    return Verdict.none("unparsed" if value else "missing", value, "several choices" if value else "no choice")


IMPORTER = LogImporter(
    name="label_studio",
    endings=(".json",),
    recognises=_recognises,
    records=_records,
    columns=(
        Column("response_id", "task.id"),
        Column("criterion_id", "result.from_name"),
        Column("rater_id", "rater"),
        Column("rater_kind", "kind"),
        Column("confidence", "confidence"),
    ),
    verdict=_verdict,
    carried=(
        Carried("more"),
        Carried("given", but=_PLAIN),
        Carried("task.data", "data."),
        Carried("task.meta", "meta."),
    ),
    verified=("1.23.2",),
)
