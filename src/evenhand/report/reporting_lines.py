"""Four lines to paste into a paper or a model card, filled from the audit."""

from evenhand.errors import printable
from evenhand.ids import encode
from evenhand.report.sentences import judge_sources, main_cut, with_interval
from evenhand.report.tables import value_text
from evenhand.results import Audit, Estimate


def reporting_lines(audit: Audit) -> tuple[tuple[str, str], ...]:
    """Title and text of each line that these data can fill, for the first judge."""
    judge = judge_sources(audit)[0]
    lines = (
        ("Bank", bank_line(audit, judge)),
        ("Borrowed coefficients", _borrowed(audit, judge)),
        ("Dependability", _dependability(audit, judge)),
        ("Judge error", _errors(audit, judge)),
    )
    return tuple((title, text) for title, text in lines if text)


def _ok(audit: Audit, statistic: str, source: str) -> Estimate | None:
    found = audit.get(f"{statistic}/{encode(source)}")
    return found if found is not None and found.status == "ok" else None


def _reference_of(judge: str) -> str:
    return "reference" if judge == "judge" else f"reference:{judge}"


def bank_line(audit: Audit, judge: str) -> str:
    """K, responses, clusters, spread of totals and mean correlation: what every borrowed coefficient stands on."""
    responses, clusters = _ok(audit, "n_responses", judge), _ok(audit, "n_clusters", judge)
    if responses is None or clusters is None or responses.estimate is None or clusters.estimate is None:
        return ""
    said = (
        f"{audit.data.n_criteria:,} {'criterion' if audit.data.n_criteria == 1 else 'criteria'} on {responses.estimate:,.0f} fully scored "
        f"responses from {clusters.estimate:,.0f} clusters"
    )
    of = _reference_of(judge) if audit.data.has_reference else judge
    spread, correlation = _ok(audit, "sd_total", of), _ok(audit, "mean_intercriterion_correlation", judge)
    if spread is not None:
        whose = "reference" if audit.data.has_reference else "judge"
        said += f"; SD of {whose} totals {value_text(spread)} on a scale of 0 to {audit.data.n_criteria}"
    if correlation is not None:
        said += f"; mean correlation between criteria {value_text(correlation)}"
    return said + "."


def _pair(audit: Audit, judge: str, statistic: str, name: str) -> str:
    mine, null = _ok(audit, statistic, judge), _ok(audit, statistic, _reference_of(judge))
    if mine is None:
        return ""
    if null is None:
        return f"{name} is {with_interval(mine)} on the judge's verdicts, with no reference labels to compare it with"
    return f"{name} is {value_text(mine)} on the judge's verdicts and {value_text(null)} on reference labels"


def _borrowed(audit: Audit, judge: str) -> str:
    few = audit.get(f"n_responses/{encode(judge)}")
    form = "kr20[variance=n]" if few is not None and few.estimate is not None and few.estimate < 50 else "kr20"
    divisor = "both variances with 1/n" if form != "kr20" else "item variances with 1/n, total variance with 1/(n−1)"
    parts = [_pair(audit, judge, form, f"KR-20 ({divisor})")]
    cut = main_cut(audit)
    if cut is not None:
        parts.append(
            _pair(
                audit,
                judge,
                f"livingston_lewis_accuracy[cut={cut:g}]",
                f"Livingston–Lewis accuracy at {cut:g} criteria",
            )
        )
    parts = [part for part in parts if part]
    if not parts:
        return ""
    end = (
        "An error-free scorer gets the reference's values"
        if audit.data.has_reference
        else "None of them is a statement about the judge"
    )
    return "; ".join(parts) + f". {end}."


def _dependability(audit: Audit, judge: str) -> str:
    cut = main_cut(audit)
    if cut is None:
        return ""
    said = _pair(
        audit,
        judge,
        f"phi_lambda[cut={cut:g}]",
        f"The dependability coefficient Φ(λ = {cut:g}/{audit.data.n_criteria})",
    )
    accuracy = _ok(audit, f"accuracy[cut={cut:g}]", judge)
    if said and accuracy is not None:
        said += f"; it is a ratio of squared distances from the cut, not to be set beside the gate accuracy of {value_text(accuracy)}"
    return f"{said}." if said else ""


def _errors(audit: Audit, judge: str) -> str:
    accept, reject = _ok(audit, "false_accept_rate", judge), _ok(audit, "false_reject_rate", judge)
    if accept is None or reject is None:
        return ""
    negative, positive = (printable(level) for level in audit.declarations.levels)
    level = f"{100 * audit.declarations.confidence_level:g} % cluster intervals"
    said = [
        (
            f"Against reference labels the judge accepts {with_interval(accept)} of {negative} and rejects "
            f"{with_interval(reject)} of {positive} ({level})"
        )
    ]
    worst = _ok(audit, "errors_in_worst_lines[lines=5]", judge)
    if worst is not None and worst.n_used > 5:
        said.append(f"5 of {worst.n_used:,} lines hold {worst.events:,.0f} of its {worst.trials:,.0f} errors")
    cut = main_cut(audit)
    accuracy = _ok(audit, f"accuracy[cut={cut:g}]", judge) if cut is not None else None
    counted = _ok(audit, f"accuracy[cut={cut:g},unscored=error]", judge) if cut is not None else None
    if accuracy is not None and counted is not None:
        said.append(
            f"Gate accuracy at {cut:g} criteria is {with_interval(accuracy)} on {accuracy.n_used:,} scored responses and "
            f"{with_interval(counted)} on all {counted.n_used:,} with unscored ones as errors"
        )
    return ". ".join(said) + "."
