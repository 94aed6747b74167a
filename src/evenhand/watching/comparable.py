"""Whether two audits may be compared at all, and what a reader has to know who compares them."""

from collections.abc import Callable, Iterator

from evenhand.errors import RequestError, printable, quoted
from evenhand.results import Audit
from evenhand.watching.saved import SavedTallies

_HANDLING = (
    "blank", "abstain", "tie", "na", "parse", "refusal", "positive", "clean", "decimal", "fractions", "items", "quorum",
    "criterion_weights", "confidence_of",
)  # fmt: skip
"""What a spec says of verdicts: other words here make another number of the same replies."""


def refuse_incomparable(new: SavedTallies, old: SavedTallies) -> None:
    """Refuse two audits whose numbers are not of one kind.

    Raises:
        RequestError: with what differs, and both values.
    """
    for one in (new, old):
        if one.is_weighted:
            raise RequestError(
                f"{one.place} was made with design weights (--weight), and saved tallies count responses alike: its numbers cannot be "
                "made again by cluster, so no change can be held against its error; audit both without --weight to compare them"
            )
    for what, of, way_out in _CHECKS:
        values = (of(new), of(old))
        if values[0] != values[1]:
            raise RequestError(
                f"{new.place} and {old.place} differ in {what}: {values[0]} against {values[1]}; {way_out}"
            )
    _same_criteria(new, old)
    _same_handling(new, old)


_AGAIN = "audit both again in the same way"
_CHECKS: tuple[tuple[str, Callable[[SavedTallies], str], str], ...] = (
    ("the scale", lambda one: one.audit.declarations.scale, "a change is of one scale"),
    (
        "the labels of the scale",
        lambda one: quoted(one.audit.declarations.levels) if one.audit.declarations.scale != "continuous" else "",
        f"{_AGAIN}: --levels",
    ),
    ("the positive label", lambda one: printable(one.audit.declarations.positive or "none"), f"{_AGAIN}: --positive"),
    (
        "whether there is a reference",
        lambda one: "reference labels" if one.audit.data.has_reference else "none",
        "give both audits reference labels, or neither",
    ),
    ("whose the criteria are", lambda one: one.audit.declarations.criteria, f"{_AGAIN}: --criteria"),
    ("the interval method", lambda one: one.audit.declarations.interval_method, f"{_AGAIN}: --interval"),
    ("the confidence level", lambda one: f"{one.audit.declarations.confidence_level:g}", f"{_AGAIN}: --confidence-level"),
)  # fmt: skip


def _same_criteria(new: SavedTallies, old: SavedTallies) -> None:
    if new.audit.declarations.scale == "continuous":
        counts = (new.audit.data.n_criteria, old.audit.data.n_criteria)
        if counts[0] != counts[1]:
            raise RequestError(
                f"{new.place} and {old.place} differ in their criteria: {counts[0]} against {counts[1]}; "
                "audit both on the same ones"
            )
        return
    for source in (one for one in new.sources if one in old.sources):
        sets = [set(one.cells(source).criteria) for one in (new, old)]
        if sets[0] != sets[1]:
            alone = [quoted(sorted(a - b), 4) or "none" for a, b in (sets, sets[::-1])]
            raise RequestError(
                f"{new.place} and {old.place} differ in their criteria: only the new one has {alone[0]}, only the old one "
                f"{alone[1]}; audit both on the same ones"
            )


def _same_handling(new: SavedTallies, old: SavedTallies) -> None:
    if new.spec is None or old.spec is None:
        return
    for name in _HANDLING:
        values = (getattr(new.spec, name), getattr(old.spec, name))
        if values[0] != values[1]:
            shown = [printable(str(value if value not in (None, (), {}) else "not given")) for value in values]
            option = name.replace("_", "-")
            raise RequestError(
                f"{new.place} and {old.place} were read differently, --{option} in spec.toml: {shown[0]} against {shown[1]}; "
                f"{_AGAIN}"
            )


def notes(new: SavedTallies, old: SavedTallies) -> Iterator[str]:
    """What differs without making the numbers another kind: often the very thing one wants to know about."""
    ours, theirs = new.audit, old.audit
    if (a := quoted(ours.data.judges)) != (b := quoted(theirs.data.judges)):
        yield f"the judge is named {a} in the new audit and {b} in the old one"
    files = [{one.sha256 for one in audit.data.sources} for audit in (ours, theirs)]
    if files[0] == files[1]:
        yield "both audits read the very same files: no change can come from the judge"
    said = [", ".join(f"{n} of {facet}" for facet, n in a.declarations.conditions.items()) or "none" for a in (ours, theirs)]  # fmt: skip
    if said[0] != said[1]:
        yield f"conditions differ (model, wording, occasion, ...): {said[0]} in the new audit, {said[1]} in the old one"
    yield from _other_values(ours, theirs)
    units = [printable(audit.declarations.cluster_unit) for audit in (ours, theirs)]
    if units[0] != units[1]:
        yield f"clusters are of {units[0]} in the new audit and of {units[1]} in the old one"
    if ours.evenhand_version != theirs.evenhand_version:
        yield f"the audits were made by evenhand {ours.evenhand_version} and {theirs.evenhand_version}"
    if any(audit.declarations.second_unit for audit in (ours, theirs)):
        yield "an audit has a second --cluster; the change is held against the spread of the first one alone"
    if any(audit.declarations.n_units < audit.data.n_clusters for audit in (ours, theirs)):
        yield "an audit resamples random groups of clusters, which no other audit has: the two are taken as independent"


def _other_values(ours: Audit, theirs: Audit) -> Iterator[str]:
    """Facets whose recorded values are not the same: another model behind one name is what a watch is for."""
    values = [_values(audit) for audit in (ours, theirs)]
    for facet in sorted(set(values[0]) & set(values[1])):
        here, there = (one[facet] for one in values)
        if set(here) != set(there):
            yield f"{facet}: {quoted(here, 5)} in the new audit, {quoted(there, 5)} in the old one"


def _values(audit: Audit) -> dict[str, list[str]]:
    table, found = audit.tables.get("conditions"), dict[str, list[str]]()
    for facet, value, _ in table.rows if table else ():
        found.setdefault(str(facet), []).append(str(value))
    return found
