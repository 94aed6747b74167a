"""Estimates as rows of tables, each with the cards it opens."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from evenhand.errors import printable
from evenhand.report.card import card_fields, headline, shortfall_text
from evenhand.report.lookups import cut_words, is_of_arms, is_of_systems, main_cut, reference_of, wording_of
from evenhand.report.scorer import is_of_scorer
from evenhand.report.tables import (
    NAMES,
    display_name,
    ends_text,
    events_text,
    missing_text,
    param_text,
    range_text,
    value_text,
)
from evenhand.results import Audit, Estimate

_MAIN = (
    "false_accept_rate",
    "false_reject_rate",
    "error_rate",
    "observed_agreement",
    "cohen_kappa",
    "phi",
    "bias",
    "mae",
    "quadratic_weighted_kappa",
    "pearson_r",
    "spread_ratio",
    "win_rate",
    "leniency",
    "judge_positive_rate",
    "prevalence",
)
_STATUS = (
    "selective_coverage",
    "selective_accuracy",
    "abstention_rate",
    "tie_rate",
    "unparsed_rate",
    "refused_rate",
    "error_status_rate",
)
_STRUCTURE = (
    "errors_in_worst_lines",
    "expected_errors_in_worst_lines",
    "lines_with_errors",
    "expected_lines_with_errors",
    "error_correlation",
    "total_correlation",
    "error_count_variance",
)
_BY_CRITERION = (
    "error_rate",
    "false_accept_rate",
    "false_reject_rate",
    "observed_agreement",
    "cohen_kappa",
    "prevalence",
    "judge_positive_rate",
)
_ELSEWHERE = {"criterion", "line", "by", "icc", "metric", "axis"}
"""Parameters of estimates that have tables of their own."""
_CALIBRATION = ("calibration", "ece", "brier")
"""Statistics that have a section of their own."""
_KIN = ("cronbach_alpha", "kr21", "standardized_alpha")
_STUDY = frozenset({"variance_component", "dependability", "generalizability", "sem"})
_PROCEDURES = ("effective_length", "hanson_brennan", "huynh", "livingston_lewis_kappa", "subkoviak")
_OF_LABELS = ("false_accept_rate", "false_reject_rate", "observed_agreement", "cohen_kappa")
_COMPARED = (*_OF_LABELS, "bias", "mae", "pearson_r", "win_rate")
_POOLED_MISSING = (
    "AC1 and its kin take chance agreement here from the labels of all raters together, also from verdicts that only one "
    "of them scored; the AC1 of a judge against the reference rests on pairs only."
)
_TREATMENTS = {"": "scored responses", "error": "unscored as errors", "reject": "unscored as rejected"}


@dataclass(frozen=True, slots=True)
class Cell:
    """A number as it is printed; ``note`` says why there is no value or no interval."""

    value: str
    low: str
    high: str
    range: str
    note: str
    is_ok: bool


@dataclass(frozen=True, slots=True)
class Card:
    """What a number opens."""

    id: str
    title: str
    headline: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A name, a number for each column (or none), and the cards behind them."""

    name: str
    cells: tuple[Cell | None, ...]
    events: str
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class NumberTable:
    """Rows under a heading.

    Attributes:
        columns: what each cell of a row is; one column stands with its events beside it.
        stub: what the rows' names are.
        more: rows that stand in ``where`` only.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    stub: str = "number"
    note: str = ""
    folded: bool = False
    more: int = 0
    where: str = "tables/estimates.csv"


@dataclass
class _Pool:
    """Estimates not yet in any table, in the audit's order."""

    audit: Audit
    left: dict[str, Estimate] = field(default_factory=dict)

    def take(self, found: Iterable[Estimate]) -> list[Estimate]:
        taken = [estimate for estimate in found if estimate.id in self.left]
        for estimate in taken:
            del self.left[estimate.id]
        return taken

    def named(self, names: Sequence[str], source: str, *, plain: bool = False) -> list[Estimate]:
        """Estimates of a source in the order of the names; only those without parameters if plain."""
        mine = [e for e in self.left.values() if e.source == source and not (plain and e.params)]
        return self.take(e for name in names for e in mine if e.statistic == name)


