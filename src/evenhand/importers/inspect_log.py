"""Logs of Inspect AI: ``.eval`` archives (deflate or zstandard, whole or chunked samples) and ``.json``.

A scorer is a rater, the model that grades for it its ``model``; a score that is an object has one criterion a field. An
epoch is a new answer to the same question, so a response of its own in the cluster ``id``. A score that a person edited
counts as the grader gave it; the edit stands in ``extra.edited_value``.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.errors import SourceError, printable
from evenhand.importers.json_stream import JsonFile, parse
from evenhand.importers.records import Carried, Column, Head, LogImporter, Record, Tally
from evenhand.importers.safe_zip import SafeZip
from evenhand.importers.values import Verdict, as_dict, as_list, scalar, text
from evenhand.verdicts.parsing.forms import letter_scale

_MEMBER = re.compile(r"samples/(.+)_epoch_(\d+)(/sample)?\.json", re.DOTALL)
_REASONS = {
    "refusal": "refused",
    "no_response": "missing",
    "scoring_failed": "error",
}
"""Reasons of a score without a value; every other one (grader_failed, grade_parse_failure, ...) is unparsed."""
_NO_EDIT: dict[str, Any] = {}


def _recognises(path: Path, head: Head) -> bool:
    if path.suffix.casefold() == ".eval":
        return head.data.startswith((b"PK\x03\x04", b"PK\x05\x06"))
    log = as_dict(head.document)
    return "task" in as_dict(log.get("eval")) and {"version", "status"} <= log.keys()


def _records(path: Path, tally: Tally) -> Iterator[Record]:
    if path.suffix.casefold() == ".eval":
        with SafeZip(path) as archive:
            yield from _scores(_members(archive, tally), _header(archive), printable(path.name), tally)
        return
    file = JsonFile(path, "samples")
    if not file.before("eval"):
        raise SourceError(f"{file.shown}: no object eval: this is no Inspect log")
    yield from _scores(enumerate(file.elements(), 1), file.rest, file.shown, tally)


def _header(archive: SafeZip) -> Mapping[str, Any]:
    """The header, or what an unfinished run wrote at its start."""
    for name in ("header.json", "_journal/start.json"):
        if name in archive.members:
            return as_dict(parse(archive.read(name), f"{archive.shown}: {name}"))
    raise SourceError(f"{archive.shown}: no header.json and no _journal/start.json: this is no Inspect log")


def _members(archive: SafeZip, tally: Tally) -> Iterator[tuple[int, Any]]:
    names = [name for name in archive.members if _MEMBER.fullmatch(name)]
    if archive.superseded:
        tally["archive members that a later one replaces, left out"] += archive.superseded
    for number, name in enumerate(names, 1):
        sample = parse(archive.read(name), f"{archive.shown}: {name}")
        beside = name.removesuffix("sample.json") + "metadata.json"
        if name.endswith("/sample.json") and beside in archive.members and isinstance(sample, dict):
            sample["metadata"] = parse(archive.read(beside), f"{archive.shown}: {beside}")
        yield number, sample


def _scores(samples: Iterator[tuple[int, Any]], log: Mapping[str, Any], shown: str, tally: Tally) -> Iterator[Record]:
    """A record a score, then one for every score that a sample lacks."""
    scored: dict[str, dict[tuple[str, str], None]] = {}
    left: list[tuple[dict[str, Any] | _Whole, tuple[str, ...]]] = []
    present_in: dict[tuple[str, ...], tuple[str, ...]] = {}
    total, graders = 0, _Graders(_spec(log))
    for number, sample in samples:
        if not isinstance(sample, dict):
            raise SourceError(f"{shown}: sample {number} is no object")
        total += 1
        told = _identity(sample, number, log)
        scores = as_dict(sample.get("scores"))
        for scorer, score in scores.items():
            for record in _of_score(scorer, as_dict(score), sample, graders):
                scored.setdefault(scorer, {})[record["rater"], record["criterion"]] = None
                yield {**told, **record}
        whole = bool(scores) and scored.keys() <= scores.keys()
        present = present_in.setdefault(tuple(scores), tuple(scores))  # one tuple for all samples that have the same
        left.append((_Whole.of(told) if whole else told, present))
        tally["samples that a person marked invalid, kept"] += bool(sample.get("invalidation"))
    tally["samples"] = total
    if (status := text(log.get("status"))) not in ("success", None):
        tally[f"samples of a run whose status is {printable(status)}"] = total
    if not scored:
        raise SourceError(_nothing(total, [one for one, _ in left if isinstance(one, dict)], log, shown))
    for one, present in left:
        lacking = [scorer for scorer in scored if scorer not in present]
        told = (one if isinstance(one, dict) else one.told(log)) if lacking else {}
        for scorer in lacking:
            for rater, criterion in scored[scorer]:
                yield {**told, "criterion": criterion, "rater": rater, "lacking": True}


class _Whole(NamedTuple):
    """What is remembered of a sample that so far lacks no score: there may be a million."""

    id: Any
    number: int
    epoch: Any
    limit: Any
    invalidated: bool | None
    failed: bool

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "_Whole":
        more = told["more"]
        failed = bool(told["sample"].get("error"))
        return cls(told["id"], told["number"], more["epoch"], more["limit"], more["invalidated"], failed)

    def told(self, log: Mapping[str, Any]) -> dict[str, Any]:
        """The same as the records of the sample told it, without its texts."""
        found = _identity({"id": self.id, "epoch": self.epoch, "error": self.failed}, self.number, log)
        found["more"] |= {"limit": self.limit, "invalidated": self.invalidated}
        return found


def _nothing(total: int, left: list[dict[str, Any]], log: Mapping[str, Any], shown: str) -> str:
    if not total:
        return f"{shown}: no samples, only a header (status {printable(text(log.get('status')) or 'unknown')})"
    failed = sum(bool(told["sample"].get("error")) for told in left)
    why = f"{failed:,} ended in an error" if failed else "it was run without scoring; inspect score adds scores"
    return f"{shown}: {total:,} samples and no score: {why}"


def _identity(sample: dict[str, Any], number: int, log: Mapping[str, Any]) -> dict[str, Any]:
    """What all records of a sample share; its long texts are let go."""
    spec = _spec(log)
    kept = {
        key: sample[key] for key in ("metadata", "uuid", "target", "error", "limit", "invalidation") if key in sample
    }
    return {
        "id": sample.get("id"),
        "number": number,
        "sample": kept,
        "more": {
            "epoch": sample.get("epoch"),
            "uuid": kept.get("uuid"),
            "target": kept.get("target"),
            "limit": as_dict(kept.get("limit")).get("type"),
            "invalidated": True if kept.get("invalidation") else None,
            "error": as_dict(kept.get("error")).get("message"),
            "task": spec.get("task"),
            "task_id": spec.get("task_id"),
            "system": spec.get("model"),
            "created": spec.get("created"),
        },
    }


def _spec(log: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_dict(log.get("eval"))


def _of_score(
    scorer: str, score: Mapping[str, Any], sample: Mapping[str, Any], graders: "_Graders"
) -> Iterator[dict[str, Any]]:
    """A record a score; one a field of an object, and one a grader of a list."""
    edits = as_list(score.get("history"))
    given, added = score, False
    if edits:
        added = bool(as_dict(edits[0]).get("provenance"))
        given = score if added else {**score, **as_dict(edits[0])}
    grader, edit = graders.of(scorer, score, sample), _edit(score, edits, added=added)

    def record(criterion: str, rater: str, value: object) -> dict[str, Any]:
        return {
            "grader": grader,
            "score": given,
            "edit": edit,
            "added": added,
            "criterion": criterion,
            "rater": rater,
            "value": value,
        }

    value = given.get("value")
    if isinstance(value, dict) and value:
        yield from (record(name, scorer, part) for name, part in value.items())
    elif isinstance(value, list) and value:
        yield from (record(scorer, f"{scorer}[{place}]", part) for place, part in enumerate(value, 1))
    else:
        yield record(scorer, scorer, value)


def _edit(score: Mapping[str, Any], edits: list[Any], *, added: bool) -> dict[str, Any]:
    """The last edit by a person, if there is one."""
    if len(edits) < 2 and not added:
        return _NO_EDIT
    source = as_dict(as_dict(edits[-1]).get("provenance"))
    return {
        "edited_value": text(score.get("value")),
        "edited_by": source.get("author"),
        "edit_reason": source.get("reason"),
    }


class _Graders:
    """The models that grade, as the header declares them."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        declared = [as_dict(one) for one in as_list(spec.get("scorers"))]
        named = {text(one.get("name")): text(as_dict(one.get("options")).get("model")) for one in declared}
        role = as_dict(spec.get("model_roles")).get("grader")
        models = [text(as_dict(one).get("model")) for one in (role if isinstance(role, list) else [role])]
        self.of_scorer = {name: model for name, model in named.items() if model}
        self.role = ", ".join(model for model in models if model)
        self.system = text(spec.get("model"))

    def of(self, scorer: str, score: Mapping[str, Any], sample: Mapping[str, Any]) -> str | None:
        """The model behind a score; None where no model graded."""
        if scorer in self.of_scorer:
            return self.of_scorer[scorer]
        if "grading" not in as_dict(score.get("metadata")):
            return None
        if self.role:
            return self.role
        others = [name for name in as_dict(sample.get("model_usage")) if name != self.system]
        return others[0] if len(others) == 1 else self.system


