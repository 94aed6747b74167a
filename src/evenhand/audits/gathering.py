"""The tallies of what further columns and files hold: confidences, strata, conditions, distances, weights, a quorum."""

from dataclasses import replace

from evenhand.audits.evidence import Evidence
from evenhand.tally.classes import find_classes
from evenhand.tally.condition_states import tally_condition_states
from evenhand.tally.confidences import tally_confidences
from evenhand.tally.groups import tally_groups
from evenhand.tally.mark_rows import tally_mark_rows
from evenhand.tally.strata import tally_strata
from evenhand.tally.system_sums import tally_system_sums
from evenhand.tally.weighted_scores import tally_weighted_scores
from evenhand.tally.wordings import tally_wordings
from evenhand.verdicts.table import VerdictTable


def with_further(evidence: Evidence, table: VerdictTable, rater: int) -> Evidence:
    """One judge's evidence with everything that is there beyond labels.

    Raises:
        EvenhandError: a column or file that these data cannot carry.
    """
    spec, n_criteria = table.reading.spec, len(table.reading.criteria)
    weighted = bool(spec.criterion_weights)
    return replace(
        evidence,
        confidences=tally_confidences(table, rater),
        strata=tally_strata(table, rater),
        groups=tally_groups(table, rater),
        system_sums=tally_system_sums(table, rater),
        wordings=tally_wordings(table, rater),
        mark_rows=tally_mark_rows(table, rater),
        conditions=tally_condition_states(table, rater),
        classes=find_classes(table, with_ratings=rater == 0),
        scores=tally_weighted_scores(table, rater, spec.cut),
        quorum=spec.quorum or 1,
        cuts=tuple(cut for cut in evidence.cuts if 0 < cut <= n_criteria) if weighted else evidence.cuts,
    )
