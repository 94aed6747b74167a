"""The only place that rounds, and the display names of statistics."""

import math

from evenhand.errors import printable
from evenhand.results import Audit, Estimate

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
    "leniency": "leniency, judge minus reference",
    "accuracy": "gate accuracy",
    "selective_coverage": "selective coverage",
    "selective_accuracy": "selective accuracy",
    "abstention_rate": "abstention rate",
    "unparsed_rate": "unparsed rate",
    "refused_rate": "refused rate",
    "error_status_rate": "run-error rate",
    "tie_rate": "tie rate",
    "bias": "bias (judge minus reference)",
    "mae": "mean absolute error",
    "rmse": "root mean squared error",
    "quadratic_weighted_kappa": "quadratic-weighted κ",
    "weighted_kappa": "weighted κ",
    "lin_ccc": "Lin's concordance",
    "pearson_r": "Pearson's r",
    "spearman_rho": "Spearman's ρ",
    "kendall_tau": "Kendall's τ_b",
    "spread_ratio": "spread, judge over reference",
    "smd": "standardised mean difference",
    "gwet_ac2": "Gwet's AC2",
    "exact_agreement": "exact agreement",
    "adjacent_agreement": "agreement within one mark",
    "mcc_multiclass": "multi-class correlation R_K",
    "risk_coverage_area": "area under the risk–coverage curve",
    "auroc": "AUROC",
    "brier": "Brier score",
    "ece": "expected calibration error",
    "calibration": "calibration",
    "win_rate": "win rate",
    "order_consistency": "same verdict in both orders",
    "flip_rate": "verdicts that flip",
    "repeats_needed": "repeats that a majority needs",
    "variance_component": "variance component",
    "generalizability": "generalizability",
    "dependability": "dependability Φ",
    "sem": "standard error of measurement",
    "mcdonald_omega": "McDonald's ω, internal consistency",
    "first_position_share": "wins of what is shown first",
    "errors_in_worst_lines": "errors in the worst lines",
    "expected_errors_in_worst_lines": "errors in the worst lines, if every line were alike",
    "expected_lines_with_errors": "lines with an error, if every line were alike",
    "lines_with_errors": "lines with an error",
    "mean_total": "mean total",
    "sd_total": "SD of totals",
    "kr20": "KR-20, internal consistency",
    "kr21": "KR-21, internal consistency",
    "cronbach_alpha": "Cronbach's α, internal consistency",
    "standardized_alpha": "standardised α, internal consistency",
    "mean_intercriterion_correlation": "mean inter-criterion correlation",
    "beta_binomial_reliability": "beta-binomial reliability of totals",
    "beta_binomial": "beta-binomial",
    "beta_binomial_gof": "beta-binomial fit",
    "phi_lambda": "dependability Φ(λ)",
    "livingston_lewis_accuracy": "Livingston–Lewis accuracy",
    "livingston_lewis_consistency": "Livingston–Lewis consistency",
    "livingston_lewis_kappa": "Livingston–Lewis κ of two administrations",
    "effective_length": "effective length at the given reliability",
    "hanson_brennan": "Hanson–Brennan",
    "huynh": "Huynh",
    "subkoviak": "Subkoviak",
    "validity_gap": "gate accuracy minus Livingston–Lewis accuracy",
    "corrected_prevalence": "true positive rate, judge's rate corrected (Rogan–Gladen)",
    "ppi_mean": "true mean, judge's mean corrected (prediction-powered)",
    "certifiable": "agreement that the labels certify",
    "labels_saved": "share of labels that the judge saves for a mean",
    "group_gap": "gap between groups",
    "group_gap_true": "gap between groups at equal true score",
    "group_fairness": "share of errors that groups explain",
    "group_share": "share of a group that passes",
    "group_part": "part of a group among those who pass",
    "group_share_gap": "difference between groups in the share that passes",
    "group_share_ratio": "ratio of groups' shares that pass",
    "design_weight": "design weights",
    "total_correlation": "correlation of totals, judge with reference",
    "error_correlation": "mean correlation of errors between criteria",
    "fleiss_kappa": "Fleiss' κ",
    "conger_kappa": "Conger's κ",
    "krippendorff_alpha": "Krippendorff's α",
    "human_ceiling": "agreement of human raters",
    "alternative_annotator": "alternative annotator test",
    "prmse": "reduction in error for the humans' true score (PRMSE)",
    "bradley_terry": "strength (Bradley–Terry, log odds)",
    "system_mean": "mean of a system",
    "pairwise_accuracy": "pairs of systems ordered alike",
    "soft_pairwise_accuracy": "soft pairwise accuracy of systems",
    "winner_agreement": "same best system",
    "rater_severity": "severity, mean deviation from the raters",
    "rater_centrality": "spread over that of the other raters, below 1 keeps to the middle",
    "effective_judges": "independent judges that these are worth",
    "stuart_maxwell": "Stuart–Maxwell test",
    "mean_pairwise_kappa": "mean pairwise κ",
    "mean_pairwise_phi": "mean pairwise φ",
    "icc": "intraclass correlation",
    "item_total_correlation": "item–total correlation",
    "error_count_variance": "variance of errors a response",
    "independence_check": "independent errors planted",
    "equivalence": "equivalence",
    "drift": "drift",
    "label_effect": "label effect",
    "label_effect_share": "label effect, share of the scale",
    "dose_slope": "marks per point of label",
    "dose_ratio": "dose ratio: 1 in proportion, 0 a step",
    "pass_through": "marks moved per point shown",
    "learner_sd": "SD of label effects between learners",
    "toward_away": "nearer the reference by",
    "loop_eigenvalue": "loop eigenvalue: what is left of a deviation after a mark",
    "loop_runaway_multiple": "loop runaway multiple: times the label effect at which beliefs run away",
    "loop_multiplier": "loop multiplier: spread of beliefs by feedback alone",
    "loop_total": "loop: spread of beliefs by all that the label does",
    "loop_belief_error": "loop: error of beliefs",
    "loop_strong_belief": "loop: belief less ability of strong learners",
    "loop_recovery": "loop: items until a false record is mended",
    "n_responses": "responses complete on both sides",
    "n_clusters": "clusters with a verdict in use",
    "n_criteria": "criteria",
    "n_verdicts": "verdict slots",
    "n_scored": "scored",
    "n_abstained": "abstained",
    "n_tied": "tied",
    "n_unparsed": "unparsed",
    "n_refused": "refused",
    "n_error": "error of the run",
    "n_missing": "missing",
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
        "corrected_prevalence",
        "certifiable",
        "labels_saved",
        "judge_positive_rate",
        "accuracy",
        "selective_coverage",
        "selective_accuracy",
        "abstention_rate",
        "unparsed_rate",
        "refused_rate",
        "error_status_rate",
        "tie_rate",
        "exact_agreement",
        "adjacent_agreement",
        "win_rate",
        "order_consistency",
        "flip_rate",
        "first_position_share",
        "label_effect_share",
        "group_share",
        "group_part",
    }
)
"""Statistics shown in percent."""
_COUNTS = ("n_", "errors_in_", "lines_with_")
_EXPECTED_COUNTS = ("expected_errors_in_", "expected_lines_with_")
_UNITS = {"leniency": "criteria a response"}
"""Units of statistics that have one, where no parameter names another."""
_INDEPENDENT = ("clopper_pearson", "wilson")
BOOTSTRAPS = ("percentile", "bca", "bootstrap_t", "exact")
"""Interval methods that draw or enumerate resamples."""
_PARAMS = {
    ("unscored", "error"): "unscored counted as errors",
    ("unscored", "reject"): "unscored counted as rejected",
    ("bound", "lower"): "lower bound over what is not scored",
    ("design", "nested"): "within clusters",
    ("facet", "residual"): "what is left",
    ("error", "relative"): "relative to other responses",
    ("bound", "upper"): "upper bound over what is not scored",
    ("by", "length"): "by length",
    ("by", "author"): "by author",
    ("group", "shorter"): "shorter half",
    ("group", "longer"): "longer half",
    ("group", "others"): "others' work",
    ("group", "own"): "its own model's work",
    ("contrast", "others"): "minus the other criteria",
    ("rate", "shrunken"): "shrunk towards all lines",
    ("icc", "none"): "independent verdicts",
    ("icc", "estimated"): "clustering as estimated",
    ("icc", "assumed"): "clustering assumed, ICC 0.02",
    ("icc", "companion"): "clustering of the other direction's errors",
    ("quantity", "different"): "different from 0",
    ("quantity", "noise"): "SD of a single grading over repeats",
    ("quantity", "share_kept"): "share of the shift that shuffled marks keep",
    ("quantity", "expected"): "if learners were reassigned",
    ("quantity", "below"): "learners moved the other way",
    ("against", "control"): "over all labels, from the control",
    ("clipping", "undone"): "before rounding and clipping",
    ("label", "none"): "no label",
    ("label", "binary"): "binary label",
    ("quantity", "change"): "change from no label",
    ("quantity", "ratio"): "over that with no label",
    ("quantity", "above"): "learners moved the common way",
    ("held", "n_prior"): "number of earlier answers held fixed, too",
    ("quantity", "inside"): "inside the margin",
    ("quantity", "power"): "power where the truth is 0",
    ("variance", "n"): "both divisors n",
    ("parameter", "alpha"): "α",
    ("parameter", "beta"): "β",
    ("quantity", "chi2"): "χ²",
    ("quantity", "df"): "degrees of freedom",
    ("quantity", "p"): "p",
    ("quantity", "mean"): "mean KR-20",
    ("quantity", "sd"): "SD of KR-20",
    ("quantity", "share_at_least_observed"): "share of draws at or above the observed KR-20",
    ("quantity", "error_count_variance"): "expected variance of errors a response",
    ("rates", "overall"): "overall rates",
    ("rates", "line"): "rates of each line",
    ("method", "grid400"): "published 400-point grid",
    ("model", "ll2"): "classical, two parameters",
    ("model", "ll4"): "classical, four parameters",
    ("quantity", "accuracy"): "accuracy",
    ("quantity", "consistency"): "consistency",
    ("quantity", "kappa"): "κ of two administrations",
    ("part", "line_sampling"): "part: sampling of lines, 1 − L–L of the reference",
    ("part", "judge_error"): "part: error of the judge, 1 − gate accuracy",
    ("part", "judge_minus_reference"): "part: L–L, judge minus reference",
    ("per", "verdict"): "a verdict",
    ("level", "system"): "of the systems' means",
    ("level", "item"): "within items",
    ("level", "within_system"): "within systems",
    ("ties", "class"): "ties as a class of their own",
    ("ties", "calibrated"): "near scores of the judge tied, how near chosen to agree best",
    ("aggregation", "macro"): "macro: mean over lines",
    ("aggregation", "item"): "one decision a response",
    ("rule", "all"): "all criteria met",
    ("aggregation", "strata"): "plain mean over strata",
    ("strata", "fixed"): "strata fixed",
    ("weights", "criterion"): "weighted by criterion",
    ("target", "correct"): "right against wrong verdicts",
    ("quantity", "slope"): "slope",
    ("contrast", "calibrated-raw"): "calibrated minus as given",
    ("contrast", "calibrated-calibrated"): "both calibrated",
    ("method", "least_squares"): "least squares",
    ("method", "isotonic"): "isotonic step",
    ("quantity", "overconfidence"): "confidence minus share right",
}


