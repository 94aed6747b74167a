"""promptfoo's results (``-o out.json`` or ``promptfoo export eval``): the model-graded assertions of every result.

A result is a response, its test a cluster; the assertion's type is the rater and its metric or text the criterion. With
``--repeat`` every repeat is a response of its own: promptfoo numbers repeats on as further tests, so tests of the same
variables are one cluster. promptfoo writes ``pass: false, score: 0`` for a judge that failed: that is never a fail here.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.importers.json_stream import JsonFile
from evenhand.importers.records import Carried, Column, Head, LogImporter, Record, Tally, objects
from evenhand.importers.values import Verdict, as_dict, as_list, get, passed_or_failed, text

_MODEL_GRADED = frozenset(
    {
        "llm-rubric",
        "g-eval",
        "factuality",
        "model-graded-closedqa",
        "model-graded-factuality",
        "answer-relevance",
        "context-recall",
        "context-relevance",
        "context-faithfulness",
        "conversation-relevance",
        "select-best",
        "agent-rubric",
        "pi",
        "search-rubric",
        "trajectory:goal-success",
    }
)
_UNPARSED = ("Could not extract JSON", "Could not parse", "Failed to parse", "Invalid output")
"""How promptfoo begins its reason where the judge answered and the answer held no verdict."""
_ANSWER_FAILED = 2


def _recognises(_path: Path, head: Head) -> bool:
    log = as_dict(head.document)
    results = as_dict(log.get("results"))
    return "results" in results or ("evalId" in log and "version" in results)


def _records(path: Path, tally: Tally) -> Iterator[Record]:
    file = JsonFile(path, "results.results")
    tests: dict[str, str] = {}
    seen: dict[tuple[str | None, ...], int] = {}
    for number, result in objects(enumerate(file.elements(), 1), file.shown, "result", tally):
        told = _identity(result, number, tests, seen)
        parts = as_list(as_dict(result.get("gradingResult")).get("componentResults"))
        assertions = [as_dict(as_dict(part).get("assertion")) for part in parts]
        if not parts and result.get("failureReason") == _ANSWER_FAILED:
            assertions = [as_dict(one) for one in as_list(told["testCase"].get("assert"))]
            parts = [{"unanswered": True}] * len(assertions)
        if not parts:
            tally["results without any assertion, left out"] += 1
        for part, assertion in zip(parts, assertions, strict=True):
            if rater := _rater(assertion, told["testCase"]):
                yield {**told, "part": as_dict(part), "assertion": assertion, **rater}
            else:
                tally["assertions that no model graded, left out"] += 1


def _identity(
    result: Mapping[str, Any], number: int, tests: dict[str, str], seen: dict[tuple[str | None, ...], int]
) -> dict[str, Any]:
    """What all verdicts of a result share."""
    provider = as_dict(result.get("provider"))
    system = text(provider.get("label") or provider.get("id"))
    test, prompt = text(result.get("testIdx")), text(result.get("promptIdx"))
    question = text([result.get("vars"), as_dict(result.get("testCase")).get("description")]) or ""
    cluster = tests.setdefault(question, test or "")
    key = (cluster, prompt, system)
    seen[key] = seen.get(key, 0) + 1
    return {
        "response": None if test is None or prompt is None else f"{cluster} | {prompt}",
        "cluster": cluster,
        "number": number,
        "testCase": as_dict(result.get("testCase")),
        "vars": result.get("vars"),
        "more": {
            "id": result.get("id"),
            "epoch": seen[key],
            "system": system,
            "prompt_id": result.get("promptId"),
            "test": test,
            "error": result.get("error") if result.get("failureReason") == _ANSWER_FAILED else None,
        },
    }


def _rater(assertion: Mapping[str, Any], test: Mapping[str, Any]) -> dict[str, Any] | None:
    """Who judged by which line; None for an assertion that is checked by code."""
    kind = text(assertion.get("type")) or ""
    if kind != "human" and kind.removeprefix("not-") not in _MODEL_GRADED:
        return None
    grader = assertion.get("provider") or get(test, ("options", "provider"))
    return {
        "rater": kind,
        "kind": "human" if kind == "human" else "judge",
        "grader": grader.get("id") if isinstance(grader, dict) else grader,
        "criterion": assertion.get("metric") or assertion.get("value") or kind,
    }


def _verdict(record: Record) -> Verdict:
    part = record["part"]
    if part.get("unanswered"):
        return Verdict(None, "error", None, "no answer to judge")
    passed, reason = part.get("pass"), text(part.get("reason")) or ""
    if as_dict(part.get("metadata")).get("graderError") is True:
        if reason.startswith(_UNPARSED):
            return Verdict.none("unparsed", passed, "the judge's reply holds no verdict")
        return Verdict.none("error", passed, "the judge failed")
    return passed_or_failed(passed)


IMPORTER = LogImporter(
    name="promptfoo",
    endings=(".json",),
    recognises=_recognises,
    records=_records,
    columns=(
        Column("response_id", "response"),
        Column("cluster_id", "cluster"),
        Column("criterion_id", "criterion"),
        Column("rater_id", "rater"),
        Column("rater_kind", "kind"),
        Column("model", "grader"),
        Column("explanation", "part.reason"),
    ),
    verdict=_verdict,
    carried=(
        Carried("more"),
        Carried("part", but=frozenset({"pass", "reason", "unanswered"})),
        Carried("vars", "vars."),
        Carried("testCase.metadata", "metadata."),
    ),
    verified=("0.121.20",),
    notes=("promptfoo: the verdict is pass or fail; the score it was made from is in extra.score",),
)
