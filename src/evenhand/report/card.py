"""One number's card: what it is, about whom, from what, and how to have it again."""

from evenhand.errors import printable
from evenhand.report.lookups import exclusions, judge_sources
from evenhand.report.tables import (
    events_text,
    method_text,
    missing_text,
    percent_text,
    plural,
    ratio_text,
    sensible,
)
from evenhand.results import Audit, Estimate


def card(audit: Audit, estimate: Estimate, command: str) -> str:
    """The card as plain text.

    Args:
        audit: where the estimate comes from.
        estimate: the number.
        command: how to print it again.
    """
    lines = [headline(audit, estimate)]
    return "\n".join(
        lines + [f"  {label:<10} {printable(text)}" for label, text in card_fields(audit, estimate, command)]
    )


def headline(audit: Audit, estimate: Estimate) -> str:
    """Id, value, interval and standard error, rounded; ``evenhand show`` prints them at full precision."""
    value = sensible(estimate.estimate) or estimate.status
    level = f"{100 * audit.declarations.confidence_level:g} %"
    ends = (
        f"   {level} [{sensible(estimate.ci_low)}, {sensible(estimate.ci_high)}]" if estimate.ci_low is not None else ""
    )
    error = f"   se {sensible(estimate.std_error)}" if estimate.std_error is not None else ""
    return f"{printable(estimate.id)} = {value}{ends}{error}"


def card_fields(audit: Audit, estimate: Estimate, command: str) -> tuple[tuple[str, str], ...]:
    """Label and text of each line that has something to say."""
    rows = {
        "estimand": estimate.estimand,
        "describes": f"{estimate.describes}{_setting(audit, estimate)}",
        "used": used_text(estimate),
        "left out": _left_out(audit, estimate),
        "events": events_text(estimate),
        "interval": _interval(estimate),
        "reason": missing_text(estimate),
        "other se": "; ".join(f"{name} {sensible(number)}" for name, number in estimate.std_errors.items()),
        "again": command,
    }
    return tuple((label, text) for label, text in rows.items() if text)


def used_text(estimate: Estimate) -> str:
    """What the number rests on and what it leaves out."""
    units = plural(estimate.n_used, estimate.unit, "criteria" if estimate.unit == "criterion" else "")
    return f"{units}, {plural(estimate.n_clusters, 'cluster')}; {estimate.n_excluded:,} excluded"


def _left_out(audit: Audit, estimate: Estimate) -> str:
    """Why verdict slots of the judge are in no agreement statistic, where the number leaves any out."""
    reasons = exclusions(audit, estimate.source) if estimate.source in judge_sources(audit) else {}
    if not estimate.n_excluded or not reasons:
        return ""
    return "of all verdict slots: " + ", ".join(f"{n:,} {reason}" for reason, n in reasons.items())


def _setting(audit: Audit, estimate: Estimate) -> str:
    """The prevalence a number about the judge's verdicts was found at."""
    if estimate.describes != "judge" or estimate.unit != "verdict" or {"criterion", "line"} & estimate.params.keys():
        return ""
    found = [e for e in audit.estimates if e.statistic == "prevalence" and not e.params and e.estimate is not None]
    prevalence = next((e for e in found if e.source == estimate.source), None)
    if prevalence is None or prevalence.estimate is None:
        return ""
    return f", on this bank's prevalence ({percent_text(prevalence.estimate)} are {audit.declarations.positive})"


def _interval(estimate: Estimate) -> str:
    if estimate.ci_low is None:
        return "none"
    said = method_text(estimate)
    if estimate.design_effect is not None:
        said += f", design effect {ratio_text(estimate.design_effect)}"
    return said + (f"; {estimate.reason}" if estimate.reason else "")
