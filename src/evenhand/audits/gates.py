"""Requirements on a saved audit: the one home of thresholds and of how an interval is held against them."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from evenhand.errors import RequestError, did_you_mean, printable
from evenhand.results import Audit, Estimate

Verdict = Literal["met", "failed", "undecided", "undefined", "absent"]
FIELDS = ("estimate", "ci_low", "ci_high", "n_used")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}
_SHAPE = re.compile(
    r"\s*(?P<id>[^\s<>=]+?(?:\[[^\]]*\])?/[^\s<>=]+?)(?:\.(?P<field>estimate|ci_low|ci_high|n_used))?"
    r"\s*(?P<operator>>=|<=|==|>|<)\s*(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one requirement."""

    requirement: str
    verdict: Verdict
    sentence: str


def judge_requirement(audit: Audit, text: str) -> Outcome:
    """Hold an estimate against a threshold.

    With a field the one number is compared. Without one the whole interval is: met when all of it satisfies the
    requirement, failed when none of it does, else undecided. A count has no interval and is compared itself, and so is a
    p value, a flag of equivalence or a limit.

    Args:
        audit: the saved audit.
        text: ``ID[.estimate|.ci_low|.ci_high|.n_used] OP NUMBER``, OP one of >= <= > < ==.

    Raises:
        RequestError: the text has not that shape.
    """
    found = _SHAPE.fullmatch(text)
    if not found:
        raise RequestError(
            f"\"{printable(text)}\" is not a requirement: write 'ID OP NUMBER', such as "
            "'accuracy[cut=5]/judge >= 0.85' or 'cohen_kappa/judge.ci_low > 0.6'"
        )
    threshold, compare = float(found["number"]), _OPERATORS[found["operator"]]
    estimate = audit.get(found["id"])
    if estimate is None:
        base, dot, field = found["id"].rpartition(".")
        if dot and "/" in base and audit.get(base) is not None:
            raise RequestError(
                f'"{printable(field)}" is no field of {printable(base)}: name one of {", ".join(FIELDS)}'
            )
        hint = did_you_mean(found["id"], [one.id for one in audit])
        return Outcome(
            text, "absent", f"absent     {printable(text)}: this audit has no {printable(found['id'])}{hint}"
        )
    if estimate.estimate is None and found["field"] != "n_used":
        return Outcome(text, "undefined", f"undefined  {printable(text)}: {printable(estimate.reason)}")
    verdict, shown = _compare(estimate, found["field"], compare, found["operator"], threshold)
    return Outcome(text, verdict, f"{verdict:<10} {printable(text)}: {shown}")


def _is_bare(estimate: Estimate) -> bool:
    """A p value, a flag or a size that a test is about: it has no interval because it is one of a test's own numbers."""
    params = estimate.params
    tests = estimate.statistic == "equivalence" and "quantity" in params
    return tests or "p" in params or params.get("quantity") == "detectable" or "icc" in params


def _compare(
    estimate: Estimate, name: str | None, compare: Callable[[float, float], bool], sign: str, threshold: float
) -> tuple[Verdict, str]:
    if name is not None or estimate.statistic.startswith("n_") or _is_bare(estimate):
        value = getattr(estimate, name or "estimate")
        if value is None:
            return "undecided", f"there is no {name}: {printable(estimate.reason)}"
        return ("met" if compare(value, threshold) else "failed"), f"{name or 'estimate'} {value:.6g}"
    if estimate.ci_low is None or estimate.ci_high is None:
        said = printable(estimate.reason) or "it has no interval"
        return (
            "undecided",
            f"estimate {estimate.estimate:.6g} without interval ({said}); name .estimate to compare it alone",
        )
    shown = f"{estimate.estimate:.6g} [{estimate.ci_low:.6g}, {estimate.ci_high:.6g}]"
    low, high = compare(estimate.ci_low, threshold), compare(estimate.ci_high, threshold)
    if sign == "==":
        inside = estimate.ci_low <= threshold <= estimate.ci_high
        return ("undecided" if inside and estimate.ci_low < estimate.ci_high else "met" if inside else "failed"), shown
    return ("met" if low and high else "failed" if not low and not high else "undecided"), shown
