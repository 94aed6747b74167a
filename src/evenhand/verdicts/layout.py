"""Recognising a layout by its column names: which column is the response, the cluster, the judge, the reference.

Only names are looked at, only roles the user left open are filled, and what was recognised is always said.
"""

import re
from collections.abc import Sequence

from evenhand.errors import MappingError, quoted
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec

CRITERION = "{criterion}"
_RESPONSE = ("response_id", "item_id", "sample_id", "answer_id", "example_id", "doc_id", "record_id", "id", "uid", "response", "item")  # fmt: skip
_CLUSTER = ("cluster_id", "question_id", "prompt_id", "task_id", "topic_id", "passage_id", "cluster", "question", "prompt", "task", "topic")  # fmt: skip
_OTHERS = {
    "criterion": ("criterion_id", "criterion", "rubric_line", "checklist_line", "criterion_name"),
    "rater": ("rater_id", "rater", "annotator", "annotator_id", "judge_id", "judge_name"),
    "rater_kind": ("rater_kind", "rater_type", "annotator_kind"),
    "status": ("status", "verdict_status"),
    "model": ("model", "judge_model"),
    "setting": ("setting",),
    "phrasing": ("phrasing", "prompt_variant", "wording"),
    "occasion": ("occasion", "epoch", "repeat"),
    "arm": ("arm",),
    "order": ("order",),
}
_VERDICT = ("verdict", "value", "label", "score", "rating", "mark", "grade")
_REFERENCE = (
    "reference",
    "gold",
    "human",
    "ground_truth",
    "expected",
    "truth",
    "expert",
    "teacher",
    "label",
    "target",
)
_JUDGE = (
    "judge",
    "verdict",
    "grader",
    "llm",
    "prediction",
    "predicted",
    "pred",
    "model",
    "auto",
    "value",
    "score",
)
_SEPARATORS = re.compile(r"[_\s.\-/]+")


def recognise(spec: Spec, sources: Sequence[Source]) -> Spec:
    """Fill the roles that the user left open.

    Raises:
        MappingError: no response id or no verdict can be found; names the columns and the options.
    """
    columns = [column for source in sources for column in source.columns]
    found: dict[str, object] = {}
    taken = {name for name in _named(spec) if name}
    if not spec.response:
        found["response"] = (_response(columns, taken),)
        taken |= set(found["response"])  # type: ignore[call-overload]
    for role, names in _OTHERS.items():
        if getattr(spec, role) is None and (match := _first(names, columns, taken)):
            found[role] = match
    if spec.cluster is None and (match := _first(_CLUSTER, columns, taken)):
        found["cluster"] = match
    found |= _verdicts(spec, columns, taken, has_rater=bool(spec.rater or found.get("rater")))
    return _without_idle_roles(spec.model_copy(update=found), found)


def _named(spec: Spec) -> tuple[str | None, ...]:
    return (
        *spec.response,
        *spec.judge,
        spec.reference,
        spec.verdict,
        spec.cluster,
        spec.criterion,
        spec.rater,
        *spec.text,
    )


def _first(names: Sequence[str], columns: Sequence[str], taken: set[str]) -> str | None:
    by_folded = {column.casefold(): column for column in reversed(columns) if column not in taken}
    return next((by_folded[name] for name in names if name in by_folded), None)


def _response(columns: Sequence[str], taken: set[str]) -> str:
    match = _first(_RESPONSE, columns, taken)
    if match is None:
        raise MappingError(
            f"which column identifies a response? None is named like one ({', '.join(_RESPONSE[:6])}, …); "
            f"say --response COL. Columns are {quoted(columns, 20)}"
        )
    return match


def _verdicts(spec: Spec, columns: Sequence[str], taken: set[str], *, has_rater: bool) -> dict[str, object]:
    if spec.judge or spec.verdict:
        if spec.reference is None and spec.judge and (partner := _partner(spec.judge[0], columns)):
            return {"reference": partner}
        return {}
    if has_rater and spec.reference is None and (match := _first(_VERDICT, columns, taken)):
        return {"verdict": match}
    if spec.reference is None and (patterns := _paired_patterns(columns)):
        return {"reference": patterns[0], "judge": (patterns[1],)}
    reference = spec.reference or _first(_REFERENCE, columns, taken)
    judge = _first(_JUDGE, columns, taken | {reference or ""})
    if judge is None:
        judge, reference = (reference, None) if spec.reference is None and reference else (None, reference)
    if judge is None:
        raise MappingError(
            "which column holds the judge's verdicts? Say --judge COL, or a pattern such as "
            f"--judge 'judge_{CRITERION}' for one column a criterion. Columns are {quoted(columns, 20)}"
        )
    return {"judge": (judge,), **({"reference": reference} if reference else {})}


