"""What can be said in three sentences, generated from the estimates."""

from evenhand.errors import printable
from evenhand.report.arms_words import arm_sentences
from evenhand.report.gaps import no_statement
from evenhand.report.lookups import (
    cut_words,
    judge_sources,
    leading_kr20,
    main_cut,
    n_compared,
    ok,
    pooled_conditions,
    reference_of,
)
from evenhand.report.scorer import scorer_sentences
from evenhand.report.tables import events_text, missing_text, percent_text, range_text, value_text
from evenhand.results import Audit, Estimate

SAME_BANK_MARGIN = 0.10
"""Judge and reference count as about the same on KR-20 only where the whole interval of their difference is this near 0."""
_MOST_SPOKEN = 3


def with_interval(estimate: Estimate, *, events: bool = False) -> str:
    """A value with its interval, and its events where asked, as a clause."""
    inside = [part for part in (range_text(estimate), events_text(estimate) if events else "") if part]
    return value_text(estimate) + (f" ({', '.join(inside)})" if inside else "")


def first_screen(audit: Audit) -> tuple[str, ...]:
    """About three sentences: the judge's errors, its decisions, and what describes the bank."""
    judges = judge_sources(audit)
    if not audit.data.has_reference:
        return (
            no_statement(audit),
            *arm_sentences(audit, judges[0]),
            *scorer_sentences(audit, judges[0]),
            *_bank_alone(audit, judges[0]),
        )
    sentences: list[str] = []
    for judge in judges[:_MOST_SPOKEN]:
        sentences += [
            _errors(audit, judge),
            _decision(audit, judge),
            *arm_sentences(audit, judge),
            *scorer_sentences(audit, judge),
        ]
    sentences.append(_bank(audit, judges[0]))
    if len(judges) > _MOST_SPOKEN:
        sentences.append(f"{len(judges) - _MOST_SPOKEN} more judges stand below.")
    return tuple(sentence for sentence in sentences if sentence)


def _who(judge: str) -> str:
    if judge == "judge":
        return "This judge"
    name = printable(judge)
    return f"J{name[1:]}" if name.startswith("judge ") else f"Judge {name}"


def _errors(audit: Audit, judge: str) -> str:
    if not n_compared(audit, judge):
        return f"{_who(judge)} has no verdict that meets a reference label, so nothing can be said about its errors."
    scale = audit.declarations.scale
    if scale in ("ordinal", "continuous"):
        return _marks(audit, judge)
    agreement = ok(audit, "observed_agreement", judge)
    if agreement is None:
        return ""
    if scale == "pairwise":
        return _pairs(audit, judge, agreement)
    parts = _directions(audit, judge)
    said = f"{_who(judge)} {' and '.join(parts)}; it" if parts else _who(judge)
    return (
        f"{said} gives the reference's label on {with_interval(agreement)} of verdicts{_beyond_chance(audit, judge)}."
    )


def _directions(audit: Audit, judge: str) -> list[str]:
    """Errors in both directions of binary verdicts."""
    if audit.declarations.scale != "binary":
        return []
    accept, reject = ok(audit, "false_accept_rate", judge), ok(audit, "false_reject_rate", judge)
    negative, positive = (printable(level) for level in audit.declarations.levels)
    parts = []
    if accept is not None:
        parts.append(f"accepts {with_interval(accept, events=True)} of what the reference calls {negative}")
    if reject is not None:
        parts.append(f"rejects {with_interval(reject, events=True)} of what it calls {positive}")
    return parts


def _beyond_chance(audit: Audit, judge: str) -> str:
    kappa = ok(audit, "cohen_kappa", judge)
    if kappa is not None:
        return f", κ {with_interval(kappa)} beyond chance"
    absent = [e for e in audit.of("cohen_kappa", judge) if not e.params]
    return f"; κ is undefined ({missing_text(absent[0])})" if absent else ""


