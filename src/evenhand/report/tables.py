"""The only place that rounds, and the display names of statistics."""

import math

from evenhand.errors import printable
from evenhand.results import Estimate

NAMES = {
    "cohen_kappa": "Cohen's κ",
    "phi": "φ (= r, ρ, τ_b, MCC)",
    "kappa_phi_ratio": "κ/φ",
    "observed_agreement": "observed agreement",
    "error_rate": "error rate",
    "false_accept_rate": "false accept rate",
    "false_reject_rate": "false reject rate",
    "precision": "precision",
    "recall": "recall",
    "specificity": "specificity",
    "npv": "negative predictive value",
    "f1": "F1",
    "balanced_accuracy": "balanced accuracy",
    "prevalence": "prevalence (reference positive)",
    "judge_positive_rate": "judge's positive rate",
    "gwet_ac1": "Gwet's AC1",
    "brennan_prediger": "Brennan–Prediger",
    "scott_pi": "Scott's π",
    "leniency": "leniency",
    "accuracy": "gate accuracy",
    "selective_coverage": "selective coverage",
    "selective_accuracy": "selective accuracy",
    "abstention_rate": "abstention rate",
    "unparsed_rate": "unparsed rate",
    "refused_rate": "refused rate",
    "error_status_rate": "run-error rate",
    "tie_rate": "tie rate",
    "errors_in_worst_lines": "errors in the worst lines",
    "lines_with_errors": "lines with an error",
}
PERCENT = frozenset(
    {
        "observed_agreement",
        "error_rate",
        "false_accept_rate",
        "false_reject_rate",
        "precision",
        "recall",
        "specificity",
        "npv",
        "f1",
        "balanced_accuracy",
        "prevalence",
        "judge_positive_rate",
        "accuracy",
        "selective_coverage",
        "selective_accuracy",
        "abstention_rate",
        "unparsed_rate",
        "refused_rate",
        "error_status_rate",
        "tie_rate",
    }
)
"""Statistics shown in percent."""
_COUNTS = ("n_", "errors_in_", "lines_with_")


def display_name(estimate: Estimate) -> str:
    """The statistic in words, with the parameters that tell it apart."""
    name = NAMES.get(estimate.statistic, estimate.statistic.replace("_", " "))
    inner = ", ".join(f"{key} {value}" for key, value in estimate.params.items())
    return printable(f"{name} ({inner})" if inner else name)


def _fixed(number: float, digits: int) -> str:
    rounded = f"{number:.{digits}f}"
    return rounded.removeprefix("-") if float(rounded) == 0 else rounded


def value_text(estimate: Estimate) -> str:
    """The value as a reader sees it; a word where there is none."""
    if estimate.estimate is None:
        return estimate.status.replace("_", " ")
    return number_text(estimate.statistic, estimate.estimate)


def number_text(statistic: str, number: float) -> str:
    """A number of this statistic, rounded for reading."""
    if statistic.startswith(_COUNTS):
        return f"{number:,.0f}"
    if statistic in PERCENT:
        return f"{_fixed(100 * number, 1)} %"
    return _fixed(number, 3)


def interval_text(estimate: Estimate) -> str:
    """Both ends, or nothing."""
    if estimate.ci_low is None or estimate.ci_high is None:
        return ""
    if estimate.statistic in PERCENT:
        return f"{_fixed(100 * estimate.ci_low, 1)} – {_fixed(100 * estimate.ci_high, 1)} %"
    return f"[{_fixed(estimate.ci_low, 3)}, {_fixed(estimate.ci_high, 3)}]"


def events_text(estimate: Estimate) -> str:
    """Events of trials, where the statistic counts them."""
    if estimate.events is None or estimate.trials is None:
        return ""
    return f"{estimate.events:,.0f} of {estimate.trials:,.0f}"


def full(number: float | None) -> str:
    """Full precision with a leading zero; integers without a point; nothing where there is nothing."""
    if number is None:
        return ""
    if number.is_integer() and abs(number) < 2**53:
        return str(int(number))
    return repr(number)


def is_quiet(estimate: Estimate) -> bool:
    """Whether an estimate is detail: a criterion's, a line's or a bound."""
    return bool({"criterion", "line", "bound"} & estimate.params.keys())


def method_text(estimate: Estimate) -> str:
    """The interval's method in words."""
    names = {
        "jackknife_t_scaled": "delete-one-cluster jackknife",
        "jackknife_t": "delete-one-cluster jackknife",
        "korn_graubard": "Korn–Graubard (Clopper–Pearson at an effective sample size)",
        "clopper_pearson": "Clopper–Pearson",
        "wilson": "Wilson",
        "percentile": "percentile bootstrap over clusters",
        "bca": "BCa bootstrap over clusters",
        "bootstrap_t": "bootstrap-t over clusters",
        "cr2_t": "CR2 with Satterthwaite t",
        "exact": "all resamples of clusters enumerated",
        "none": "none",
    }
    said = names.get(estimate.interval_method, estimate.interval_method)
    if estimate.interval_df is not None and math.isfinite(estimate.interval_df):
        said += f", t({_fixed(estimate.interval_df, 2)})"
    if estimate.interval_scale:
        said += f", {estimate.interval_scale} scale"
    return said
