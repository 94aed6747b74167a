"""What these data cannot say and what to collect, each by its own column of conditions."""

from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.report.lookups import is_of_arms, judge_sources, n_values, ok, wording_of
from evenhand.report.scorer import is_studied, repeats_sentence
from evenhand.report.tables import plural
from evenhand.results import Audit


@dataclass(frozen=True, slots=True)
class Facet:
    """A condition of the judge.

    Attributes:
        name: as in the declarations.
        word, words: for one of its values, and for several.
        shows: what a varied one could show, after "could show".
        question: what cannot be said while it is not varied, with why; empty where other rows ask it.
        collect: what would let it be said.
    """

    name: str
    word: str
    words: str
    shows: str
    question: str = ""
    collect: str = ""


PHRASING = Facet(
    "phrasing",
    "wording",
    "wordings",
    "how far verdicts depend on the wording of the instruction",
    "whether its decisions depend on the wording of the instruction: there is one wording",
    "judge the same responses under several wordings (three are imprecise, eight are better), a column --phrasing COL",
)
OCCASION = Facet(
    "occasion",
    "occasion",
    "occasions",
    "how far a rerun changes verdicts",
    "whether a rerun gives the same verdicts: there is one occasion",
    "judge the same responses a second time, a column --occasion COL",
)
ARM = Facet(
    "arm",
    "statement about the author",
    "statements about the author",
    "whether a statement about the author moves verdicts on identical work",
)
ORDER = Facet("order", "order of showing", "orders of showing", "whether the order of showing decides verdicts")
MODEL = Facet("model", "model", "models", "how far verdicts differ between models")
SETTING = Facet("setting", "setting", "settings", "how far verdicts differ between settings")
FACETS = (PHRASING, OCCASION, ARM, ORDER, MODEL, SETTING)

_APART = ": audit each by itself and compare them"


def is_reported(audit: Audit, facet: Facet) -> bool:
    """Whether this audit computes what the varied facet shows."""
    if facet is ORDER:
        return any(e.statistic == "order_consistency" and e.status == "ok" for e in audit.estimates)
    if facet is ARM:
        return any(is_of_arms(e) and e.status == "ok" for e in audit.estimates)
    is_repeated = facet is OCCASION and any(repeats_sentence(audit, judge) for judge in judge_sources(audit))
    return is_repeated or is_studied(audit, facet.name)


def pooled(audit: Audit, facet: Facet) -> str:
    """That a varied facet is pooled and how to use it all the same; nothing where it is not varied."""
    n = n_values(audit, facet.name)
    if n < 2 or is_reported(audit, facet):
        return ""
    why = next(
        (
            e.reason
            for e in audit.estimates
            if e.status != "ok"
            and e.reason
            and (
                is_of_arms(e)
                if facet is ARM
                else e.statistic == "variance_component" and e.params.get("facet") == facet.name
            )
        ),
        "",
    )
    if why:
        return f"{plural(n, facet.word, facet.words)} are in these data and cannot be compared: {why}"
    if any(wording_of(e) == facet.name and e.status == "ok" for e in audit.estimates):
        return ""
    return f"{plural(n, facet.word, facet.words)} are in these data, pooled by this version{_APART}"


def beside_people(audit: Audit) -> bool:
    """Whether people's labels stand beside a judge's."""
    return any(e.statistic == "human_ceiling" and e.status == "ok" for e in audit.estimates)


def no_statement(audit: Audit) -> str:
    """What can be said about the judge without a reference."""
    varied = [facet for facet in FACETS if n_values(audit, facet.name) > 1]
    if beside_people(audit):
        return (
            "No reference is named, so the judge's errors have no value here; people's labels stand beside it, and the judge is "
            "compared with each of them."
        )
    if not varied:
        return (
            "No statement about the judge can be made from these data: they hold neither reference labels nor a varied "
            "condition of the judge, and describe the bank and its checklist only."
        )
    said = ["These data hold no reference labels, so nothing can be said about the judge's errors."]
    for facet in varied:
        count = plural(n_values(audit, facet.name), facet.word, facet.words)
        where = "the numbers on orders say it" if facet is ORDER else "the study of them says it"
        end = where if is_reported(audit, facet) else "this version pools them"
        said.append(f"Their {count} could show {facet.shows}; {end}.")
    return " ".join(said)


NO_ERROR = "certify agreement, no error seen"
"""Goal of a label budget's rows, as its table names it."""
CERTIFIED = 0.95
"""Agreement that labels should at least be able to certify."""


def _fewest_labels(audit: Audit) -> str:
    """How many labels certify that agreement if none of them is an error."""
    table = audit.tables.get(f"label_budget/{judge_sources(audit)[0]}")
    for row in table.records() if table is not None else ():
        if row["goal"] == NO_ERROR and row["target"] == CERTIFIED and row["labels"] is not None:
            return f"; {row['labels']:,} labels or more can certify an agreement of {100 * CERTIFIED:g} %"
    return ""


def _too_few_labels(audit: Audit) -> Iterator[tuple[str, str]]:
    """Labels that could not certify much even without an error among them."""
    found = [one for judge in judge_sources(audit) if (one := ok(audit, "certifiable", judge, errors=0)) is not None]
    best = max(found, key=lambda one: one.estimate or 0.0, default=None)
    if best is not None and best.estimate is not None and best.estimate < CERTIFIED:
        yield (
            (
                f"whether it agrees on more than {100 * best.estimate:.1f} % of verdicts: {plural(best.n_used, 'label')} certify no more, "
                "even with no error among them"
            ),
            f"have more responses labelled (evenhand sample draws them{_fewest_labels(audit)})",
        )


def cannot_say(audit: Audit) -> tuple[tuple[str, str], ...]:
    """What these data cannot say, and what to collect."""
    found = []
    if not audit.data.has_reference:
        found.append(
            (
                "how often the judge errs, and in which direction: there are no reference labels",
                f"label a sample of the responses (evenhand sample draws it{_fewest_labels(audit)}) and add it with --labels FILE",
            )
        )
    found += _too_few_labels(audit)
    for facet in FACETS:
        if words := pooled(audit, facet):
            found.append((f"{facet.shows}: {words.removesuffix(_APART)}", _APART.removeprefix(": ")))
        elif facet.question and n_values(audit, facet.name) < 2:
            found.append((facet.question, facet.collect))
    if (
        audit.data.has_reference
        and not audit.declarations.cuts
        and audit.declarations.scale == "binary"
        and audit.data.n_criteria > 1
    ):
        found.append(
            ("how often a pass or fail matches the reference: no cut is declared", "name the pass mark with --cut C")
        )
    if audit.declarations.cluster_unit == "response":
        found.append(
            (
                "how far intervals are too narrow because responses share a question, prompt or student",
                "name what they share with --cluster COL",
            )
        )
    return tuple(found)
