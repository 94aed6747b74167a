"""Tables of the scorer facet: components, coefficients and repeats, each as it stands and over these very conditions."""

from evenhand.report.lookups import reference_of
from evenhand.report.numbers import NumberTable, Row, pivot, row
from evenhand.report.scorer import is_of_scorer
from evenhand.report.tables import display_name
from evenhand.results import Audit, Estimate

_NOTE = (
    "Conditions are a sample of those that could have been: intervals come from mean squares and their degrees of freedom. "
    "The second column is about these very conditions, its intervals over clusters of responses."
)


def facet_tables(audit: Audit, judge: str) -> tuple[NumberTable, ...]:
    """A table a study of conditions, and one of repeats."""
    mine = [one for one in audit.estimates if one.source == judge and is_of_scorer(audit, one)]
    repeats = [one for one in mine if one.statistic in ("flip_rate", "repeats_needed")]
    studies: dict[str, list[Estimate]] = {}
    for one in mine:
        if one not in repeats:
            studies.setdefault(one.params.get("study", ""), []).append(one)
    for one in audit.estimates:
        if one.source == reference_of(judge) and "study" in one.params and studies:
            name = one.params["study"]
            studies[name if name in studies else next(iter(studies))].append(one)
    tables = [
        NumberTable(
            "The scorer facet: what decides a total" + (f", over {name.replace('*', ' × ')}s" if name else ""),
            ("conditions a sample", "these very conditions"),
            _rows(audit, found),
            note=_NOTE,
            folded=bool(name),
        )
        for name, found in studies.items()
    ]
    noise = tuple(row(audit, one) for one in repeats)
    tables.append(NumberTable("Repeats at one prompt: sampling noise only", ("value",), noise))
    return tuple(table for table in tables if table.rows)


def _rows(audit: Audit, found: list[Estimate]) -> tuple[Row, ...]:
    """Each estimate beside the one over these very conditions."""
    fixed = {_key(one): one for one in found if "fixed" in one.params.values()}
    plain = [one for one in found if "fixed" not in one.params.values()]
    columns = ("conditions a sample", "these very conditions")
    return tuple(pivot(audit, display_name(one), columns, [one, fixed.get(_key(one))]) for one in plain)


def _key(estimate: Estimate) -> tuple[str, tuple[tuple[str, str], ...]]:
    return estimate.statistic, tuple((name, value) for name, value in estimate.params.items() if value != "fixed")
