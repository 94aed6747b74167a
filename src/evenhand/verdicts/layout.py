"""Recognising a layout by its column names: which column is the response, the cluster, the judge, the reference.

Only names are looked at, only roles the user left open are filled, and what was recognised is always said.
"""

import re
from collections.abc import Iterator, Sequence

from evenhand.errors import MappingError, printable, quoted
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec

CRITERION = "{criterion}"
_RESPONSE = (
    *("response_id", "item_id", "sample_id", "answer_id", "example_id", "doc_id", "record_id", "id", "uid"),
    *("response", "item", "idx"),
)
_CLUSTER = (
    *("cluster_id", "question_id", "prompt_id", "task_id", "topic_id", "passage_id"),
    *("cluster", "question", "prompt", "task", "topic"),
)
_OTHERS = {
    "criterion": ("criterion_id", "criterion", "rubric_line", "checklist_line", "criterion_name"),
    "rater": ("rater_id", "rater", "annotator", "annotator_id", "judge_id", "judge_name"),
    "rater_kind": ("rater_kind", "rater_type", "annotator_kind"),
    "status": ("status", "verdict_status"),
    "reason": ("reason", "status_reason", "extra.reason"),
    "model": ("model", "judge_model"),
    "setting": ("setting",),
    "phrasing": ("phrasing", "prompt_variant", "wording"),
    "occasion": ("occasion", "epoch", "repeat"),
    "arm": ("arm",),
    "learner": ("learner_id", "learner", "student_id", "student"),
    "tail": ("tail",),
    "label_shown": ("label_shown",),
    "n_prior_shown": ("n_prior_shown",),
    "shown_marks": ("shown_marks",),
    "order": ("order",),
}
_VERDICT = ("verdict", "value", "label", "score", "rating", "mark", "grade")
_REFERENCE = ("reference", "gold", "human", "ground_truth", "expected", "truth", "expert", "teacher", "label", "target")
_JUDGE = (
    *("judge", "verdict", "grader", "llm", "prediction", "predicted", "pred", "auto"),
    *("value", "score", "mark", "grade", "rating"),
)
_JUDGE_AFFIXES = (*_JUDGE, "model")
_SAID = ("label", "verdict", "score", "mark", "grade", "rating")
_REFERENCE_NAMES = (*_REFERENCE, *(f"{role}_{word}" for role in _REFERENCE[:8] for word in _SAID))
_JUDGE_NAMES = (
    *_JUDGE,
    "llm_judge",
    "ai_judge",
    *(f"{role}_{word}" for role in (*_JUDGE[:8], "model") for word in _SAID),
)
_SURE = ("confidence", "judgeconfidence", "probability", "certainty")
_WEIGHTS = ("weight", "designweight", "samplingweight")
_SEPARATORS = re.compile(r"[_\s.\-/]+")


def recognise(spec: Spec, sources: Sequence[Source]) -> Spec:
    """Fill the roles that the user left open.

    Raises:
        MappingError: no response id or no verdict can be found; names the columns and the options.
    """
    columns = [column for source in sources for column in source.columns]
    spec = spec.model_copy(update={"judge": _apart(spec.judge, columns), **_two_units(spec, columns)})
    found: dict[str, object] = {}
    taken = {name for name in _named(spec) if name}
    if not spec.response:
        found["response"] = response = (_response(sources[0], columns, taken),)
        taken |= set(response)
    for role, names in _OTHERS.items():
        if getattr(spec, role) is None and (match := _first(names, columns, taken)):
            found[role] = match
    if spec.cluster is None and (match := _first(_CLUSTER, columns, taken)):
        found["cluster"] = match
    if spec.learner is None and spec.cluster and _folded(spec.cluster) in map(_folded, _OTHERS["learner"]):
        found["learner"] = spec.cluster
    found |= _verdicts(spec, columns, taken, has_rater=bool(spec.rater or found.get("rater")))
    return _without_idle_roles(spec.model_copy(update=found), found)


def _two_units(spec: Spec, columns: Sequence[str]) -> dict[str, str]:
    """Two units named in one value, apart by a comma; a column whose name holds a comma stays whole."""
    if spec.cluster is None or spec.second_cluster is not None or spec.cluster in columns:
        return {}
    parts = [part.strip() for part in spec.cluster.split(",")]
    return {"cluster": parts[0], "second_cluster": parts[1]} if len(parts) == 2 and set(parts) <= set(columns) else {}