def display_name(estimate: Estimate) -> str:
    """The statistic in words, with the parameters that tell it apart."""
    name = NAMES.get(estimate.statistic, estimate.statistic.replace("_", " "))
    unit = "" if "per" in estimate.params else _UNITS.get(estimate.statistic, "")
    inner = ", ".join([*([unit] if unit else []), *_param_texts(estimate)])
    return printable(f"{name} ({inner})" if inner else name)


def _param_texts(estimate: Estimate) -> list[str]:
    """Parameters in words; a bound that assumes an intraclass correlation is none over what is not scored."""
    if "icc" in estimate.params:
        return [f"{estimate.params['bound']} limit", param_text("icc", estimate.params["icc"])]
    of_group = {"level"} if "axis" in estimate.params else set()  # there it names a group, which may be called anything
    return [f"{key} {value}" if key in of_group else param_text(key, value) for key, value in estimate.params.items()]


def p_text(p_value: float) -> str:
    """A p value: three decimals, and no nought below them."""
    return "<0.001" if p_value < 0.001 else _fixed(p_value, 3)


def param_text(key: str, value: str) -> str:
    """A parameter of an id in words."""
    return _PARAMS.get((key, value), f"{key} {value}")


def _fixed(number: float, digits: int) -> str:
    rounded = f"{number:.{digits}f}"
    return rounded.removeprefix("-") if float(rounded) == 0 else rounded


