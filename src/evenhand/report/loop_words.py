"""The loop over a course in an audit's own words: what its label effect would become."""

from evenhand.report.lookups import ok
from evenhand.report.sentences import with_interval
from evenhand.results import Audit


def loop_sentences(audit: Audit, judge: str) -> list[str]:
    """The closed forms of each contrast of labels, a sentence each."""
    mine = [one for one in audit.estimates if one.statistic == "loop_eigenvalue" and one.status == "ok"]
    said = []
    for one in mine:
        if judge != "judge" and not one.source.endswith(f":{judge}"):
            continue
        multiple = ok(audit, "loop_runaway_multiple", one.source, **one.params)
        times = (
            f", and it runs away at {with_interval(multiple)} times the label effect" if multiple is not None else ""
        )
        said.append(
            f"in a course with default settings, what is left of a belief's deviation after the next mark is {with_interval(one)} (below 1 it dies out){times}"
        )
    return said