def _split(column: str, words: Sequence[str]) -> tuple[str, str] | None:
    """The text before and after a role word that stands at either end of a column name, if one does."""
    for word in words:
        if re.match(rf"{word}[_\s.\-/]", column, re.IGNORECASE):
            return column[: len(word) + 1], ""
        if re.search(rf"[_\s.\-/]{word}$", column, re.IGNORECASE):
            return "", column[-len(word) - 1 :]
    return None


def _stems(columns: Sequence[str], words: Sequence[str]) -> dict[tuple[str, str], set[str]]:
    """Role affixes → the rests of the names that carry them."""
    stems: dict[tuple[str, str], set[str]] = {}
    for column in columns:
        if affix := _split(column, words):
            stems.setdefault(affix, set()).add(column[len(affix[0]) : len(column) - len(affix[1])])
    return stems


def _paired_patterns(columns: Sequence[str]) -> tuple[str, str] | None:
    """Patterns such as gold_e{criterion} and judge_e{criterion}, where both sides have the same criteria."""
    best: tuple[int, str, str] | None = None
    references, judges = _stems(columns, _REFERENCE), _stems(columns, _JUDGE)
    for (before, after), stems in references.items():
        for (judge_before, judge_after), judge_stems in judges.items():
            inner = _inner_pattern(stems & judge_stems)
            if inner and (best is None or inner[0] > best[0]):
                best = (inner[0], before + inner[1] + after, judge_before + inner[1] + judge_after)
    return best[1:] if best else None


def _inner_pattern(stems: set[str]) -> tuple[int, str] | None:
    """The pattern shared by several stems: numbered (e1, e2, …) if most are, else the stem itself."""
    numbered: dict[str, int] = {}
    for stem in stems:
        if found := re.fullmatch(r"(\D*)[0-9]+", stem):
            numbered[found[1]] = numbered.get(found[1], 0) + 1
    if numbered and max(numbered.values()) > 1:
        prefix = max(numbered, key=lambda name: numbered[name])
        return numbered[prefix], prefix + CRITERION
    return (len(stems), CRITERION) if len(stems) > 1 else None


def _partner(judge: str, columns: Sequence[str]) -> str | None:
    """The reference pattern or column beside a judge that the user named."""
    if CRITERION in judge:
        shape = re.compile(re.escape(judge).replace(re.escape(CRITERION), "(.+)"))
        wanted = {found[1] for column in columns if (found := shape.fullmatch(column))}
        for (before, after), stems in _stems(columns, _REFERENCE).items():
            for stem in stems:
                for criterion in wanted:
                    if criterion and stem.endswith(criterion) and len(wanted) > 1:
                        prefix = stem[: len(stem) - len(criterion)]
                        if all(prefix + other in stems for other in wanted):
                            return before + prefix + CRITERION + after
        return None
    return _first(_REFERENCE, columns, {judge})


def _without_idle_roles(spec: Spec, found: dict[str, object]) -> Spec:
    """Roles recognised in a file whose rows do not use them: judge_model beside one judge column is no facet."""
    idle: dict[str, object] = {}
    if spec.criterion and any(CRITERION in name for name in (*spec.judge, spec.reference or "")):
        if "criterion" in found:
            idle["criterion"] = None
    if spec.verdict is None and "rater" in found and spec.judge:
        idle["rater"] = None
    if spec.verdict is None and "rater_kind" in found:
        idle["rater_kind"] = None
    return spec.model_copy(update=idle)


def expand(pattern: str, columns: Sequence[str]) -> dict[str, str]:
    """Criterion → column for a pattern, or {"": column} for a plain name.

    >>> expand("judge_e{criterion}", ["id", "judge_e1", "judge_e2"])
    {'1': 'judge_e1', '2': 'judge_e2'}
    """
    if CRITERION not in pattern:
        return {"": pattern}
    shape = re.compile(re.escape(pattern).replace(re.escape(CRITERION), "(.+)"), re.DOTALL)
    return {found[1]: column for column in columns if (found := shape.fullmatch(column))}


def recognise_reference(columns: Sequence[str], like: str | None = None) -> str | None:
    """The label column or pattern of a file of reference labels.

    Args:
        columns: of the labels file.
        like: the judge's column or pattern, which the labels file may repeat name for name.
    """
    numbered = {
        affix: inner for affix, stems in _stems(columns, _REFERENCE).items() if (inner := _inner_pattern(stems))
    }
    if numbered:
        (before, after), (_, shared) = max(numbered.items(), key=lambda item: item[1][0])
        return before + shared + after
    if match := _first(_REFERENCE, columns, set()):
        return match
    if like and any(column in columns for column in expand(like, columns).values()):
        return like
    return _first(_VERDICT, columns, set())


def recognise_response(columns: Sequence[str], like: Sequence[str]) -> tuple[str, ...]:
    """The response columns of a second file: the same names where it has them, else one named like an id."""
    return tuple(like) if all(name in columns for name in like) else (_response(columns, set()),)