def plural(number: int, word: str, words: str = "") -> str:
    """A count with its word."""
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def value_text(estimate: Estimate) -> str:
    """The value as a reader sees it; a word where there is none."""
    if estimate.estimate is None:
        return estimate.status.replace("_", " ")
    return _number(estimate, estimate.estimate)


def _number(estimate: Estimate, number: float) -> str:
    """A number of this estimate; items until a record is mended are counted, their ratio is not; one question is answered."""
    if estimate.statistic == "loop_recovery" and "quantity" not in estimate.params:
        return count_text(number)
    if estimate.statistic == "winner_agreement" and number in _ANSWERS:
        return _ANSWERS[number]
    return number_text(estimate.statistic, number)


_ANSWERS = {0.0: "no", 1.0: "yes"}


def number_text(statistic: str, number: float) -> str:
    """A number of this statistic, rounded for reading."""
    if statistic.startswith(_COUNTS):
        return count_text(number)
    if statistic in PERCENT:
        return percent_text(number)
    return _fixed(number, 1 if statistic.startswith(_EXPECTED_COUNTS) else 3)


def percent_text(share: float) -> str:
    """A share in percent, one decimal."""
    return f"{_fixed(100 * share, 1)} %"


def count_text(number: float) -> str:
    """A count with its thousands apart."""
    return f"{number:,.0f}"


