"""Question, quantity, answer from these data or what to collect, and the tempting substitute."""

from collections.abc import Callable
from dataclasses import dataclass

from evenhand.errors import printable
from evenhand.report.arms_words import arm_sentences
from evenhand.report.gaps import ARM, PHRASING, Facet, pooled
from evenhand.report.lookups import MOST_JUDGES, cut_words, judge_sources, leading_kr20, ok, reference_of
from evenhand.report.loop_words import loop_sentences
from evenhand.report.scorer import facet_sentence
from evenhand.report.sentences import with_interval
from evenhand.report.tables import NAMES, plural, value_text
from evenhand.report.worst import concentration
from evenhand.results import Audit, Estimate

LABELS = "reference labels for a sample of responses (--labels FILE)"
_MOST_GAPS = 4
Answer = Callable[[Audit, str], list[str]]


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """One question of a user.

    Attributes:
        question: as a user asks it.
        quantity: what answers it.
        answer: from this audit; empty where the data carry none.
        collect: what would answer it; empty where it is answered.
        not_this: the tempting substitute and why it is none.
    """

    question: str
    quantity: str
    answer: str
    collect: str
    not_this: str


def decision_table(audit: Audit) -> tuple[DecisionRow, ...]:
    """All questions, answered where the data carry an answer."""
    labels = "" if audit.data.has_reference else LABELS
    return (
        _row(
            audit,
            "How often does its pass or fail match the reference?",
            "gate accuracy at the cut",
            _gate,
            labels or _for_gate(audit),
            "Φ(λ), a ratio of squared distances; Livingston–Lewis, which counts the sampling of lines as error",
        ),
        _row(
            audit,
            "Where does it err, and in which direction?",
            _quantity_of_errors(audit),
            _errors,
            labels or "scored verdicts on responses that have reference labels",
            "any one coefficient over the whole checklist",
        ),
        _of_facet(
            audit,
            PHRASING,
            "Do its decisions depend on the wording of the instruction?",
            "the phrasing component of the verdicts' variance, and dependability at one phrasing beside it",
            "the same responses under several wordings: three are imprecise, eight are better (--phrasing COL)",
            "agreement of repeats at one prompt: that is sampling noise",
        ),
        _of_facet(
            audit,
            ARM,
            "Does it mark the work or the author?",
            "drift and label effect on identical work under different statements about the author",
            "the same responses with and without the statement (--arm COL); no reference is needed",
            "agreement with a human, who may share the bias or hide it",
        ),
        _row(
            audit,
            "Do the lines rank responses consistently?",
            "KR-20 beside its value on reference labels, and the bank's spread",
            _consistency,
            "binary verdicts on a checklist of two or more lines",
            "KR-20 read as the judge's own reliability",
        ),
        _row(
            audit,
            "Would pass or fail survive another sample of lines?",
            "Livingston–Lewis consistency and accuracy beside their values on reference labels",
            _other_lines,
            "binary verdicts on a checklist of two or more lines, and a pass mark (--cut C)",
            "accuracy against reference labels",
        ),
        _row(
            audit,
            "Is it as good as a person?",
            "how far people agree with each other, beside the judge's agreement with each of them",
            _people,
            "labels of two or more people on the same responses, one row a rater (--rater COL)",
            "one agreement figure against one person",
        ),
        _row(
            audit,
            "Is it fair to groups?",
            "the gap between groups at equal reference score, corrected for the noise of that score",
            _groups,
            "a group column and reference scores",
            "a prompt that does not mention the group",
        ),
        _row(
            audit,
            *_true_rate_words(audit),
            _true_rate,
            "a labelled subset of the responses (--labels FILE)",
            "the judge's raw rate",
        ),
        _row(
            audit,
            "What happens if its marks feed back into what it is told?",
            "the loop's multiplier, eigenvalue and recovery",
            loop_sentences,
            "a run of a grader with true and swapped statements about the author",
            "accuracy on single responses",
        ),
    )


