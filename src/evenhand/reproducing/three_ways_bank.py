"""Zhu (2026) on its bank: every number the matrix determines, and the estimate of an audit that is this number.

The numbers and their places are those of "Three Ways Classical Test Theory Can Mislead About LLM Judges"; which rule gives which
digit is told in the notes. Nothing here computes a statistic: ids are looked up in an audit of the matrix with percentile intervals.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evenhand.errors import RequestError
from evenhand.results import Audit, Cell

CUTS = (4, 5, 6, 7)
K = 10


@dataclass(frozen=True, slots=True)
class BankNumbers:
    """An audit of the judge against gold, and one of the gold verdicts of all responses as if a judge had given them."""

    judged: Audit
    gold: Audit

    def __call__(self, estimate_id: str) -> float:
        """The estimate with this id of the judged audit."""
        return _number(self.judged[estimate_id].estimate, estimate_id)

    def low(self, estimate_id: str) -> float:
        """Lower end of its interval."""
        return _number(self.judged[estimate_id].ci_low, estimate_id)

    def high(self, estimate_id: str) -> float:
        """Upper end of its interval."""
        return _number(self.judged[estimate_id].ci_high, estimate_id)

    def of_gold(self, estimate_id: str) -> float:
        """An estimate on the gold verdicts of all responses."""
        return _number(self.gold[estimate_id].estimate, estimate_id)

    def rows(self, table: str, *, gold: bool = False) -> list[dict[str, Cell]]:
        """Rows of a saved table by column."""
        return (self.gold if gold else self.judged).tables[table].records()

    def responses_at(self, column: str, total: int, *, gold: bool = False) -> float:
        """Responses with this total."""
        return float(sum(int(row["n"] or 0) for row in self.rows("totals/judge", gold=gold) if row[column] == total))

    def errors_by(self, part: int) -> dict[str, int]:
        """Errors by cluster (part 0) or by position (part 1) of the lines."""
        found: dict[str, int] = {}
        for row in self.rows("lines/judge"):
            name = str(row["line"]).rsplit(".", 1)[part]
            found[name] = found.get(name, 0) + int(row["errors"] or 0)
        return found


def _number(value: float | None, estimate_id: str) -> float:
    if value is None:
        raise RequestError(f"{estimate_id} is undefined on this bank, so no published number can be held against it")
    return value


@dataclass(frozen=True, slots=True)
class BankLine:
    """One printed number: where, what, how it is printed, and what it is in an audit."""

    place: str
    quantity: str
    printed: str
    recomputed: Callable[[BankNumbers], float]
    note: str = ""


def bank_lines() -> Iterator[BankLine]:
    """All of them, in the order of the paper."""
    yield from _setup()
    yield from _internal_consistency()
    yield from _gates()
    yield from _unparsed()
    yield from _errors()
    yield from _model()
    yield from _wording()


def _id(estimate_id: str, times: float = 1.0) -> Callable[[BankNumbers], float]:
    return lambda bank: times * bank(estimate_id)


def _low(estimate_id: str, times: float = 1.0) -> Callable[[BankNumbers], float]:
    return lambda bank: times * bank.low(estimate_id)


def _high(estimate_id: str, times: float = 1.0) -> Callable[[BankNumbers], float]:
    return lambda bank: times * bank.high(estimate_id)


def _gold(estimate_id: str) -> Callable[[BankNumbers], float]:
    return lambda bank: bank.of_gold(estimate_id)


def _setup() -> Iterator[BankLine]:
    yield BankLine("§2", "responses", "210", _gold("n_responses/judge"))
    yield BankLine("§2", "lines of a checklist, K", "10", _id("n_criteria/judge"))
    yield BankLine("§2", "responses with parsed verdicts", "180", _id("n_responses/judge"))
    yield BankLine(
        "§2", "responses without", "30", lambda bank: bank.of_gold("n_responses/judge") - bank("n_responses/judge")
    )
    yield BankLine("§2", "question clusters, all", "15", _gold("n_clusters/judge"))
    yield BankLine("§2", "question clusters, scored", "13", _id("n_clusters/judge"))
    yield BankLine("§2", "mean of gold totals, all responses", "5.45", _gold("mean_total/judge"))
    yield BankLine("§2", "SD of gold totals, all responses", "2.21", _gold("sd_total/judge"), "divisor n−1")
    yield BankLine(
        "§2", "gold totals at 10, all responses", "6", lambda bank: bank.responses_at("judge_total", K, gold=True)
    )
    yield BankLine(
        "§A.2", "gold totals at 0, all responses", "2", lambda bank: bank.responses_at("judge_total", 0, gold=True)
    )
    yield BankLine("§A.2", "mean of gold totals, scored responses", "5.51", _id("mean_total/reference"))
    yield BankLine("§A.2", "SD of gold totals, scored responses", "2.16", _id("sd_total/reference"), "divisor n−1")
    yield BankLine(
        "§A.2", "gold totals at 10, scored responses", "6", lambda bank: bank.responses_at("reference_total", K)
    )
    yield BankLine(
        "§A.2", "judge totals at 10, scored responses", "9", lambda bank: bank.responses_at("judge_total", K)
    )
    yield BankLine("§2", "correlation of judge and gold totals", "0.921", _id("total_correlation/judge"))
    yield BankLine("§2", "error rate of verdicts, %", "4.72", _id("error_rate/judge", 100))
    yield BankLine("§2", "  lower end, %", "2.6", _low("error_rate/judge", 100))
    yield BankLine("§2", "  upper end, %", "6.9", _high("error_rate/judge", 100))
    yield BankLine("§2", "leniency, lines a response", "0.46", _id("leniency/judge"))
    yield BankLine("§2", "false-accept rate, %", "10.4", _id("false_accept_rate/judge", 100))
    yield BankLine("§2", "  lower end, %", "5.5", _low("false_accept_rate/judge", 100))
    yield BankLine("§2", "  upper end, %", "15.5", _high("false_accept_rate/judge", 100))
    yield BankLine("§2", "false-reject rate, %", "0.1", _id("false_reject_rate/judge", 100))
    yield BankLine("§2", "  lower end, %", "0.0", _low("false_reject_rate/judge", 100))
    yield BankLine("§2", "  upper end, %", "0.3", _high("false_reject_rate/judge", 100))


def _internal_consistency() -> Iterator[BankLine]:
    mixed = "line variances with 1/n, the total's with 1/(n−1)"
    yield BankLine("§3", "KR-20 on judge verdicts", "0.5223", _id("kr20/judge"), mixed)
    yield BankLine("§3", "KR-20 on gold verdicts", "0.5231", _id("kr20/reference"), mixed)
    yield BankLine("§3", "KR-20 difference, lower end", "-0.073", _low("kr20/judge-reference"))
    yield BankLine("§3", "KR-20 difference, upper end", "0.074", _high("kr20/judge-reference"))
    yield BankLine("§3", "standardised form on gold", "0.520", _id("standardized_alpha/reference"))
    yield BankLine(
        "§3", "mean correlation between lines, gold", "0.098", _id("mean_intercriterion_correlation/reference")
    )
    yield BankLine(
        "§A.6", "mean correlation between lines, judge", "0.098", _id("mean_intercriterion_correlation/judge")
    )
    overall, line = "rates=overall", "rates=line"
    yield BankLine(
        "§3",
        "KR-20 under independent errors at the overall rates, mean",
        "0.470",
        _id(f"independence_check[quantity=mean,{overall}]/judge"),
    )
    yield BankLine("§3", "  SD", "0.026", _id(f"independence_check[quantity=sd,{overall}]/judge"))
    yield BankLine("§3", "  draws at or above the observed value, %", "1.7", _id(f"independence_check[quantity=share_at_least_observed,{overall}]/judge", 100),
        "33 of 2,000 is 1.65 %, printed rounded half up")  # fmt: skip
    yield BankLine(
        "§A.2",
        "KR-20 under independent errors at each line's rates, mean",
        "0.482",
        _id(f"independence_check[quantity=mean,{line}]/judge"),
    )
    yield BankLine("§A.2", "  SD", "0.019", _id(f"independence_check[quantity=sd,{line}]/judge"))


def _gates() -> Iterator[BankLine]:
    table = zip(CUTS, ("0.961", "0.928", "0.900", "0.917"), ("0.922", "0.893", "0.851", "0.856"), ("0.994", "0.962", "0.945", "0.973"),
        ("0.741", "0.600", "0.516", "0.608"), ("0.676", "0.543", "0.541", "0.673"), strict=True)  # fmt: skip
    for cut, accuracy, low, high, judge, gold in table:
        yield BankLine("§4", f"gate accuracy at cut {cut}", accuracy, _id(f"accuracy[cut={cut}]/judge"))
        yield BankLine("Table A.6", f"  lower end, cut {cut}", low, _low(f"accuracy[cut={cut}]/judge"))
        yield BankLine("Table A.6", f"  upper end, cut {cut}", high, _high(f"accuracy[cut={cut}]/judge"))
        yield BankLine("§4", f"Φ(λ) on judge verdicts at cut {cut}", judge, _id(f"phi_lambda[cut={cut}]/judge"))
        yield BankLine(
            "§4",
            f"Φ(λ) on gold verdicts at cut {cut}",
            gold,
            _id(f"phi_lambda[cut={cut}]/reference"),
            "the negative line component set to 0",
        )
    grid = "400 grid points; the exact integral rounds to another digit on gold at cuts 4 and 7"
    table_a6 = zip(CUTS, ("0.882", "0.812", "0.759", "0.750"), ("0.846", "0.781", "0.750", "0.769"), ("0.079", "0.116", "0.141", "0.167"),
        ("0.154", "0.219", "0.250", "0.231"), ("0.836", "0.755", "0.697", "0.689"), strict=True)  # fmt: skip
    for cut, judge, gold, gap, short, consistency in table_a6:
        yield BankLine("Table A.6", f"Livingston–Lewis accuracy, judge, cut {cut}", judge, _id(_ll(cut)), grid)
        yield BankLine(
            "Table A.6", f"Livingston–Lewis accuracy, gold, cut {cut}", gold, _id(_ll(cut, "reference")), grid
        )
        yield BankLine("Table A.6", f"accuracy minus Livingston–Lewis, cut {cut}", gap, _gap(cut), grid)
        yield BankLine("Table A.6", f"1 minus Livingston–Lewis on gold, cut {cut}", short, _shortfall(cut), grid)
        yield BankLine(
            "Table A.6",
            f"Livingston–Lewis consistency, judge, cut {cut}",
            consistency,
            _id(_ll(cut, what="consistency")),
            grid,
        )
    yield from _ranges()


def _ranges() -> Iterator[BankLine]:
    """Ranges over the four cuts, as the text prints them."""
    accuracy_phi = [_difference(f"accuracy[cut={cut}]/judge", f"phi_lambda[cut={cut}]/judge") for cut in CUTS]
    ll_phi = [_difference(_ll(cut), f"phi_lambda[cut={cut}]/judge") for cut in CUTS]
    ll_ll = [_difference(_ll(cut), _ll(cut, "reference")) for cut in CUTS]
    gate_error = [_one_minus(f"accuracy[cut={cut}]/judge") for cut in CUTS]
    for quantity, low, high, over in (
        ("accuracy minus Φ(λ)", "0.22", "0.38", accuracy_phi),
        ("Livingston–Lewis minus Φ(λ)", "0.14", "0.24", ll_phi),
        ("accuracy minus Livingston–Lewis", "0.08", "0.17", [_gap(cut) for cut in CUTS]),
        ("1 minus Livingston–Lewis on gold", "0.15", "0.25", [_shortfall(cut) for cut in CUTS]),
        ("gate error", "0.04", "0.10", gate_error),
        ("Livingston–Lewis, judge minus gold", "-0.02", "0.04", ll_ll),
    ):
        yield BankLine("§4", f"{quantity}, least over cuts", low, _extreme(min, over))
        yield BankLine("§4", f"{quantity}, most over cuts", high, _extreme(max, over))


def _unparsed() -> Iterator[BankLine]:
    yield BankLine(
        "§6", "error rate with unparsed counted as errors, %", "18.3", _id("error_rate[unscored=error]/judge", 100)
    )
    table = zip(CUTS, ("0.862", "0.852", "0.852", "0.881"), ("0.824", "0.795", "0.771", "0.786"), strict=True)
    for cut, reject, error in table:
        yield BankLine(
            "§A.1",
            f"gate accuracy, unparsed rejected, cut {cut}",
            reject,
            _id(f"accuracy[cut={cut},unscored=reject]/judge"),
        )
        yield BankLine(
            "§A.1",
            f"gate accuracy, unparsed an error, cut {cut}",
            error,
            _id(f"accuracy[cut={cut},unscored=error]/judge"),
        )


def _errors() -> Iterator[BankLine]:
    gold = ("0.506", "0.583", "0.561", "0.533", "0.550", "0.567", "0.561", "0.528", "0.544", "0.578")
    error = ("0.144", "0.044", "0.072", "0.061", "0.044", "0.033", "0.033", "0.000", "0.022", "0.017")
    for position, (rate, wrong) in enumerate(zip(gold, error, strict=True), start=1):
        yield BankLine(
            "Table A.3", f"gold rate at position {position}", rate, _id(f"prevalence[criterion={position}]/judge")
        )
        yield BankLine(
            "Table A.3", f"error rate at position {position}", wrong, _id(f"error_rate[criterion={position}]/judge")
        )
    yield BankLine("§A.2", "error rate at position 1, lower end", "0.082", _low("error_rate[criterion=1]/judge"))
    yield BankLine("§A.2", "error rate at position 1, upper end", "0.206", _high("error_rate[criterion=1]/judge"))
    yield BankLine("§A.2", "clusters with an error at position 1", "9", _clusters_with_errors_at("1"))
    yield BankLine("§A.2", "errors", "85", lambda bank: float(sum(bank.errors_by(0).values())))
    yield BankLine("§A.2", "lines with an error", "34", _id("lines_with_errors/judge"))
    yield BankLine("§A.2", "lines", "130", lambda bank: float(len(_scored_lines(bank))))
    yield BankLine("§A.2", "errors on the five worst lines", "25", _id("errors_in_worst_lines[lines=5]/judge"))
    yield BankLine(
        "§A.2",
        "  share of errors, %",
        "29",
        lambda bank: 100 * bank("errors_in_worst_lines[lines=5]/judge") / sum(bank.errors_by(0).values()),
    )
    yield BankLine(
        "§A.2",
        "errors in the three worst clusters",
        "46",
        lambda bank: float(sum(sorted(bank.errors_by(0).values())[-3:])),
    )
    yield BankLine("§A.2", "variance of error counts", "0.72", _id("error_count_variance/judge"))
    variance = "independence_check[quantity=error_count_variance,rates={}]/judge"
    yield BankLine("§A.2", "  under independent errors at the overall rates", "0.47", _id(variance.format("overall")))
    yield BankLine("§A.2", "  under independent errors at each line's rates", "0.59", _id(variance.format("line")))
    yield BankLine("§A.3", "correlation between line errors", "0.063", _id("error_correlation/judge"),
        "36 pairs: position 8 has no error")  # fmt: skip


def _model() -> Iterator[BankLine]:
    yield BankLine("§A.2", "beta-binomial α", "5.452", _id("beta_binomial[parameter=alpha]/judge"))
    yield BankLine("§A.2", "beta-binomial β", "3.663", _id("beta_binomial[parameter=beta]/judge"))
    yield BankLine("§A.2", "reliability K/(α+β+K)", "0.523", _id("beta_binomial_reliability/judge"))
    yield BankLine("§A.2", "goodness of fit, χ²", "5.31", _id("beta_binomial_gof[quantity=chi2]/judge"))
    yield BankLine("§A.2", "  degrees of freedom", "6", _id("beta_binomial_gof[quantity=df]/judge"))
    yield BankLine("§A.2", "  p", "0.504", _id("beta_binomial_gof[quantity=p]/judge"))
    first = [_understated(cut, source) for cut in CUTS for source in ("judge", "reference")]
    yield BankLine("§A.3", "understatement of Φ(λ) in the first version, least", "0.03", _extreme(min, first))
    yield BankLine("§A.3", "understatement of Φ(λ) in the first version, most", "0.05", _extreme(max, first))


def _wording() -> Iterator[BankLine]:
    """What Table A.8 prints again, at its own digits."""
    yield BankLine("Table A.8", "SD of gold totals", "2.16", _id("sd_total/reference"))
    yield BankLine("Table A.8", "Livingston–Lewis accuracy at cut 5, judge", "0.812", _id(_ll(5)))
    yield BankLine("Table A.8", "Livingston–Lewis accuracy at cut 5, gold", "0.781", _id(_ll(5, "reference")))
    yield BankLine("Table A.8", "Φ(λ = .5), judge", "0.600", _id("phi_lambda[cut=5]/judge"))
    yield BankLine("Table A.8", "Φ(λ = .5), gold", "0.543", _id("phi_lambda[cut=5]/reference"))
    yield BankLine("Table A.8", "gate accuracy at cut 5", "0.928", _id("accuracy[cut=5]/judge"))
    yield BankLine(
        "Table A.8", "gate accuracy at cut 5, unparsed an error", "0.795", _id("accuracy[cut=5,unscored=error]/judge")
    )


def _ll(cut: int, source: str = "judge", what: str = "accuracy") -> str:
    return f"livingston_lewis_{what}[cut={cut},method=grid400]/{source}"


def _difference(first: str, second: str) -> Callable[[BankNumbers], float]:
    return lambda bank: bank(first) - bank(second)


def _one_minus(estimate_id: str) -> Callable[[BankNumbers], float]:
    return lambda bank: 1 - bank(estimate_id)


def _gap(cut: int) -> Callable[[BankNumbers], float]:
    return _difference(f"accuracy[cut={cut}]/judge", _ll(cut))


def _shortfall(cut: int) -> Callable[[BankNumbers], float]:
    return _one_minus(_ll(cut, "reference"))


def _extreme(
    pick: Callable[[list[float]], float], over: Sequence[Callable[[BankNumbers], float]]
) -> Callable[[BankNumbers], float]:
    return lambda bank: pick([one(bank) for one in over])


def _scored_lines(bank: BankNumbers) -> list[str]:
    return [str(row["line"]) for row in bank.rows("lines/judge") if row["scored"]]


def _clusters_with_errors_at(position: str) -> Callable[[BankNumbers], float]:
    def counted(bank: BankNumbers) -> float:
        with_errors = (str(row["line"]) for row in bank.rows("lines/judge") if row["errors"])
        return float(sum(1 for line in with_errors if line.rsplit(".", 1)[1] == position))

    return counted


def _understated(cut: int, source: str) -> Callable[[BankNumbers], float]:
    """Φ(λ) less its first version, whose error term was the variance of all verdicts over K and held the responses' own."""

    def difference(bank: BankNumbers) -> float:
        n, mean = bank("n_responses/judge"), bank(f"mean_total/{source}") / K
        of_verdicts = mean * (1 - mean) * n * K / (n * K - 1)
        of_responses = max((bank(f"sd_total/{source}") / K) ** 2 - of_verdicts / K, 0.0)
        distance = of_responses + (mean - cut / K) ** 2
        return bank(f"phi_lambda[cut={cut}]/{source}") - distance / (distance + of_verdicts / K)

    return difference
