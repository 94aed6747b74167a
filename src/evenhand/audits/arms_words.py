"""Words about arms, once every estimate and its family are known: toward or away, and gain, loss or equivalent."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy import special

from evenhand.audits.equivalence import ALPHA, power_at_zero
from evenhand.ids import EstimateId
from evenhand.results import Estimate
from evenhand.stats.binomial import LEAST_DF, t_quantile, upper_probability
from evenhand.stats.hypothesis_tests import equivalence_test
from evenhand.stats.toward_away import NO_MOVE_SHOWN, UNRESOLVED, Finding, as_published, call, overall

MARGINS = {"quadratic_weighted_kappa": 0.02, "mae": 0.10}
"""Changes of agreement that would not matter, where none are declared."""
_RANKING = "pearson_r"
_NO_SPREAD = 1e-12


def with_calls(estimates: Sequence[Estimate], margins: Mapping[str, float], level: float) -> list[Estimate]:
    """The estimates, those of ``toward_away`` with their words.

    Args:
        estimates: all of an audit, families taken together.
        margins: that were declared; that of ``drift`` says what would be no move.
        level: of confidence.
    """
    groups: dict[tuple[str, tuple[tuple[str, str], ...]], dict[tuple[str, str], Estimate]] = {}
    for one in estimates:
        if one.statistic == "toward_away":
            params = {name: value for name, value in one.params.items() if name not in ("tail", "quantity")}
            found = groups.setdefault((one.source, tuple(params.items())), {})
            found[one.params.get("tail", ""), one.params.get("quantity", "")] = one
    said: dict[str, str] = {}
    for parts in groups.values():
        said |= _called(parts, margins.get("drift"), 1 - level)
    return [one.model_copy(update={"reason": said[one.id]}) if one.id in said else one for one in estimates]


def _called(parts: Mapping[tuple[str, str], Estimate], margin: float | None, alpha: float) -> dict[str, str]:
    """Id → words of one arm's estimates, a word a tail and one for all of them."""
    said, words = {}, {}
    for tail in dict.fromkeys(tail for tail, quantity in parts if quantity == "drift"):
        gained, drift, bias, arm = (parts.get((tail, quantity)) for quantity in ("", "drift", "bias", "bias_arm"))
        if (
            gained is None
            or drift is None
            or bias is None
            or arm is None
            or None in (drift.estimate, bias.estimate, arm.estimate)
        ):
            continue
        if drift.estimate and drift.ci_low is None:
            said[gained.id], words[tail] = f"{UNRESOLVED}: {drift.reason}", UNRESOLVED
            continue
        word = _word(drift, bias, arm, gained, margin, alpha, "holm")
        before = _word(drift, bias, arm, gained, margin, alpha, "raw")
        words[tail] = word
        said[gained.id] = "; ".join([_in_full(word, drift), *([f"before Holm's correction: {before}"] if before != word else []),
            *([f"where passing the reference counts as away: {as_published(word)}"] if "overshoots" in word else [])])  # fmt: skip
    if (one := parts.get(("", ""))) is not None and one.id not in said and words:
        said[one.id] = f"{overall(list(words.values()))}: " + "; ".join(
            f"{tail} {word}" for tail, word in words.items()
        )
    return said


def _word(
    drift: Estimate, bias: Estimate, arm: Estimate, gained: Estimate, margin: float | None, alpha: float, kind: str
) -> str:
    return call(
        Finding(drift.estimate or 0.0, _resolved(drift, alpha, kind), _inside(drift, margin)),
        Finding(bias.estimate or 0.0, _resolved(bias, alpha, kind)),
        arm.estimate or 0.0,
        Finding(gained.estimate or 0.0, gained.ci_low is not None and gained.ci_high is not None and not gained.ci_low <= 0 <= gained.ci_high),
    )  # fmt: skip


def _resolved(one: Estimate, alpha: float, kind: str) -> bool:
    return one.p_values.get(kind, 1.0) < alpha


def _inside(one: Estimate, margin: float | None) -> bool:
    """Whether a drift is shown to lie inside the margin that was fixed for it."""
    if margin is None or one.estimate is None or not one.std_error:
        return False
    half = t_quantile(1 - ALPHA, max(_df(one), LEAST_DF)) * one.std_error
    return abs(one.estimate) + half < margin


def _in_full(word: str, drift: Estimate) -> str:
    if word != NO_MOVE_SHOWN:
        return word
    if drift.ci_low is None or drift.ci_high is None:
        return f"{word}: {drift.reason or 'no interval'}"
    return f"{word}: at most {max(abs(drift.ci_low), abs(drift.ci_high)):.3g}"


def _df(one: Estimate) -> float:
    return one.interval_df if one.interval_df is not None else one.n_clusters - 1.0


