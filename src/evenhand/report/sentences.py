"""What can be said in three sentences, and what cannot, both generated from the estimates."""

from evenhand.errors import printable
from evenhand.ids import encode
from evenhand.report.tables import events_text, percent, range_text, value_text
from evenhand.results import Audit, Estimate


def judge_sources(audit: Audit) -> list[str]:
    """Sources of judges, in the order of the estimates."""
    return list(dict.fromkeys(estimate.source for estimate in audit if estimate.statistic == "n_verdicts"))


def with_interval(estimate: Estimate, *, events: bool = False) -> str:
    """A value with its interval, and its events where asked, as a clause."""
    inside = [part for part in (range_text(estimate), events_text(estimate) if events else "") if part]
    return value_text(estimate) + (f" ({', '.join(inside)})" if inside else "")


def main_cut(audit: Audit) -> float | None:
    """The declared cut nearest to half of the criteria, the one a short text speaks of."""
    return min(audit.declarations.cuts, key=lambda cut: abs(cut - audit.data.n_criteria / 2), default=None)


def first_screen(audit: Audit) -> tuple[str, ...]:
    """About three sentences: the judge's errors, its decisions, and what describes the bank."""
    judges = judge_sources(audit)
    if not audit.data.has_reference:
        return (NO_STATEMENT, *_bank_alone(audit, judges[0]))
    sentences: list[str] = []
    for judge in judges[:3]:
        sentences += [_errors(audit, judge), _decision(audit, judge)]
    sentences.append(_bank(audit, judges[0]))
    if len(judges) > 3:
        sentences.append(f"{len(judges) - 3} more judges stand below.")
    return tuple(sentence for sentence in sentences if sentence)


NO_STATEMENT = (
    "No statement about the judge can be made from these data: they hold neither reference labels nor a varied "
    "condition of the judge, and describe the bank and its checklist only."
)


def _who(judge: str) -> str:
    return "This judge" if judge == "judge" else f"Judge {printable(judge)}"


def _ok(audit: Audit, text: str) -> Estimate | None:
    found = audit.get(text)
    return found if found is not None and found.status == "ok" else None


def _errors(audit: Audit, judge: str) -> str:
    source = encode(judge)
    accept, reject = _ok(audit, f"false_accept_rate/{source}"), _ok(audit, f"false_reject_rate/{source}")
    agreement, kappa = _ok(audit, f"observed_agreement/{source}"), audit.get(f"cohen_kappa/{source}")
    if agreement is None:
        return f"{_who(judge)} has no verdict that meets a reference label, so nothing can be said about its errors."
    negative, positive = (
        printable(level) for level in audit.declarations.levels[:: len(audit.declarations.levels) - 1]
    )
    parts = []
    if accept is not None:
        parts.append(f"accepts {with_interval(accept, events=True)} of what the reference calls {negative}")
    if reject is not None:
        parts.append(f"rejects {with_interval(reject, events=True)} of what it calls {positive}")
    said = f"{_who(judge)} {' and '.join(parts)}; it" if parts else _who(judge)
    beyond = ""
    if kappa is not None and kappa.status == "ok":
        beyond = f", κ {with_interval(kappa)} beyond chance"
    elif kappa is not None:
        beyond = f"; κ is undefined ({printable(kappa.reason)})"
    return f"{said} gives the reference's label on {with_interval(agreement)} of verdicts{beyond}."


def _decision(audit: Audit, judge: str) -> str:
    cut = main_cut(audit)
    if cut is None:
        return ""
    found = _ok(audit, f"accuracy[cut={cut:g}]/{encode(judge)}")
    counted = _ok(audit, f"accuracy[cut={cut:g},unscored=error]/{encode(judge)}")
    if found is None:
        return ""
    said = f"Its pass or fail at {cut:g} of {audit.data.n_criteria} criteria matches the reference's on {with_interval(found)} of responses"
    if counted is not None and counted.n_used > found.n_used:
        said += f", and on {with_interval(counted)} when the {counted.n_used - found.n_used:,} not fully scored count as errors"
    return said + "."


def _bank(audit: Audit, judge: str) -> str:
    on_judge, null = _ok(audit, f"kr20/{encode(judge)}"), _ok(audit, f"kr20/{reference_of(judge)}")
    gap = _ok(audit, f"kr20/{encode(judge)}-reference")
    if on_judge is None or null is None or gap is None:
        return ""
    values = f"KR-20 is {value_text(on_judge)} on the judge's verdicts and {value_text(null)} on reference labels"
    if gap.ci_low is not None and gap.ci_high is not None and gap.ci_low <= 0 <= gap.ci_high:
        return f"{values} (difference {value_text(gap)}, {range_text(gap)}): an error-free scorer gets about the same, so it describes the bank, not the judge."
    return f"{values}: what the judge adds is their difference, {with_interval(gap)}; the rest is the bank."


def reference_of(judge: str) -> str:
    """Source, as in ids, of the reference on the responses of a judge."""
    return "reference" if judge == "judge" else encode(f"reference:{judge}")


def _bank_alone(audit: Audit, judge: str) -> tuple[str, ...]:
    rate, consistency = _ok(audit, f"judge_positive_rate/{encode(judge)}"), _ok(audit, f"kr20/{encode(judge)}")
    said = []
    if rate is not None:
        said.append(
            f"The judge calls {with_interval(rate)} of {rate.n_used:,} scored verdicts {printable(audit.declarations.levels[-1])}."
        )
    if consistency is not None:
        said.append(
            f"KR-20 on its verdicts is {with_interval(consistency)}: a statement about this bank and checklist; "
            "without its value on reference labels it says nothing about the judge."
        )
    return tuple(said)


def label_shares(audit: Audit, judge: str) -> str:
    """Share of each label on each side, over the verdicts that are used: what agreement by chance comes from."""
    table = audit.tables.get(f"levels/{judge}")
    labels = audit.declarations.levels
    if table is None:
        return ""
    rows = [
        row
        for row in table.records()
        if row["judge"] in labels and (row["reference"] in labels or not audit.data.has_reference)
    ]
    total = sum(int(row["n"] or 0) for row in rows)
    if not total:
        return ""
    sides = ["judge", "reference"] if audit.data.has_reference else ["judge"]
    said = []
    for label in labels[:8]:
        shares = [sum(int(row["n"] or 0) for row in rows if row[side] == label) / total for side in sides]
        both = f" ({' / '.join(percent(share) for share in shares)})" if len(sides) > 1 else ""
        said.append(f"{printable(label)} {percent(sum(shares) / len(shares))}{both}")
    return ", ".join(said) + ("; both sides together (judge / reference)" if len(sides) > 1 else "")


def cannot_say(audit: Audit) -> tuple[tuple[str, str], ...]:
    """What these data cannot say, and what to collect."""
    found = []
    if not audit.data.has_reference:
        found.append(
            (
                "how often the judge errs, and in which direction: there are no reference labels",
                "label a sample of the responses (a hundred or more, spread over clusters) and add them with --labels FILE",
            )
        )
    if "conditions" not in audit.declarations.reading:
        found += [
            (
                "whether its decisions depend on the wording of the instruction: there is one wording",
                "judge the same responses under several wordings (three are imprecise, eight are better), a column --phrasing COL",
            ),
            (
                "whether a rerun gives the same verdicts: there is one occasion",
                "judge the same responses a second time, a column --occasion COL",
            ),
        ]
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
