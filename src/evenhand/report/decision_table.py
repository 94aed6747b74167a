"""Question, quantity, answer from these data or what to collect, and the tempting substitute."""

from dataclasses import dataclass

from evenhand.ids import encode
from evenhand.report.sentences import judge_sources, with_interval
from evenhand.results import Audit


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
    judge = judge_sources(audit)[0]
    return (
        _gate(audit, judge),
        _errors(audit, judge),
        DecisionRow(
            "Do its decisions depend on the wording of the instruction?",
            "the phrasing component of the verdicts' variance, and dependability at one phrasing beside it",
            "",
            "the same responses under several wordings: three are imprecise, eight are better (--phrasing COL)",
            "agreement of repeats at one prompt: that is sampling noise",
        ),
        DecisionRow(
            "Does it mark the work or the author?",
            "drift and label effect on identical work under different statements about the author",
            "",
            "the same responses with and without the statement (--arm COL); no reference is needed",
            "agreement with a human, who may share the bias or hide it",
        ),
        _consistency(audit, judge),
        _other_lines(audit, judge),
        DecisionRow(
            "Is it as good as a person?",
            "how far people agree with each other, beside the judge's agreement with each of them",
            "",
            "labels of two or more people on the same responses, one row a rater (--rater COL)",
            "one agreement figure against one person",
        ),
        DecisionRow(
            "Is it fair to groups?",
            "the gap between groups at equal reference score, corrected for the noise of that score",
            "",
            "a group column and reference scores",
            "a prompt that does not mention the group",
        ),
        _true_rate(audit, judge),
        DecisionRow(
            "What happens if its marks feed back into what it is told?",
            "the loop's multiplier, eigenvalue and recovery",
            "",
            "a run of a grader with true and swapped statements about the author",
            "accuracy on single responses",
        ),
    )


def _value(audit: Audit, text: str) -> str:
    found = audit.get(text)
    return with_interval(found) if found is not None and found.status == "ok" else ""


def _gate(audit: Audit, judge: str) -> DecisionRow:
    source, parts = encode(judge), []
    for cut in audit.declarations.cuts:
        value, counted = (
            _value(audit, f"accuracy[cut={cut:g}]/{source}"),
            audit.get(f"accuracy[cut={cut:g},unscored=error]/{source}"),
        )
        if value:
            also = f"; {with_interval(counted)} with unscored as errors" if counted and audit.data.rows_excluded else ""
            parts.append(f"at {cut:g} of {audit.data.n_criteria}: {value}{also}")
    collect = (
        ""
        if parts
        else (
            "a pass mark: --cut C"
            if audit.data.has_reference
            else "reference labels for a sample of responses (--labels FILE)"
        )
    )
    return DecisionRow(
        "How often does its pass or fail match the reference?",
        "gate accuracy at the cut, with a cluster interval",
        " · ".join(parts),
        collect,
        "Φ(λ), a ratio of squared distances; Livingston–Lewis, which counts the sampling of lines as error",
    )


def _errors(audit: Audit, judge: str) -> DecisionRow:
    source = encode(judge)
    accept, reject = _value(audit, f"false_accept_rate/{source}"), _value(audit, f"false_reject_rate/{source}")
    parts = [f"{name} {value}" for name, value in (("false accepts", accept), ("false rejects", reject)) if value]
    worst = audit.get(f"errors_in_worst_lines[lines=5]/{source}")
    if worst is not None and worst.trials and worst.n_used > 5:
        parts.append(f"{worst.events:,.0f} of {worst.trials:,.0f} errors on 5 of {worst.n_used:,} lines")
    if not parts and (agreement := _value(audit, f"observed_agreement/{source}")):
        parts = [f"same label on {agreement}"]
    return DecisionRow(
        "Where does it err, and in which direction?",
        "false accept and false reject rates, overall and by line",
        " · ".join(parts),
        "" if parts else "reference labels for a sample of responses (--labels FILE)",
        "any one coefficient over the whole checklist",
    )


def _consistency(audit: Audit, judge: str) -> DecisionRow:
    reference = "reference" if judge == "judge" else encode(f"reference:{judge}")
    on_judge, null = _value(audit, f"kr20/{encode(judge)}"), _value(audit, f"kr20/{reference}")
    answer = (
        f"KR-20 {on_judge} on the judge's verdicts" + (f", {null} on reference labels" if null else "")
        if on_judge
        else ""
    )
    return DecisionRow(
        "Do the lines rank responses consistently?",
        "KR-20 beside its value on reference labels, and the bank's spread",
        answer,
        "" if answer else "binary verdicts on a checklist of two or more lines",
        "KR-20 read as the judge's own reliability",
    )


def _other_lines(audit: Audit, judge: str) -> DecisionRow:
    parts = []
    for cut in audit.declarations.cuts:
        found = {
            name: _value(audit, f"livingston_lewis_{name}[cut={cut:g}]/{encode(judge)}")
            for name in ("consistency", "accuracy")
        }
        parts += [f"{name} at {cut:g}: {value}" for name, value in found.items() if value]
    return DecisionRow(
        "Would pass or fail survive another sample of lines?",
        "Livingston–Lewis consistency and accuracy",
        " · ".join(parts),
        "" if parts else "a pass mark (--cut C) and a checklist of two or more lines",
        "accuracy against reference labels",
    )


def _true_rate(audit: Audit, judge: str) -> DecisionRow:
    prevalence = _value(audit, f"prevalence/{encode(judge)}")
    return DecisionRow(
        "What is the true rate of met verdicts?",
        "the reference's own rate, or the judge's corrected by a labelled subset",
        f"{prevalence} by the reference on these verdicts" if prevalence else "",
        "" if prevalence else "a labelled subset of the responses",
        "the judge's raw rate",
    )