def cell(estimate: Estimate) -> Cell:
    """One number, rounded."""
    low, high = ends_text(estimate)
    ends = "; ".join(filter(None, (range_text(estimate), shortfall_text(estimate))))
    why = missing_text(estimate).removeprefix("no interval: ")  # which the page says itself
    return Cell(value_text(estimate), low, high, ends, why, estimate.status == "ok")


def card(audit: Audit, estimate: Estimate, title: str = "") -> Card:
    """The card of one number."""
    command = f"evenhand show DIR {shlex.quote(estimate.id)} --card"
    fields = tuple((label, printable(text)) for label, text in card_fields(audit, estimate, command))
    return Card(printable(estimate.id), title, headline(audit, estimate), fields)


def row(audit: Audit, estimate: Estimate) -> Row:
    """A number on its own row."""
    beside = "; ".join(filter(None, (events_text(estimate), shortfall_text(estimate))))
    return Row(display_name(estimate), (cell(estimate),), beside, (card(audit, estimate),))


def pivot(audit: Audit, name: str, columns: Sequence[str], found: Sequence[Estimate | None]) -> Row:
    """Numbers side by side, each with its card under the column's name."""
    cards = [card(audit, one, title) for title, one in zip(columns, found, strict=True) if one is not None]
    return Row(name, tuple(cell(one) if one is not None else None for one in found), "", tuple(cards))


def number_tables(audit: Audit, judge: str) -> tuple[NumberTable, ...]:
    """Every number about one judge but those of criteria and lines, the main ones first."""
    reference, difference = reference_of(judge), f"{judge}-reference"
    mine = {judge, reference, difference}
    pool = _Pool(
        audit,
        {
            e.id: e
            for e in audit.estimates
            if e.source in mine
            and not _ELSEWHERE & e.params.keys()
            and not is_of_scorer(audit, e)
            and not is_of_systems(e)
            and not wording_of(e)
            and e.statistic not in _CALIBRATION
        },
    )
    pool.take([e for e in pool.left.values() if e.statistic.startswith("n_")])
    main = [row(audit, e) for e in pool.named(_MAIN, judge, plain=True)]
    gates = _gates(audit, pool, judge)
    borrowed, further = _borrowed(audit, pool, judge)
    structure = [row(audit, e) for e in pool.named(_STRUCTURE, judge)]
    status = [row(audit, e) for e in pool.named(_STATUS, judge)]
    levels = _aggregations(audit, pool, judge)
    planted = _planted(audit, pool, judge)
    rest = [row(audit, e) for e in pool.left.values()]
    title = (
        "Judge against reference"
        if audit.data.has_reference
        else "The judge's verdicts, with nothing to hold them against"
    )
    found = (
        NumberTable(title, ("value",), tuple(main)),
        NumberTable("Pass or fail at a cut", tuple(_TREATMENTS.values()), tuple(gates), "pass mark"),
        *borrowed,
        NumberTable("Verdicts that were not scored", ("value",), tuple(status)),
        NumberTable("How errors hang together", ("value",), tuple(structure), folded=True),
        *planted,
        *levels,
        NumberTable("Further coefficients, and bounds over what is not scored", ("value",), tuple(rest), folded=True),
        *further,
    )
    return tuple(table for table in found if table.rows)


