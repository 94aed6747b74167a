"""Groups in the report: their gaps, what noise in the reference does to them, and who would pass."""

from collections.abc import Iterator, Mapping

from evenhand.errors import printable
from evenhand.ids import EstimateId
from evenhand.report.contrasts import text_cell
from evenhand.report.figures import Figure
from evenhand.report.groups_drawing import LAST, At, reliability_curve
from evenhand.report.lookups import reference_of
from evenhand.report.numbers import NumberTable, Row, card, cell
from evenhand.report.tables import NAMES, interval_text, p_text, plain_number, value_text
from evenhand.results import Audit, Estimate

_ASSUMED = (
    "Raters' errors are taken to be independent of the group: noise in a reference score makes groups of unlike means differ at "
    "equal score even where a judge treats them alike."
)
_SHARES = "Shares of the same responses, as decisions would fall at the cut; a ratio below 1 means that fewer of the first group pass."
_MOST_CURVES = 6
_OF_SHARES = ("group_share", "group_part", "group_share_gap", "group_share_ratio")
_RATES = ("false_accept_rate", "false_reject_rate")


def group_tables(audit: Audit, judge: str) -> tuple[NumberTable, ...]:
    """Gaps, gaps at equal true score, and shares that pass."""
    gaps = [one for one in audit.estimates if one.statistic == "group_gap" and _is_of(one, judge)]
    true = [one for one in audit.estimates if one.statistic == "group_gap_true" and _is_of(one, judge)]
    rates = [one for one in audit.estimates if one.statistic in _RATES and one.source == judge and "axis" in one.params]
    found = (
        NumberTable("Errors by group", ("rate",), tuple(_rate_row(audit, one) for one in rates), "group"),
        NumberTable("Gaps between groups", ("gap", "Holm p"), tuple(_gap_row(audit, one) for one in gaps), "gap"),
        NumberTable("Gaps at equal true score, by the reference's reliability within groups", ("value",),
            tuple(_row(audit, one) for one in true), "reliability", _ASSUMED, folded=True),
        NumberTable("Who would pass, by group", ("reference", "judge", "judge minus reference"), tuple(_share_rows(audit, judge)), "share", _SHARES),
    )  # fmt: skip
    return tuple(table for table in found if table.rows)


def _is_of(one: Estimate, judge: str) -> bool:
    """Whether a gap is of this judge's verdicts, or of what moves its marks."""
    if one.describes != "grader×context":
        return one.source == judge
    return one.source.endswith(f":{judge}") if ":" in one.source else judge == "judge"


def what(one: Estimate) -> str:
    """Which groups are compared, in what: from the parameters of the id."""
    params = one.params
    metric = params.get("metric", "")
    said = [NAMES.get(metric, metric)] if metric else []
    said += [one.source] if one.describes == "grader×context" else []
    names = f"{params.get('axis', '')} {params.get('level', '')}".strip()
    quantity = params.get("quantity")
    if quantity in ("widest", "bar"):
        names = (
            f"{params.get('axis', '')}: {'the widest, for its error' if quantity == 'widest' else 'bar for the widest'}"
        )
    return printable(", ".join([names, *said]))


def _gap_row(audit: Audit, one: Estimate) -> Row:
    p = one.p_values.get("holm")
    return Row(what(one), (cell(one), text_cell(p_text(p)) if p is not None else None), "", (card(audit, one),))


_QUANTITIES = {"break_even": "break-even reliability", "reliability": "reliability by the raters' agreement"}


def _row(audit: Audit, one: Estimate) -> Row:
    at = _QUANTITIES.get(one.params.get("quantity", ""), f"reliability {one.params.get('reliability', '')}")
    return Row(f"{what(one)}: {printable(at)}", (cell(one),), "", (card(audit, one),))


def _rate_row(audit: Audit, one: Estimate) -> Row:
    return Row(f"{NAMES.get(one.statistic, one.statistic)}, {what(one)}", (cell(one),), "", (card(audit, one),))