def _verdict(record: Record) -> Verdict:
    if record.get("lacking"):
        if record["sample"].get("error"):
            return Verdict(None, "error", None, "sample error")
        return Verdict(None, "missing", None, "no score")
    value, score = record["value"], record["score"]
    if record["added"]:
        return Verdict(None, "missing", None, "score added by a person")
    if value == "N":
        return Verdict(None, "abstained", "N", "no answer")
    verdict = scalar(value)
    reason = text(score.get("reason") or as_dict(score.get("metadata")).get("unscored_reason"))
    if verdict.status == "unparsed" and reason is not None:
        return Verdict(None, _REASONS.get(reason, "unparsed"), verdict.raw, reason)
    return verdict._replace(reason=verdict.reason or reason)


IMPORTER = LogImporter(
    name="inspect",
    endings=(".eval", ".json"),
    recognises=_recognises,
    records=_records,
    columns=(
        Column("response_id", "id"),
        Column("cluster_id", "id"),
        Column("criterion_id", "criterion"),
        Column("rater_id", "rater"),
        Column("rater_kind", "", "judge"),
        Column("model", "grader"),
        Column("explanation", "score.explanation"),
    ),
    verdict=_verdict,
    carried=(
        Carried("more"),
        Carried("edit"),
        Carried("score", but=frozenset({"value", "explanation", "reason"})),
        Carried("sample.metadata", "metadata."),
    ),
    scale=letter_scale,
    verified=("0.3.42", "0.3.97", "0.3.285"),
)
