"""FastChat's MT-Bench judgments (``model_judgment/*.jsonl``): single marks, pairs in both orders, and human pairs.

A pair is read free of the order in which its models stand: the model that comes first in the alphabet is A, the other B,
so that judge and human rows meet. ``order`` says which model the judge was shown first.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.errors import SourceError, printable
from evenhand.importers.json_stream import lines
from evenhand.importers.records import Carried, Column, Head, LogImporter, Record, Tally
from evenhand.importers.values import Verdict, as_dict, scalar, text
from evenhand.verdicts.parsing.forms import pair_scale

_API_ERROR = "$ERROR$"
_SINGLE = frozenset({"question_id", "model", "judge", "judgment", "score", "turn"})
_PAIR = frozenset({"question_id", "model_1", "model_2", "g1_winner", "g2_winner", "turn"})
_HUMAN = frozenset({"question_id", "model_a", "model_b", "winner", "judge", "turn"})


def _kind(line: Mapping[str, Any]) -> str | None:
    kinds = {"single": _SINGLE, "pair": _PAIR, "human": _HUMAN}
    return next((kind for kind, fields in kinds.items() if fields <= line.keys()), None)


def _recognises(_path: Path, head: Head) -> bool:
    return _kind(as_dict(head.document)) is not None


def _records(path: Path, tally: Tally) -> Iterator[Record]:
    for number, found in lines(path):
        line = as_dict(found)
        kind = _kind(line)
        if kind is None:
            raise SourceError(f"{printable(path.name)} line {number}: neither a single mark nor a pair")
        tally[f"{kind} lines"] += 1
        told = {"line": line, "number": number, "kind": "judge", **_judge(line)}
        if kind == "single":
            system = text(line.get("model"))
            yield {
                **told,
                "response": _joined(line, system),
                "value": line.get("score"),
                "judgment": line.get("judgment"),
            }
        elif kind == "pair" and "m1_score" in line:
            yield {**told, **_pair(line, "model_1", "model_2"), "winner": _by_marks(line)}
        elif kind == "pair":
            yield from _both_orders(line, told)
        else:
            pair = _pair(line, "model_a", "model_b")
            yield {**told, **pair, "kind": _human_kind(line), "winner": line.get("winner")}


def _joined(line: Mapping[str, Any], *parts: str | None) -> str | None:
    """Question, turn and systems as one id; None where one is lacking."""
    named = [text(line.get("question_id")), text(line.get("turn")), *parts]
    return " | ".join(part or "" for part in named) if all(named) else None


def _pair(line: Mapping[str, Any], first: str, second: str) -> dict[str, Any]:
    """The pair's id, and the labels that the file's names for the two models stand for."""
    one, two = text(line.get(first)) or "", text(line.get(second)) or ""
    labels = {first: "A", second: "B"} if one <= two else {first: "B", second: "A"}
    return {"response": _joined(line, *sorted((one, two))), "labels": labels}


def _both_orders(line: Mapping[str, Any], told: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A record for each order; the second one's winner is already mapped back."""
    pair = _pair(line, "model_1", "model_2")
    for game, first in (("g1", "model_1"), ("g2", "model_2")):
        yield {
            **told,
            **pair,
            "winner": line.get(f"{game}_winner"),
            "judgment": line.get(f"{game}_judgment"),
            "order": f"{pair['labels'][first]} first",
        }


def _by_marks(line: Mapping[str, Any]) -> Any:
    """The winner of two marks given one by one, which no order was shown to; none where a reply held no mark."""
    return "error" if -1 in (line.get("m1_score"), line.get("m2_score")) else line.get("g1_winner")


def _judge(line: Mapping[str, Any]) -> dict[str, Any]:
    judge = line.get("judge")
    if isinstance(judge, list):
        model, setting = (*judge, None, None)[:2]
        return {"rater": model, "setting": setting}
    return {"rater": judge, "setting": None}


def _human_kind(line: Mapping[str, Any]) -> str:
    """People are called expert_7 or author_7; other names are models."""
    judge = line.get("judge")
    name = text(judge[0] if isinstance(judge, list) and judge else judge) or ""
    return "human" if name.startswith(("expert_", "author_")) else "judge"


def _verdict(record: Record) -> Verdict:
    judgment = record.get("judgment")
    failed = isinstance(judgment, str) and judgment.strip() == _API_ERROR
    if "labels" in record:
        return _winner(record, failed=failed)
    value = record["value"]
    if failed:
        return Verdict.none("error", value, "the judge failed")
    if isinstance(value, int | float) and value == -1:
        return Verdict.none("unparsed", value, "-1: no mark in the reply")
    return scalar(value)


def _winner(record: Record, *, failed: bool) -> Verdict:
    winner = record["winner"]
    if failed:
        return Verdict.none("error", winner, "the judge failed")
    if winner is None:
        return Verdict(None, "missing", None, "null")
    if isinstance(winner, str) and winner in record["labels"]:
        return Verdict(record["labels"][winner], "scored", winner)
    if isinstance(winner, str) and winner.startswith("tie"):
        return Verdict.none("tied", winner, winner)
    return Verdict.none("unparsed", winner, "no winner in the reply")


_TEXTS = frozenset({"question_id", "judge", "user_prompt", "judgment", "score", "winner", "turn"})

IMPORTER = LogImporter(
    name="mt_bench",
    endings=(".jsonl",),
    recognises=_recognises,
    records=_records,
    columns=(
        Column("response_id", "response"),
        Column("cluster_id", "line.question_id"),
        Column("criterion_id", "", "overall"),
        Column("rater_id", "rater"),
        Column("rater_kind", "kind"),
        Column("setting", "setting"),
        Column("order", "order"),
        Column("explanation", "judgment"),
    ),
    verdict=_verdict,
    carried=(
        Carried(
            "line",
            but=_TEXTS | {f"g{game}_{part}" for game in (1, 2) for part in ("winner", "judgment", "user_prompt")},
        ),
    ),
    scale=pair_scale,
    verified=("0.2.36", "single files of 2023 and 2024"),
    unverified=frozenset({"human lines"}),
)