def _row(audit: Audit, question: str, quantity: str, answer: Answer, collect: str, not_this: str) -> DecisionRow:
    """A row whose answer names each judge, one part a judge, where there are several."""
    judges = judge_sources(audit)
    if len(judges) == 1:
        parts = answer(audit, judges[0])
    else:
        found = [(judge, answer(audit, judge)) for judge in judges]
        parts = [f"{printable(judge)}: {'; '.join(said)}" for judge, said in found[:MOST_JUDGES] if said]
        if parts and len(judges) > MOST_JUDGES:
            parts.append(f"and {len(judges) - MOST_JUDGES} more")
    return DecisionRow(question, quantity, " · ".join(parts), "" if parts else collect, not_this)


def _of_facet(audit: Audit, facet: Facet, question: str, quantity: str, collect: str, not_this: str) -> DecisionRow:
    judges = judge_sources(audit)[:MOST_JUDGES]
    said = [facet_sentence(audit, judge, facet.name) for judge in judges]
    if facet is ARM:
        said = [" ".join(arm_sentences(audit, judge)) for judge in judges]
    found = " ".join(one for one in said if one) or pooled(audit, facet)
    return DecisionRow(question, quantity, found, "" if found else collect, not_this)


def _value(found: Estimate | None) -> str:
    return with_interval(found) if found is not None else ""


def _beside(audit: Audit, name: str, mine: Estimate | None, null: Estimate | None) -> str:
    """A borrowed number of the judge with its value on reference labels."""
    if mine is None:
        return ""
    if null is None:
        absent = "no value on reference labels" if audit.data.has_reference else "no reference labels to set beside it"
        return f"{name} {with_interval(mine)} on the judge's verdicts, {absent}"
    return f"{name} {with_interval(mine)} on the judge's verdicts, {with_interval(null)} on reference labels"


def _for_gate(audit: Audit) -> str:
    if audit.declarations.scale in ("ordinal", "continuous"):
        return "responses marked by both sides" if audit.declarations.cuts else "a pass mark: --cut C"
    if audit.declarations.scale != "binary" or audit.data.n_criteria < 2:
        return "binary verdicts on a checklist of two or more lines, and a pass mark (--cut C)"
    return "responses scored on every line by both sides" if audit.declarations.cuts else "a pass mark: --cut C"


def _gate(audit: Audit, judge: str) -> list[str]:
    parts = []
    for cut in audit.declarations.cuts:
        value = _value(ok(audit, "accuracy", judge, cut=cut))
        counted = ok(audit, "accuracy", judge, cut=cut, unscored="error")
        if value:
            also = f", {with_interval(counted)} with unscored as errors" if counted and audit.data.rows_excluded else ""
            parts.append(f"at {cut_words(audit, cut)}: {value}{also}")
    return parts


def _quantity_of_errors(audit: Audit) -> str:
    return {
        "ordinal": "bias and mean absolute error, beside r and quadratic-weighted κ",
        "continuous": "bias and mean absolute error, beside r",
        "pairwise": "agreement on pairs, and the judge's win rate beside the reference's",
        "nominal": "agreement, and the table of labels by labels",
    }.get(audit.declarations.scale, "false accept and false reject rates, overall and by line")


def _errors(audit: Audit, judge: str) -> list[str]:
    if not audit.data.has_reference:
        return []
    side = printable(audit.declarations.levels[-1]) if audit.declarations.levels else ""
    names: dict[str, tuple[tuple[str, str], ...]] = {
        "binary": (("false_accept_rate", "false accepts"), ("false_reject_rate", "false rejects")),
        "ordinal": (
            ("bias", "bias"),
            ("mae", "mean absolute error"),
            ("quadratic_weighted_kappa", "quadratic-weighted κ"),
            ("pearson_r", "r"),
        ),
        "continuous": (("bias", "bias"), ("mae", "mean absolute error"), ("pearson_r", "r")),
        "pairwise": (("observed_agreement", "same verdict on"), ("win_rate", f"win rate of {side}")),
    }
    found = [(said, _value(ok(audit, name, judge))) for name, said in names.get(audit.declarations.scale, ())]
    parts = [f"{said} {value}" for said, value in found if value]
    null = ok(audit, "win_rate", reference_of(judge))
    if parts and null is not None:
        parts[-1] += f", {with_interval(null)} on the reference's verdicts"
    parts += [concentration(audit, judge)] if concentration(audit, judge) else []
    if not parts and (agreement := ok(audit, "observed_agreement", judge)):
        parts = [f"same label on {with_interval(agreement)}"]
    return parts


