"""The loop over a course in an audit's own words: what its label effect would become."""

from evenhand.errors import printable
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
            f", runaway multiple {with_interval(multiple)}: beliefs run away at that many times the label effect"
            if multiple is not None
            else ""
        )
        said.append(
            f"eigenvalue {with_interval(one)} in a course with default settings: what is left of a belief's deviation after the next mark "
            f"(below 1 it dies out){times}{f' ({printable(one.reason)})' if one.reason else ''}; spread and recovery: evenhand simulate loop --from DIR"
        )
    return said
