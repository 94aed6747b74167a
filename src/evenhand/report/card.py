"""One number's card: what it is, about whom, from what, and how to have it again."""

from collections.abc import Sequence

from evenhand.errors import printable
from evenhand.report.lookups import exclusions, judge_sources
from evenhand.report.tables import (
    events_text,
    method_text,
    missing_text,
    param_text,
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
        "coverage": coverage_text(estimate),
        "reason": missing_text(estimate),
        "tested": _tested(estimate),
        "limits": _limits(audit, estimate),
        "other se": "; ".join(f"{name} {sensible(number)}" for name, number in estimate.std_errors.items()),
        "again": command,
    }
    return tuple((label, text) for label, text in rows.items() if text)


def _tested(estimate: Estimate) -> str:
    """P values, simultaneous ends and the smallest difference found, with what is tested together."""
    parts = [f"{kind} p {sensible(p)}" for kind, p in estimate.p_values.items()]
    if estimate.simultaneous is not None:
        low, high = estimate.simultaneous
        parts.append(f"at once with its family [{sensible(low)}, {sensible(high)}]")
    if estimate.detectable is not None:
        parts.append(f"found with 80 % power from {sensible(estimate.detectable)}")
    return "; ".join([", ".join(parts), estimate.family]) if parts else ""


def _limits(audit: Audit, estimate: Estimate) -> str:
    """Where events are few: the limit under each assumption about their clustering."""
    if estimate.params:
        return ""
    found = [e for e in audit.of(estimate.statistic, estimate.source) if "icc" in e.params and e.estimate is not None]
    return "; ".join(f"{e.params['bound']} {sensible(e.estimate)}, {param_text('icc', e.params['icc'])}" for e in found)


def coverage_text(estimate: Estimate) -> str:
    """How often such intervals held the truth in simulated banks; that it was not measured, where it was not."""
    if estimate.ci_low is None:
        return ""
    found = estimate.coverage
    if found is None:
        return "not measured for this number and method"
    shares, iccs = (", ".join(f"{number:g}" for number in numbers) for numbers in (_percents(found.shares), found.iccs))
    return (
        f"measured {shares} % at intraclass correlations {iccs}: share of {100 * found.level:g} % intervals that hold the truth in "
        f"simulated banks of {found.clusters} {found.imbalance} clusters, {_RATES.get(found.rates, found.rates)}"
    )


_RATES = {
    "even": "errors of the usual size",
    "skewed": "a reference that mostly gives one label",
    "rare": "hardly any errors",
}
_SHORT = 0.02
"""Points below nominal from which measured coverage stands beside the number itself."""


def _percents(shares: Sequence[float]) -> list[float]:
    return [round(100 * share, 1) for share in shares]


def shortfall_text(estimate: Estimate) -> str:
    """Measured coverage where it lies more than two points below nominal; nothing elsewhere."""
    found = estimate.coverage
    if found is None or estimate.ci_low is None:
        return ""
    short = [(icc, share) for icc, share in zip(found.iccs, found.shares, strict=True) if share < found.level - _SHORT]
    said = ", ".join(f"{100 * share:.1f} % at ICC {icc:g}" for icc, share in short)
    return f"covers {said}" if said else ""


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
