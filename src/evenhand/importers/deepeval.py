"""DeepEval's test runs (``.latest_run_full.json``, ``test_run_<time>.json``): every metric of every test case.

A metric is a criterion, its evaluation model the rater. DeepEval writes ``success: false`` beside an error: that is never
a fail here.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.importers.json_stream import JsonFile
from evenhand.importers.records import Carried, Column, Head, LogImporter, Record, Tally, objects
from evenhand.importers.values import Verdict, as_dict, as_list, passed_or_failed, text

_CASES = ("testCases", "conversationalTestCases")
_UNPARSED = "invalid JSON"
"""In DeepEval's own message where the judge answered and the answer held no verdict."""


def _run(head: Head) -> str | None:
    """Dotted place of the run within the document; None where there is none."""
    log = as_dict(head.document)
    for place, run in (("", log), ("testRunData.", as_dict(log.get("testRunData")))):
        if any(isinstance(run.get(name), list) for name in _CASES):
            return place
    return None


def _recognises(_path: Path, head: Head) -> bool:
    return _run(head) is not None


def _records(path: Path, tally: Tally) -> Iterator[Record]:
    place = _run(Head.of(path)) or ""
    for name in _CASES:
        file = JsonFile(path, place + name, [place + other for other in _CASES])
        for number, case in objects(enumerate(file.elements(), 1), file.shown, "test case", tally):
            tally["metrics of single spans, left out"] += _of_spans(case)
            metrics = as_list(case.get("metricsData"))
            if not metrics:
                tally["test cases without any metric, left out"] += 1
            for metric in metrics:
                yield {"case": case, "metric": as_dict(metric), "number": number, "kind": name}


def _of_spans(case: Mapping[str, Any]) -> int:
    """Metrics of steps within a case's trace: verdicts on something else than its response."""
    spans = [span for listed in as_dict(case.get("trace")).values() for span in as_list(listed)]
    return sum(len(as_list(as_dict(span).get("metricsData"))) for span in spans)


def _verdict(record: Record) -> Verdict:
    metric = record["metric"]
    passed, error = metric.get("success"), text(metric.get("error"))
    if error is not None:
        if _UNPARSED in error:
            return Verdict.none("unparsed", passed, "the judge's reply holds no verdict")
        return Verdict.none("error", passed, "the metric failed")
    if passed is None or metric.get("skipped") is True:
        return Verdict.none("missing", passed, "not measured")
    return passed_or_failed(passed)


IMPORTER = LogImporter(
    name="deepeval",
    endings=(".json",),
    recognises=_recognises,
    records=_records,
    columns=(
        Column("response_id", "case.name"),
        Column("criterion_id", "metric.name"),
        Column("rater_id", "metric.evaluationModel", "deepeval"),
        Column("rater_kind", "", "judge"),
        Column("model", "metric.evaluationModel"),
        Column("explanation", "metric.reason"),
    ),
    verdict=_verdict,
    carried=(
        Carried("metric", but=frozenset({"name", "success", "reason", "evaluationModel", "verboseLogs"})),
        Carried("case", "case.", but=frozenset({"name", "input", "actualOutput", "success", "runDuration"})),
        Carried("case.metadata", "metadata."),
    ),
    verified=("4.3.1",),
    notes=("deepeval: the verdict is success at the metric's threshold; the score is in extra.score",),
)