def _marks(audit: Audit, judge: str) -> str:
    """Where marks lie, how far off they are, and how they rank."""
    bias, mae = ok(audit, "bias", judge), ok(audit, "mae", judge)
    agreement = ok(audit, "observed_agreement", judge)
    parts = []
    if bias is not None and mae is not None:
        parts.append(
            f"its mark minus the reference's is {with_interval(bias)} on average and {with_interval(mae)} in absolute size"
        )
    elif agreement is not None:
        parts.append(f"it gives the reference's label on {with_interval(agreement)} of verdicts")
    coefficients = []
    for name, short in (("pearson_r", "r"), ("quadratic_weighted_kappa", "quadratic-weighted κ")):
        found = [e for e in audit.of(name, judge) if not e.params]
        if found and found[0].status == "ok":
            coefficients.append(f"{short} is {with_interval(found[0])}")
        elif found:
            coefficients.append(f"{short} has no value ({missing_text(found[0])})")
    parts += [", ".join(coefficients)] if coefficients else []
    return f"{_who(judge)}, on {n_compared(audit, judge):,} verdicts that meet a reference mark: {'; '.join(parts)}."


def _pairs(audit: Audit, judge: str, agreement: Estimate) -> str:
    said = f"{_who(judge)} gives the reference's verdict on {with_interval(agreement)} of pairs{_beyond_chance(audit, judge)}"
    mine, theirs = ok(audit, "win_rate", judge), ok(audit, "win_rate", reference_of(judge))
    gap = ok(audit, "win_rate", f"{judge}-reference")
    side = printable(audit.declarations.levels[-1])
    if mine is not None and theirs is not None:
        said += f"; {side} wins {value_text(mine)} of its verdicts and {value_text(theirs)} of the reference's"
        inside = ["a tie counting as half a win"] if ok(audit, "win_rate", judge, ties="class") else []
        inside += [f"difference {with_interval(gap)}"] if gap is not None else []
        said += f" ({'; '.join(inside)})" if inside else ""
    return f"{said}."


def _decision(audit: Audit, judge: str) -> str:
    cut = main_cut(audit)
    found = ok(audit, "accuracy", judge, cut=cut) if cut is not None else None
    if cut is None or found is None:
        return ""
    counted = ok(audit, "accuracy", judge, cut=cut, unscored="error")
    criteria = " criteria" if audit.declarations.scale == "binary" else ""
    said = f"Its pass or fail at {cut_words(audit, cut)}{criteria} matches the reference's on {with_interval(found)} of responses"
    if counted is not None and counted.n_used > found.n_used:
        said += f", and on {with_interval(counted)} when the {counted.n_used - found.n_used:,} not fully scored count as errors"
    return said + "."


def _bank(audit: Audit, judge: str) -> str:
    mine, null = leading_kr20(audit, judge), leading_kr20(audit, reference_of(judge))
    gap = leading_kr20(audit, f"{judge}-reference")
    if mine is None or null is None or gap is None:
        return ""
    whose = "the judge's verdicts" if judge == "judge" else f"the verdicts of {printable(judge)}"
    values = f"KR-20 is {value_text(mine)} on {whose} and {value_text(null)} on reference labels"
    if pooled := pooled_conditions(audit):
        return f"{values}, but over {pooled} at once, whose differences count in it as differences between responses."
    if gap.ci_low is None or gap.ci_high is None:
        why = missing_text(gap)
        return f"{values}; the difference, {value_text(gap)}, has no interval{f' ({why})' if why else ''}."
    between = f"{value_text(gap)} ({range_text(gap)})"
    if max(abs(gap.ci_low), abs(gap.ci_high)) <= SAME_BANK_MARGIN:
        return (
            f"{values}; the difference, {between}, lies within {SAME_BANK_MARGIN:.2f} of 0: an error-free scorer gets about "
            "the same, so it describes the bank, not the judge."
        )
    if gap.ci_low <= 0 <= gap.ci_high:
        return f"{values}; the difference, {between}, is not settled by these data."
    return f"{values}: what the judge adds is their difference, {between}; the rest is the bank."


def _bank_alone(audit: Audit, judge: str) -> tuple[str, ...]:
    rate, consistency = ok(audit, "judge_positive_rate", judge), leading_kr20(audit, judge)
    whose = "The judge" if judge == "judge" else _who(judge)
    said = []
    if rate is not None:
        said.append(
            f"{whose} calls {with_interval(rate)} of {rate.n_used:,} scored verdicts {printable(audit.declarations.levels[-1])}."
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
        both = f" ({' / '.join(percent_text(share) for share in shares)})" if len(sides) > 1 else ""
        said.append(f"{printable(label)} {percent_text(sum(shares) / len(shares))}{both}")
    return ", ".join(said) + ("; both sides together (judge / reference)" if len(sides) > 1 else "")