def _consistency(audit: Audit, judge: str) -> list[str]:
    mine, null = leading_kr20(audit, judge), leading_kr20(audit, reference_of(judge))
    if mine is None:
        return []
    form = "KR-20, both divisors n," if mine.params else "KR-20"
    parts = [_beside(audit, form, mine, null)]
    spread, theirs = ok(audit, "sd_total", judge), ok(audit, "sd_total", reference_of(judge))
    if spread is not None:
        beside = f" (reference {value_text(theirs)})" if theirs is not None else ""
        lines, n = plural(audit.data.n_criteria, "line"), plural(mine.n_used, "response")
        parts.append(f"SD of totals {value_text(spread)}{beside} on {lines} and {n}")
    return parts


def _other_lines(audit: Audit, judge: str) -> list[str]:
    parts = []
    for cut in audit.declarations.cuts:
        for name in ("consistency", "accuracy"):
            statistic = f"livingston_lewis_{name}"
            mine, null = ok(audit, statistic, judge, cut=cut), ok(audit, statistic, reference_of(judge), cut=cut)
            parts.append(_beside(audit, f"{name} at {cut:g}:", mine, null))
    return [part for part in parts if part]


def _people(audit: Audit, judge: str) -> list[str]:
    """Agreement of people with each other, and of the judge with each of them."""
    ceiling = {
        e.params.get("quantity", ""): e for e in audit.estimates if e.statistic == "human_ceiling" and e.status == "ok"
    }
    middle = ceiling.get("median")
    if middle is None:
        return []
    name = next((e.statistic for e in audit.of("cohen_kappa", f"{judge}-human")), "") and "κ"
    said = f"people agree with each other at {name or 'agreement'} {value_text(middle)} (median pair)"
    low, high = ceiling.get("min"), ceiling.get("max")
    if low is not None and high is not None:
        said = said.removesuffix(")") + f"; {value_text(low)} to {value_text(high)} over pairs)"
    return [
        said,
        *(
            f"difference, judge minus people: {_value(e)}"
            for e in audit.of("human_ceiling", f"{judge}-human")
            if e.status == "ok"
        ),
    ]


def _groups(audit: Audit, judge: str) -> list[str]:
    """Gaps between groups, the largest first."""
    found = [
        e
        for e in audit.of("group_gap", judge)
        if e.status == "ok" and e.estimate is not None and "quantity" not in e.params
    ]
    found.sort(key=lambda e: -abs(e.estimate or 0.0))
    parts = []
    for one in found[:_MOST_GAPS]:
        metric = one.params.get("metric", "")
        what = f"{NAMES.get(metric, metric)}, " if metric else ""
        parts.append(f"{what}{printable(one.estimand.rpartition(': ')[2])}: {_value(one)}")
    return parts


def _true_rate_words(audit: Audit) -> tuple[str, str]:
    said = audit.declarations
    quantity = "the reference's own rate, or the judge's corrected by a labelled subset"
    if said.scale == "pairwise":
        return f"How often does {printable(said.levels[-1])} truly win?", quantity
    if said.scale in ("ordinal", "continuous"):
        return "What is the true mean mark?", "the reference's own mean, or the judge's corrected by a labelled subset"
    return f"What is the true rate of {printable(said.positive) if said.positive else 'met'} verdicts?", quantity


def _true_rate(audit: Audit, judge: str) -> list[str]:
    """The reference's rate over all it labels; on the judge's own verdicts where only that is there."""
    if not audit.data.has_reference:
        return []
    if (whole := ok(audit, "prevalence", reference_of(judge))) is not None:
        return [f"{with_interval(whole)} of the {whole.n_used:,} verdicts the reference labels"]
    name = {"binary": "prevalence", "pairwise": "win_rate"}.get(audit.declarations.scale, "mean_total")
    found = ok(audit, name, judge if name == "prevalence" else reference_of(judge))
    if found is None:
        return []
    return [f"{with_interval(found)} by the reference, on the {plural(found.n_used, 'verdict')} the judge scored"]
