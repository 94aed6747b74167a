"""Equivalence inside margins that were fixed beforehand: two one-sided tests of every difference that a margin names.

"Different" (the interval excludes 0) and "inside the margin" (the interval of level 1 - 2α lies within it) are two facts:
either, both or neither can hold.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy import special

from evenhand.errors import RequestError, did_you_mean, printable
from evenhand.ids import EstimateId
from evenhand.results import Estimate
from evenhand.stats.binomial import LEAST_DF
from evenhand.stats.hypothesis_tests import equivalence_test
from evenhand.stats.scales import IDENTITY

ALPHA = 0.05
"""Of each of the two one-sided tests."""


def within_margins(estimates: Sequence[Estimate], margins: Mapping[str, float]) -> Iterator[Estimate]:
    """The tests of every difference or signed value whose statistic a margin names.

    Args:
        estimates: all of an audit.
        margins: statistic, with its parameters in brackets where it has some → how far from 0 would not matter; a statistic
            without brackets that occurs with parameters only stands for all of those.

    Raises:
        RequestError: a margin of something that is no difference here.
    """
    for metric, margin in margins.items():
        name = str(EstimateId.parse(f"{metric}/judge")).removesuffix("/judge")
        signed = [one for one in estimates if _is_signed(one)]
        held = [one for one in signed if _metric(one) == name]
        held = held or [one for one in signed if one.statistic == name and "quantity" not in one.params]
        if not held:
            raise RequestError(_no_difference(estimates, name))
        for one in held:
            yield from _tested(one, _metric(one), margin)


def _metric(estimate: Estimate) -> str:
    return str(EstimateId(estimate.statistic, "judge", estimate.params)).removesuffix("/judge")


def _is_signed(estimate: Estimate) -> bool:
    """A difference or a signed value: its interval is on the identity scale, about 0."""
    no_difference = estimate.statistic == "variance_component" or "bound" in estimate.params
    return estimate.interval_scale == IDENTITY.name and not no_difference


def _no_difference(estimates: Sequence[Estimate], name: str) -> str:
    signed = list(dict.fromkeys(_metric(one) for one in estimates if _is_signed(one)))
    listed = ", ".join(signed[:12]) + (f" and {len(signed) - 12} more" if len(signed) > 12 else "")
    there = f"differences here are {listed}" if signed else "there is none here with an interval of the default method"
    return f"--margin {printable(name)}: no difference of that name in this audit{did_you_mean(name, signed)}; {printable(there)}"


def _tested(one: Estimate, metric: str, margin: float) -> Iterator[Estimate]:
    value, error, df = one.estimate, one.interval_std_error, one.interval_df
    if value is None or not error or df is None or df < LEAST_DF:
        return
    found = equivalence_test(np.asarray(value), np.asarray(error), df, (-margin, margin), ALPHA)
    low, high, p = float(found.ci_low), float(found.ci_high), float(found.p_value)
    p_zero = float(2 * special.stdtr(df, -abs(value) / error))
    power = power_at_zero(margin, error, df)
    different, inside = p_zero < ALPHA, p < ALPHA
    said = (
        f"{_words(value, low, high, margin, different=different, inside=inside)}; margin {margin:g}, fixed beforehand; "
        f"power {power:.0%} where the truth is 0"
    )
    for quantity, number, what in (
        ("", value, f"{one.estimand}; {100 * (1 - 2 * ALPHA):g} % interval, held against the margin of {margin:g} either way"),
        ("p", p, f"p of two one-sided tests that the truth lies outside the margin of {margin:g}: {one.estimand}"),
        ("different", float(different), f"1 where the {100 * (1 - ALPHA):g} % interval excludes 0: {one.estimand}"),
        ("inside", float(inside), f"1 where the {100 * (1 - 2 * ALPHA):g} % interval lies inside the margin: {one.estimand}"),
        ("power", power, f"chance of being found inside the margin where the truth is 0: {one.estimand}"),
    ):  # fmt: skip
        params = {"metric": metric} | ({"quantity": quantity} if quantity else {})
        named, has_ends = EstimateId.of("equivalence", one.source, **params), not quantity
        yield one.model_copy(
            update={
                "id": str(named),
                "statistic": "equivalence",
                "params": dict(named.params),
                "estimate": number,
                "std_error": error if has_ends else None,
                "std_errors": {},
                "ci_low": low if has_ends else None,
                "ci_high": high if has_ends else None,
                "interval_method": one.interval_method if has_ends else "none",
                "interval_scale": one.interval_scale if has_ends else None,
                "interval_df": df if has_ends else None,
                "interval_std_error": error if has_ends else None,
                "p_values": {},
                "simultaneous": None,
                "detectable": None,
                "coverage": None,
                "family": "",
                "design_effect": None,
                "events": None,
                "trials": None,
                "reason": said,
                "estimand": what,
            }
        )


def power_at_zero(margin: float, std_error: float, df: float) -> float:
    """Chance that both one-sided tests reject where the truth is 0: 2 F(margin/se - t_{1-α}) - 1, F of t, at least 0."""
    t = float(special.stdtrit(df, 1 - ALPHA))
    return max(0.0, 2 * float(special.stdtr(df, margin / std_error - t)) - 1)


def _words(value: float, low: float, high: float, margin: float, *, different: bool, inside: bool) -> str:
    """Gain, loss, equivalent, no gain or loss larger than the margin, or inconclusive."""
    if inside:
        return "different from 0, and inside the margin: equivalent" if different else "equivalent"
    if different:
        return f"different from 0: {'gain' if value > 0 else 'loss'}, not shown to be inside the margin"
    if high < margin:
        return f"inconclusive, but no gain larger than {margin:g}"
    if low > -margin:
        return f"inconclusive, but no loss larger than {margin:g}"
    return "inconclusive" if math.isfinite(low) else ""