def _is_against_control(source: str) -> bool:
    """Whether a contrast is one with the control; several judges append their names, and an arm's own may hold a colon."""
    _, found, rest = source.rpartition("-control")
    return bool(found) and (not rest or rest.startswith(":"))


def verdicts(estimates: Sequence[Estimate], margins: Mapping[str, float], level: float) -> Iterator[Estimate]:
    """Whether an arm's agreement with the reference is a gain, a loss or equivalent to the control's, with r beside it.

    Args:
        estimates: all of an audit.
        margins: declared ones, by statistic, in place of ``MARGINS``.
        level: of confidence.
    """
    by_id = {one.id: one for one in estimates}
    for one in estimates:
        is_change = one.describes == "grader×context" and _is_against_control(one.source) and "tail" not in one.params
        if (
            is_change
            and one.statistic in MARGINS
            and one.std_error
            and one.std_error > _NO_SPREAD
            and _df(one) >= LEAST_DF
        ):
            ranking = by_id.get(str(EstimateId(_RANKING, one.source, one.params)))
            yield from _verdict(one, ranking, margins.get(one.statistic, MARGINS[one.statistic]), level)


def _verdict(one: Estimate, ranking: Estimate | None, margin: float, level: float) -> Iterator[Estimate]:
    value, error, df = one.estimate or 0.0, one.std_error or math.nan, _df(one)
    found = equivalence_test(np.asarray(value), np.asarray(error), df, (-margin, margin), ALPHA)
    half = t_quantile(upper_probability(level), df) * error
    better = -1.0 if one.statistic == "mae" else 1.0
    gain, loss = better * value - half > 0, better * value + half < 0
    p, power = float(found.p_value), power_at_zero(margin, error, df)
    inside = p < ALPHA
    largest = better * value + half
    word = "gain" if gain else "loss" if loss else "equivalent" if inside else f"no gain larger than {largest:.3g}"
    flags = f"{'different from 0' if gain or loss else 'not different from 0'}, {'inside' if inside else 'not shown to be inside'} the margin of {margin:g}"
    said = "; ".join(
        filter(
            None,
            (f"{word} ({flags})", _on_ranking(ranking, level, gain=gain), f"power {power:.0%} where the truth is 0"),
        )
    )
    p_zero = float(2 * special.stdtr(df, -abs(value) / error))
    interval = {"ci_low": float(found.ci_low), "ci_high": float(found.ci_high), "interval_df": df, "interval_std_error": error,
        "interval_method": "jackknife_t", "interval_scale": "identity", "std_error": error}  # fmt: skip
    none = dict.fromkeys(("ci_low", "ci_high", "interval_df", "interval_std_error", "interval_scale", "std_error")) | {
        "interval_method": "none"
    }
    for quantity, number, what in (
        ("", value, f"{one.estimand}; {100 * (1 - 2 * ALPHA):g} % interval, held against the margin of {margin:g} either way"),
        ("p", p, f"p of two one-sided tests that the truth lies outside the margin of {margin:g}: {one.estimand}"),
        ("different", float(p_zero < 1 - level), f"1 where the {100 * level:g} % interval excludes 0: {one.estimand}"),
        ("inside", float(inside), f"1 where the {100 * (1 - 2 * ALPHA):g} % interval lies inside the margin: {one.estimand}"),
        ("power", power, f"chance of being found inside the margin where the truth is 0: {one.estimand}"),
    ):  # fmt: skip
        named = EstimateId.of(
            "equivalence",
            one.source,
            **{**one.params, "metric": one.statistic},
            **({"quantity": quantity} if quantity else {}),
        )
        own = {
            "id": str(named),
            "statistic": "equivalence",
            "params": dict(named.params),
            "estimate": number,
            "reason": said,
            "estimand": what,
        }
        bare: dict[str, object] = {
            "p_values": {},
            "simultaneous": None,
            "detectable": None,
            "family": "",
            "coverage": None,
            "std_errors": {},
        }
        yield one.model_copy(update={**own, **bare, **(none if quantity else interval)})


def _on_ranking(ranking: Estimate | None, level: float, *, gain: bool) -> str:
    """What happened to r beside a change of agreement: a shift of where marks land is no better ranking."""
    if ranking is None or ranking.estimate is None:
        return "ranking: r is undefined"
    if not ranking.std_error or _df(ranking) < LEAST_DF:
        return f"r changes by {ranking.estimate:+.3f}"
    half = t_quantile(upper_probability(level), _df(ranking)) * ranking.std_error
    low, high = ranking.estimate - half, ranking.estimate + half
    change = f"r changes by {ranking.estimate:+.3f} ({low:+.3f} to {high:+.3f})"
    if low > 0:
        return f"{change}: it ranks better, too" if gain else f"{change}: it ranks better"
    if high < 0:
        return f"{change}: it ranks worse"
    return (
        f"{change}: not shown to rank better, so marks land elsewhere"
        if gain
        else f"{change}: no change of ranking shown"
    )