def _share_rows(audit: Audit, judge: str) -> Iterator[Row]:
    """A row a share, its value by the reference, by the judge, and the difference."""
    sources = (reference_of(judge), judge, f"{judge}-reference")
    found = [one for one in audit.estimates if one.statistic in _OF_SHARES and one.source in sources]
    at = {(one.source, one.statistic, _key(one.params)): one for one in found}
    for statistic, key in dict.fromkeys((one.statistic, _key(one.params)) for one in found):
        numbers = [at.get((source, statistic, key)) for source in sources]
        first = next(one for one in numbers if one is not None)
        cut = f", cut {printable(first.params['cut'])}" if "cut" in first.params else ""
        yield Row(
            f"{NAMES.get(statistic, statistic)}: {what(first)}{cut}", tuple(cell(one) if one is not None else None for one in numbers), "",
            tuple(card(audit, one) for one in numbers if one is not None),
        )  # fmt: skip


def _key(params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(params.items()))


def group_figures(audit: Audit, judge: str, key: str) -> Iterator[Figure]:
    """The curve of every gap in marks, the widest first."""
    gaps = [
        one
        for one in audit.estimates
        if one.statistic == "group_gap"
        and _is_of(one, judge)
        and one.estimate is not None
        and "quantity" not in one.params
    ]
    gaps.sort(key=lambda one: -abs(one.estimate or 0.0))
    drawn = 0
    for one in gaps:
        points = _points(audit, one)
        if len(points) < 2 or drawn == _MOST_CURVES:
            continue
        drawn += 1
        even = _quantity(audit, one, "break_even")
        raters = _quantity(audit, one, "reliability")
        ends = (raters.ci_low, raters.ci_high) if raters is not None else (None, None)
        band = (ends[0], ends[1]) if ends[0] is not None and ends[1] is not None else None
        drawing = reliability_curve(
            f"{key}-group-{drawn}", f"{what(one)}: the gap and the noise of the reference", points,
            even.estimate if even is not None else None, band,
        )  # fmt: skip
        rows = [
            (
                f"{p.reliability:g}",
                plain_number(p.gap),
                *(plain_number(e) if e is not None else "" for e in (p.low, p.high)),
            )
            for p in points
        ]
        rows += (
            [("break-even", plain_number(even.estimate), "", "")]
            if even is not None and even.estimate is not None
            else []
        )
        if raters is not None and raters.estimate is not None:
            said = (plain_number(end) if end is not None else "" for end in ends)
            rows.append(("raters' agreement implies", plain_number(raters.estimate), *said))
        yield Figure(drawing, ("reliability", "gap", "from", "to"), tuple(rows))


def _points(audit: Audit, gap: Estimate) -> list[At]:
    """The curve from the lowest reliability to 1, where it is the gap as seen."""
    found = [
        At(float(one.params["reliability"]), one.estimate, one.ci_low, one.ci_high)
        for one in audit.of("group_gap_true", gap.source, **gap.params)
        if "reliability" in one.params
        and one.estimate is not None
        and one.params.keys() - {"reliability"} == gap.params.keys()
    ]
    found.sort(key=lambda one: one.reliability)
    return [*found, At(LAST, gap.estimate or 0.0, gap.ci_low, gap.ci_high)] if found else []


def _quantity(audit: Audit, gap: Estimate, quantity: str) -> Estimate | None:
    found = audit.get(str(EstimateId.of("group_gap_true", gap.source, **{**gap.params, "quantity": quantity})))
    return found if found is not None and found.status == "ok" else None


def group_sentences(audit: Audit, judge: str) -> Iterator[str]:
    """The widest gap for its standard error, with its interval, in one line; and why there is none along an axis."""
    for one in audit.of("group_gap", judge):
        if one.status == "not_assessed" and one.params.keys() == {"axis"}:
            yield f"gaps in errors between groups ({printable(one.params['axis'])}): none, {printable(one.reason)}"
    widest = [
        one
        for one in audit.of("group_gap", judge)
        if one.status == "ok"
        and one.estimate is not None
        and one.std_error
        and one.params.get("quantity", "widest") == "widest"
    ]
    if not widest:
        return
    one = max(widest, key=lambda e: (abs(e.estimate or 0.0) / (e.std_error or 1.0), "quantity" in e.params))
    level = f" ({printable(one.reason)})" if "quantity" in one.params else ""
    p = f", Holm p {p_text(one.p_values['holm'])}" if "holm" in one.p_values else ""
    number = f"{value_text(one)} {interval_text(one)}".rstrip()
    yield f"widest gap between groups: {what(one)} {number}{p}{level}"