def _aggregations(audit: Audit, pool: _Pool, judge: str) -> list[NumberTable]:
    """Agreement pooled over verdicts, as a mean over criteria, and of one decision a response."""
    found = pool.take([e for e in pool.left.values() if e.source == judge and "aggregation" in e.params])
    by_level: dict[tuple[tuple[str, str], ...], dict[str, Estimate]] = {}
    for estimate in found:
        by_level.setdefault(tuple(estimate.params.items()), {})[estimate.statistic] = estimate
    names = list(dict.fromkeys(e.statistic for e in found))
    columns = tuple(NAMES.get(name, name.replace("_", " ")) for name in names)
    pooled = [next((e for e in audit.of(name, judge) if not e.params), None) for name in names]
    first = Row("micro: verdicts pooled", tuple(cell(e) if e is not None else None for e in pooled), "", ())
    rows = [
        pivot(audit, ", ".join(param_text(*param) for param in level), columns, [at.get(name) for name in names])
        for level, at in by_level.items()
    ]
    return (
        [NumberTable("Agreement by level of aggregation", columns, (first, *rows), "level", folded=True)]
        if rows
        else []
    )


def _planted(audit: Audit, pool: _Pool, judge: str) -> list[NumberTable]:
    """Independent errors planted in the reference labels: quantities by the rates they were planted at."""
    found = pool.named(("independence_check",), judge)
    at = {(e.params.get("quantity", ""), e.params.get("rates", "")): e for e in found}
    kinds = list(dict.fromkeys(kind for _, kind in at))
    quantities = dict.fromkeys(quantity for quantity, _ in at)
    columns = tuple(param_text("rates", kind) for kind in kinds)
    rows = tuple(
        pivot(audit, param_text("quantity", q), columns, [at.get((q, kind)) for kind in kinds]) for q in quantities
    )
    title = "If errors were independent: planted in the reference labels"
    return [NumberTable(title, columns, rows, folded=True)]


def _gates(audit: Audit, pool: _Pool, judge: str) -> list[Row]:
    found = pool.named(("accuracy",), judge)
    at = {(e.params.get("cut", ""), e.params.get("unscored", "")): e for e in found}
    cuts = dict.fromkeys(cut for cut, _ in at)
    columns = tuple(_TREATMENTS.values())
    return [
        pivot(audit, cut_words(audit, printable(cut)), columns, [at.get((cut, how)) for how in _TREATMENTS])
        for cut in cuts
    ]


def _borrowed(audit: Audit, pool: _Pool, judge: str) -> tuple[list[NumberTable], list[NumberTable]]:
    """Statistics of test theory side by side: those of the page, and those that are folded away."""
    sources = (judge, reference_of(judge), f"{judge}-reference") if audit.data.has_reference else (judge,)
    columns = ("judge", "reference", "difference") if audit.data.has_reference else ("judge",)
    borrowed = _names_of_borrowed(audit, sources)
    found = pool.take([e for e in pool.left.values() if e.statistic in borrowed])
    by_key: dict[tuple[str, tuple[tuple[str, str], ...]], dict[str, Estimate]] = {}
    for estimate in found:
        by_key.setdefault((estimate.statistic, tuple(estimate.params.items())), {})[estimate.source] = estimate
    rows: dict[str, list[Row]] = {"page": [], "kin": [], "study": [], "procedures": []}
    for (statistic, params), sides in by_key.items():
        one = next(iter(sides.values()))
        numbers = [sides.get(source) for source in sources]
        rows[_place(statistic, dict(params))].append(pivot(audit, display_name(one), columns, numbers))
    note = (
        "An error-free scorer gets the reference's value: what such a number says of the judge is at most the difference."
        if audit.data.has_reference
        else "These describe the bank and its checklist. None of them is a statement about the judge."
    )
    return (
        [NumberTable("Borrowed from test theory", columns, tuple(rows["page"]), note=note)],
        [
            NumberTable(
                "Kin of KR-20, beta-binomial fit, and values on the published grid",
                columns,
                tuple(rows["kin"]),
                folded=True,
            ),
            NumberTable("Generalizability study of responses and criteria", columns, tuple(rows["study"]), folded=True),
            NumberTable(
                "Decisions at a cut by other procedures: about the bank and the checklist, not the judge",
                columns,
                tuple(rows["procedures"]),
                folded=True,
            ),
        ],
    )