def _apart(names: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Names with the lists among them taken apart at commas; a column whose name holds a comma stays whole."""
    apart: list[str] = []
    for name in names:
        parts = [part.strip() for part in name.split(",")]
        is_list = (
            len(parts) > 1 and name not in columns and CRITERION not in name and all(part in columns for part in parts)
        )
        apart += parts if is_list else [name]
    return tuple(apart)


def named_columns(spec: Spec) -> tuple[str | None, ...]:
    """Columns to which the user, or recognition, gave a role."""
    return (*_named(spec), spec.rater_kind, spec.status, spec.reason, *spec.facets)


def _named(spec: Spec) -> tuple[str | None, ...]:
    return (
        *spec.response,
        *spec.judge,
        spec.reference,
        spec.verdict,
        spec.cluster,
        spec.second_cluster,
        *spec.length,
        *spec.author,
        *spec.group,
        spec.criterion,
        spec.rater,
        *spec.text,
        spec.confidence,
        spec.explanation,
        spec.count,
        spec.strata,
    )


def overlooked(spec: Spec, source: Source) -> tuple[str, ...]:
    """Notes on columns without a role whose names say that they are reference labels, another judge or a confidence.

    Args:
        spec: complete.
        source: the one file that is read.
    """
    patterns = [name for name in (*spec.judge, spec.reference, *spec.text) if name and CRITERION in name]
    taken = {name for name in named_columns(spec) if name}
    taken |= {column for pattern in patterns for column in expand(pattern, source.columns).values()}
    free = [column for column in source.columns if column not in taken]
    found = []
    has_reference = spec.reference is not None or spec.rater_kind is not None
    if not has_reference and (columns := [one for one in free if one.casefold().startswith(_REFERENCE[:8])]):
        found.append(f"not read: {quoted(columns)}; reference labels are named with --reference COL")
    plain = [name for name in spec.judge if CRITERION not in name] if spec.rater is None else []
    if len(plain) == 1 and (columns := [one for one in free if _beside(plain[0], one)]):
        found.append(f"not read: {quoted(columns)}; several judges are named with --judge, once each")
    if spec.confidence is None and (columns := [one for one in free if _folded(one) in _SURE]):
        found.append(f"not read: {quoted(columns)}; a judge's confidence is named with --confidence COL")
    return tuple(found)


def overlooked_weights(spec: Spec, source: Source) -> tuple[str, ...]:
    """A note where a column is called like a design weight and is read as nothing: labels drawn by verdict mislead without."""
    weights = [one for one in source.columns if _folded(one) in _WEIGHTS]
    if spec.weight is not None or not weights:
        return ()
    return (f"not read: {quoted(weights)}; design weights of a sample are named with --weight COL",)


def _beside(judge: str, column: str) -> bool:
    """Whether a column is called like a judge's with a short ending: judge_b beside judge, judge_2 beside judge_1."""
    stem = re.sub(r"[_\s.\-]?[A-Za-z0-9]$", "", judge) if re.search(r"[_\s.\-][A-Za-z0-9]$", judge) else judge
    return bool(re.fullmatch(re.escape(stem) + r"[_\s.\-][A-Za-z0-9]", column))


def _folded(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()


def _first(names: Sequence[str], columns: Sequence[str], taken: set[str]) -> str | None:
    """The column that is called by the first of these names, whatever its case and separators."""
    by_folded = {_folded(column): column for column in reversed(columns) if column not in taken}
    return next((by_folded[_folded(name)] for name in names if _folded(name) in by_folded), None)


def _response(source: Source, columns: Sequence[str], taken: set[str]) -> str:
    match = _first(_RESPONSE, columns, taken)
    if match is None:
        raise MappingError(
            f"{printable(source.name)}: which column identifies a response? None is named like one "
            f"({', '.join(_RESPONSE[:6])}, …); say --response COL, or --response COL,COL where an id takes several "
            f"columns. Columns are {quoted(columns, 20)}" + _sideways(columns)
        )
    return match


def _sideways(columns: Sequence[str]) -> str:
    """The way out where the rows look like raters: said, never taken."""
    if (rater := recognise_rater(columns)) is None:
        return ""
    return f'. If each row is a rater ("{printable(rater)}") and each further column an item, say --items columns'


def _verdicts(spec: Spec, columns: Sequence[str], taken: set[str], *, has_rater: bool) -> dict[str, object]:
    if spec.judge or spec.verdict:
        partner = _partner(spec.judge[0], columns) if spec.judge and spec.reference is None else None
        return {"reference": partner} if partner else {}
    if has_rater and (match := _first(_VERDICT, columns, taken)):
        reference = spec.reference or _first(_REFERENCE, columns, taken | {match})
        return {"verdict": match, **({"reference": reference} if reference else {})}
    if spec.reference is None and (patterns := _paired_patterns(columns)):
        return {"reference": patterns[0], "judge": (patterns[1],)}
    reference = spec.reference or _first(_REFERENCE_NAMES, columns, taken)
    judge = _first(_JUDGE_NAMES, columns, taken | {reference or ""})
    if judge is None and spec.reference is None and _folded(reference or "") in _VERDICT:
        judge, reference = reference, None
    if judge is None:
        found = f'"{printable(reference)}" looks like the reference, but w' if reference else "W"
        raise MappingError(
            f"{found}hich column holds the judge's verdicts? Say --judge COL, or a pattern such as "
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
    references, judges = _stems(columns, _REFERENCE), _stems(columns, _JUDGE_AFFIXES)
    for (before, after), stems in references.items():
        for (judge_before, judge_after), judge_stems in judges.items():
            inner = _inner_pattern(stems & judge_stems)
            if inner and (best is None or inner[0] > best[0]):
                best = (inner[0], before + inner[1] + after, judge_before + inner[1] + judge_after)
    return best[1:] if best else None


def _inner_pattern(stems: set[str]) -> tuple[int, str] | None:
    """The pattern shared by several stems: numbered (e1, e2, …) if most are, else the stem itself."""
    numbered: dict[str, int] = {}
    for stem in sorted(stems):
        if found := re.fullmatch(r"(\D*)[0-9]+", stem):
            numbered[found[1]] = numbered.get(found[1], 0) + 1
    if numbered and max(numbered.values()) > 1:
        prefix = max(numbered, key=lambda name: numbered[name])
        return numbered[prefix], prefix + CRITERION
    return (len(stems), CRITERION) if len(stems) > 1 else None


def _partner(judge: str, columns: Sequence[str]) -> str | None:
    """The reference pattern or column beside a judge that the user named."""
    if CRITERION not in judge:
        return _first(_REFERENCE, columns, {judge})
    wanted = numbers_only(set(expand(judge, columns)))
    found = (
        before + prefix + CRITERION + after
        for (before, after), stems in _stems(columns, _REFERENCE).items()
        for prefix in _prefixes(stems, wanted)
    )
    return next(found, None)


def _prefixes(stems: set[str], wanted: set[str]) -> Iterator[str]:
    """What stands before the criterion in stems that hold all the wanted ones."""
    one = min(wanted, default="")
    for stem in sorted(stems):
        prefix = stem.removesuffix(one)
        if len(wanted) > 1 and prefix != stem and stems.issuperset(prefix + criterion for criterion in wanted):
            yield prefix


def _without_idle_roles(spec: Spec, found: dict[str, object]) -> Spec:
    """Roles recognised in a file whose rows do not use them: judge_name beside one judge column is no rater."""
    idle = {
        "criterion": any(CRITERION in name for name in (*spec.judge, spec.reference or "")),
        "rater": spec.verdict is None and bool(spec.judge),
        "rater_kind": spec.verdict is None,
        "reason": spec.status is None,
    }
    return spec.model_copy(update={role: None for role, is_idle in idle.items() if is_idle and role in found})


def numbers_only(criteria: set[str]) -> set[str]:
    """Of what a pattern captured the numbers, where there are several: 1, 2, 3 and not "xplanation"."""
    numbers = {criterion for criterion in criteria if criterion.isdigit()}
    return numbers if len(numbers) > 1 else criteria


def expand(pattern: str, columns: Sequence[str]) -> dict[str, str]:
    """Criterion → column for a pattern, or {"": column} for a plain name.

    >>> expand("judge_e{criterion}", ["id", "judge_e1", "judge_e2"])
    {'1': 'judge_e1', '2': 'judge_e2'}
    """
    if CRITERION not in pattern:
        return {"": pattern}
    shape = re.compile(re.escape(pattern).replace(re.escape(CRITERION), "(.+)"), re.DOTALL)
    return {found[1]: column for column in columns if (found := shape.fullmatch(column))}


def recognise_id(columns: Sequence[str]) -> str | None:
    """The column that is called like the id of a response, if one is."""
    return _first(_RESPONSE, columns, set())


def recognise_rater(columns: Sequence[str]) -> str | None:
    """The column that is called like a rater's, if one is."""
    return _first(_OTHERS["rater"], columns, set())


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


def recognise_response(source: Source, like: Sequence[str]) -> tuple[str, ...]:
    """The response columns of a second file: the same names where it has them, else one named like an id."""
    if all(name in source.columns for name in like):
        return tuple(like)
    return (_response(source, source.columns, set()),)


def recognise_cluster(columns: Sequence[str]) -> str | None:
    """The column of clusters in a file of reference labels, if one is named so."""
    return _first(_CLUSTER, columns, set())


def names_judge(columns: Sequence[str]) -> bool:
    """Whether a file names its judge outright, so that the other file is the reference's."""
    return _first(_JUDGE[:8], columns, set()) is not None or bool(_stems(columns, _JUDGE[:1]))