def plain_number(number: float, digits: int = 3) -> str:
    """A number of a simulation, rounded for reading; a dash where it is undefined."""
    return _fixed(number, digits) if math.isfinite(number) else "–"


def axis_text(number: float, *, percent: bool) -> str:
    """A tick of an axis: no more digits than it has."""
    return f"{100 * number:.6g} %" if percent else f"{number:.6g}"


def interval_text(estimate: Estimate) -> str:
    """Both ends, or nothing."""
    if estimate.ci_low is None or estimate.ci_high is None:
        return ""
    if estimate.statistic in PERCENT:
        return f"{_fixed(100 * estimate.ci_low, 1)} – {_fixed(100 * estimate.ci_high, 1)} %"
    return f"[{_fixed(estimate.ci_low, 3)}, {_fixed(estimate.ci_high, 3)}]"


def ends_text(estimate: Estimate) -> tuple[str, str]:
    """The ends of the interval, each rounded as the value is; nothing twice where there is none."""
    if estimate.ci_low is None or estimate.ci_high is None:
        return "", ""
    return _number(estimate, estimate.ci_low), _number(estimate, estimate.ci_high)


def range_text(estimate: Estimate) -> str:
    """Both ends as a phrase: the unit once, no sign that could be read as a minus."""
    low, high = ends_text(estimate)
    return f"{low.removesuffix(' %')} to {high}" if low else ""