def _place(statistic: str, params: dict[str, str]) -> str:
    """Where a borrowed statistic stands: on the page, among the kin of KR-20, in the study, or with the other procedures."""
    if statistic in _PROCEDURES or "model" in params:
        return "procedures"
    if statistic in _STUDY:
        return "study"
    is_parameter = statistic.startswith("beta_binomial") and bool(params)
    return "kin" if statistic in _KIN or "method" in params or is_parameter else "page"


def _names_of_borrowed(audit: Audit, sources: Sequence[str]) -> set[str]:
    """Statistics that have a value on reference labels; without labels, those that describe no judge."""
    if audit.data.has_reference:
        beside = {e.statistic for e in audit.estimates if e.source in sources[1:] and not e.statistic.startswith("n_")}
        return beside - {"prevalence"}
    elsewhere = {"bank", "checklist", "measurement system"}
    return {e.statistic for e in audit.estimates if e.source in sources and e.describes in elsewhere}


def criteria_table(audit: Audit, judge: str, most: int) -> NumberTable | None:
    """Each criterion's rates side by side."""
    found = [e for e in audit.estimates if e.source == judge and "criterion" in e.params and len(e.params) == 1]
    if not found:
        return None
    have = {e.statistic for e in found}
    names = [name for name in _BY_CRITERION if name in have]
    names += dict.fromkeys(e.statistic for e in found if e.statistic not in _BY_CRITERION)
    at = {(e.params["criterion"], e.statistic): e for e in found}
    columns = [NAMES.get(name, name.replace("_", " ")) for name in names]
    criteria = list(dict.fromkeys(e.params["criterion"] for e in found))
    rows = [pivot(audit, printable(one), columns, [at.get((one, name)) for name in names]) for one in criteria[:most]]
    more = len(criteria) - len(rows)
    return NumberTable("By criterion", tuple(columns), tuple(rows), "criterion", folded=True, more=more)


def judges_table(audit: Audit, judges: Sequence[str]) -> NumberTable | None:
    """Several judges side by side; their cards stand with each judge."""
    cut = main_cut(audit)
    ids = [(name, "") for name in _COMPARED] + ([("accuracy", f"{cut:g}")] if cut is not None else [])
    rows, names = [], [name for name, _ in ids if any(audit.of(name, judge) for judge in judges)]
    for judge in judges:
        found = [next((e for e in audit.of(n, judge) if e.params == ({"cut": c} if c else {})), None) for n, c in ids]
        cells = tuple(cell(e) if e else None for e, (name, _) in zip(found, ids, strict=True) if name in names)
        rows.append(Row(printable(judge), cells, "", ()))
    columns = tuple(NAMES[name] + (f" at {cut:g}" if name == "accuracy" else "") for name in names)
    return NumberTable("Judges side by side", columns, tuple(rows), "judge") if len(judges) > 1 and names else None


def other_tables(audit: Audit, judges: Sequence[str]) -> tuple[NumberTable, ...]:
    """Numbers of sources that are no single judge's: ensembles, pairs, contrasts."""
    known = {s for judge in judges for s in (judge, reference_of(judge), f"{judge}-reference")}
    sources = dict.fromkeys(e.source for e in audit.estimates if e.source not in known and not is_of_arms(e))
    titles = {
        "raters": "Judge and reference as two raters" if len(judges) == 1 else "All judges as raters of one ensemble"
    }
    found = []
    for source in sources:
        rows = tuple(row(audit, e) for e in audit.estimates if e.source == source and not is_of_arms(e))
        title = titles.get(source, printable(source))
        note = _POOLED_MISSING if source == "raters" and audit.of("gwet_ac1", source) else ""
        found.append(NumberTable(title, ("value",), rows, note=note, folded=len(judges) == 1))
    return tuple(found)


def count_rows(audit: Audit, judge: str) -> tuple[Row, ...]:
    """What was counted for one judge."""
    found = (e for e in audit.estimates if e.source == judge and e.statistic.startswith("n_"))
    return tuple(row(audit, e) for e in found)
