"""Four lines to paste into a paper or a model card, filled from the audit."""

from collections.abc import Callable

from evenhand.errors import printable
from evenhand.report.lookups import (
    MOST_JUDGES,
    cut_words,
    judge_sources,
    leading_kr20,
    main_cut,
    ok,
    pooled_conditions,
    reference_of,
)
from evenhand.report.sentences import with_interval
from evenhand.report.tables import interval_phrase, plural, value_text
from evenhand.report.worst import concentration
from evenhand.results import Audit, Estimate


def reporting_lines(audit: Audit) -> tuple[tuple[str, str], ...]:
    """Title and text of each line that these data can fill, each judge by its name where there are several."""
    lines = (
        ("Bank", _each(audit, bank_line)),
        ("Borrowed coefficients", _each(audit, borrowed_line)),
        ("Dependability", _each(audit, _dependability)),
        ("Judge error", _each(audit, _errors)),
    )
    return tuple((title, text) for title, text in lines if text)


def _each(audit: Audit, line: Callable[[Audit, str], str]) -> str:
    judges = judge_sources(audit)
    if len(judges) == 1:
        return line(audit, judges[0])
    said = [f"{printable(judge)}: {text}" for judge in judges[:MOST_JUDGES] if (text := line(audit, judge))]
    more = len(judges) - MOST_JUDGES
    return " ".join([*said, f"And {more} more."] if said and more > 0 else said)


def bank_line(audit: Audit, judge: str) -> str:
    """K, responses, clusters, spread of totals and mean correlation: what every borrowed coefficient stands on."""
    responses, clusters = ok(audit, "n_responses", judge), ok(audit, "n_clusters", judge)
    if responses is None or clusters is None or responses.estimate is None or clusters.estimate is None:
        return ""
    criteria = plural(audit.data.n_criteria, "criterion", "criteria")
    pooled = pooled_conditions(audit)
    of_what = "fully scored total" if pooled else "fully scored response"
    said = f"{criteria} on {plural(int(responses.estimate), of_what)}"
    said += f" (a response counts once under each of {pooled})" if pooled else ""
    is_declared = audit.declarations.cluster_unit != "response"
    said += f" from {plural(int(clusters.estimate), 'cluster')}" if is_declared else ", each taken as its own cluster"
    of = reference_of(judge) if audit.data.has_reference else judge
    spread, correlation = ok(audit, "sd_total", of), ok(audit, "mean_intercriterion_correlation", of)
    if spread is not None:
        whose, is_count = "reference" if audit.data.has_reference else "judge", audit.declarations.scale == "binary"
        said += f"; SD of {whose} {'totals' if is_count or audit.data.n_criteria > 1 else 'marks'} {value_text(spread)}"
        said += f" on a scale of 0 to {audit.data.n_criteria}" if is_count else ""
    if correlation is not None:
        said += f"; mean correlation between criteria {value_text(correlation)}"
    return said + "."


def _pair(name: str, mine: Estimate | None, null: Estimate | None) -> str:
    if mine is None:
        return ""
    if null is None:
        return f"{name} is {with_interval(mine)} on the judge's verdicts, with no value on reference labels beside it"
    return f"{name} is {value_text(mine)} on the judge's verdicts and {value_text(null)} on reference labels"


def _both(audit: Audit, judge: str, statistic: str, cut: float) -> tuple[Estimate | None, Estimate | None]:
    return ok(audit, statistic, judge, cut=cut), ok(audit, statistic, reference_of(judge), cut=cut)


def borrowed_line(audit: Audit, judge: str) -> str:
    """KR-20 and Livingston-Lewis accuracy, each beside its value on reference labels."""
    mine = leading_kr20(audit, judge)
    is_n = mine is not None and bool(mine.params)
    divisor = "both variances with 1/n" if is_n else "item variances with 1/n, total variance with 1/(n−1)"
    parts = [_pair(f"KR-20 ({divisor})", mine, leading_kr20(audit, reference_of(judge)))]
    cut = main_cut(audit)
    if cut is not None:
        name = f"Livingston–Lewis accuracy at {cut:g} criteria"
        parts.append(_pair(name, *_both(audit, judge, "livingston_lewis_accuracy", cut)))
    parts = [part for part in parts if part]
    if not parts:
        return ""
    end = (
        "An error-free scorer gets the reference's values"
        if audit.data.has_reference
        else "None of them is a statement about the judge"
    )
    pooled = pooled_conditions(audit)
    if pooled:
        end = f"They pool {pooled}, whose differences count in them as differences between responses: audit one by itself to read them"
    return "; ".join(parts) + f". {end}."


def _dependability(audit: Audit, judge: str) -> str:
    cut = main_cut(audit)
    if cut is None:
        return ""
    name = f"The dependability coefficient Φ(λ = {cut:g}/{audit.data.n_criteria})"
    said = _pair(name, *_both(audit, judge, "phi_lambda", cut))
    accuracy = ok(audit, "accuracy", judge, cut=cut)
    if said and accuracy is not None:
        said += f"; it is a ratio of squared distances from the cut, not to be set beside the gate accuracy of {value_text(accuracy)}"
    return f"{said}." if said else ""


def _errors(audit: Audit, judge: str) -> str:
    if not audit.data.has_reference:
        return ""
    clauses = {"binary": _directions, "ordinal": _marks, "continuous": _marks}.get(audit.declarations.scale, _labels)
    said = [clauses(audit, judge)]
    if not said[0]:
        return ""
    said[0] = f"Against reference labels {said[0]} ({interval_phrase(audit, judge)})"
    if words := concentration(audit, judge):
        said.append(f"It has {words}")
    cut = main_cut(audit)
    accuracy = ok(audit, "accuracy", judge, cut=cut) if cut is not None else None
    counted = ok(audit, "accuracy", judge, cut=cut, unscored="error") if cut is not None else None
    if cut is not None and accuracy is not None and counted is not None:
        said.append(
            f"Gate accuracy at {_cut(audit, cut)} is {with_interval(accuracy)} on {accuracy.n_used:,} scored responses and "
            f"{with_interval(counted)} on all {counted.n_used:,} with unscored ones as errors"
        )
    return ". ".join(said) + "."


def _cut(audit: Audit, cut: float) -> str:
    return f"{cut:g} criteria" if audit.declarations.scale == "binary" else cut_words(audit, cut)


def _directions(audit: Audit, judge: str) -> str:
    accept, reject = ok(audit, "false_accept_rate", judge), ok(audit, "false_reject_rate", judge)
    negative, positive = (printable(level) for level in audit.declarations.levels)
    parts = [f"accepts {with_interval(accept)} of {negative}"] if accept is not None else []
    parts += [f"rejects {with_interval(reject)} of {positive}"] if reject is not None else []
    return f"the judge {' and '.join(parts)}" if parts else ""


def _marks(audit: Audit, judge: str) -> str:
    names = {
        "bias": "bias",
        "mae": "mean absolute error",
        "quadratic_weighted_kappa": "quadratic-weighted κ",
        "pearson_r": "r",
    }
    found = [(said, ok(audit, name, judge)) for name, said in names.items()]
    parts = [f"{said} {with_interval(one)}" for said, one in found if one is not None]
    return f"the judge's marks have {', '.join(parts)}" if parts else ""


def _labels(audit: Audit, judge: str) -> str:
    agreement, kappa = ok(audit, "observed_agreement", judge), ok(audit, "cohen_kappa", judge)
    if agreement is None:
        return ""
    beyond = f", κ {with_interval(kappa)}" if kappa is not None else ""
    return f"the judge agrees on {with_interval(agreement)} of verdicts{beyond}"