def ratio_text(number: float) -> str:
    """A ratio near one, such as a design effect."""
    return _fixed(number, 2)


def events_text(estimate: Estimate) -> str:
    """Events of trials, where the statistic counts them."""
    if estimate.events is None or estimate.trials is None:
        return ""
    return f"{estimate.events:,.0f} of {estimate.trials:,.0f}"


def interval_phrase(audit: Audit, judge: str = "") -> str:
    """What the intervals of an audit are over, by the method that made them; of one judge with its own G."""
    said = audit.declarations
    level = f"{100 * said.confidence_level:g} %"
    if said.interval_method == "none":
        return "no intervals"
    if said.interval_method in _INDEPENDENT:
        return f"{level} interval, verdicts taken as independent"
    if said.cluster_unit == "response":
        return f"{level} interval over responses"
    if said.n_units < audit.data.n_clusters:
        return f"{level} cluster interval, G = {said.n_units:,} random groups of clusters"
    counts = [e for e in audit.estimates if e.statistic == "n_clusters" and e.source == (judge or e.source)]
    found = [e.estimate for e in counts if e.estimate is not None] or [audit.data.n_clusters]
    least, most = min(found), max(found)
    if most < 2:
        return "no intervals: one cluster"
    if said.second_unit:
        least_of = f"{least:,.0f}" + (f" to {most:,.0f}" if most > least else "")
        return f"{level} two-way cluster interval, G = {least_of} by {said.n_second_units:,}"
    return f"{level} cluster interval, G = {least:,.0f}" + (f" to {most:,.0f}" if most > least else "")


def missing_text(estimate: Estimate) -> str:
    """Why there is no value or no interval; nothing where there are both."""
    return printable(estimate.reason) if estimate.status != "ok" or estimate.ci_low is None else ""


def sensible(number: float | None) -> str:
    """A number as a heading shows it: integers whole, others with four decimals or four digits."""
    if number is None or number.is_integer():
        return full(number)
    return f"{number:.4g}" if abs(number) < 0.001 else _fixed(number, 4)


def full(number: float | None) -> str:
    """Full precision with a leading zero; integers without a point; nothing where there is nothing."""
    if number is None:
        return ""
    if number.is_integer() and abs(number) < 2**53:
        return str(int(number))
    return repr(number)


def method_text(estimate: Estimate) -> str:
    """The interval's method in words."""
    names = {
        "jackknife_t_scaled": "delete-one-cluster jackknife",
        "jackknife_t": "delete-one-cluster jackknife",
        "two_way_jackknife_t": "two-way jackknife over both units, V = max(V₁ + V₂ − V₁₂, V₁, V₂)",
        "two_way_wider": "the wider of both units' intervals",
        "bootstrap_se_t": "t on the standard error over resamples of clusters",
        "max_t": "simultaneous over the family, max-t over shared resamples",
        "max_t_draws": "simultaneous over the family, max-t over draws with the jackknife's correlation",
        "generalised": "generalised, from mean squares and their degrees of freedom",
        "korn_graubard": "Korn–Graubard (Clopper–Pearson at an effective sample size)",
        "clopper_pearson": "Clopper–Pearson",
        "wilson": "Wilson",
        "percentile": "percentile bootstrap over clusters",
        "bca": "BCa bootstrap over clusters",
        "bootstrap_t": "bootstrap-t over clusters",
        "cr2_t": "CR2 with Satterthwaite t",
        "exact": "all resamples of clusters enumerated",
        "draws": "ends of draws of learners and of the grader's line, on the same random numbers",
        "from_label_effect": "from the interval of the label effect",
        "none": "none",
    }
    said = names.get(estimate.interval_method, estimate.interval_method)
    if estimate.interval_df is not None and math.isfinite(estimate.interval_df):
        said += f", t({_fixed(estimate.interval_df, 2)})"
    if estimate.interval_scale:
        said += f", {estimate.interval_scale} scale"
    return said
