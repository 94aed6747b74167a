"""Agreement with distances between classes that the user states: weighted kappa and Krippendorff's alpha.

Three classes without an order have no single scalar: how bad it is to abstain where the other side says yes is a
judgement, not a statistic. With a matrix there is one, under the matrix's name; without, the place is kept and says so.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import Statistic, assess, exact
from evenhand.ids import Param
from evenhand.results import Estimate
from evenhand.stats import ensembles
from evenhand.stats.arrays import Array, Measure
from evenhand.stats.scales import LOG_ONE_MINUS
from evenhand.stats.weighted_agreement import chance_agreement, weighted_kappa
from evenhand.tally import rating_sums
from evenhand.tally.classes import Classes
from evenhand.tally.ratings import Ratings

ORDER = 60
NO_SCALAR = (
    "three classes or more without an order have no single scalar: how far they lie apart is for the user to say "
    "(--distances FILE, or a preset); the table of classes stands beside"
)
_ONE_CLASS = "0/0, no variation in classes"


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Weighted kappa of one judge with the reference under the stated distances, or the place it would have."""
    if not evidence.has_reference or evidence.scale.kind == "continuous":
        return
    classes = evidence.classes
    if classes is None:
        if lacks_distances(evidence):
            yield _absent(evidence)
        return
    tables = evidence.cells.classes(classes.codes)
    weights = 1 - classes.distances / classes.distances.max()
    statistic = Statistic(
        "weighted_kappa", partial(weighted_kappa, weights=weights), LOG_ONE_MINUS, "judge",
        f"chance-corrected agreement of {{judge}} with the reference over {_listed(classes)}, weighing confusions by {_whose(classes)}",
        chance=partial(chance_agreement, weights=weights, chance="cohen"),
    )  # fmt: skip
    yield assess(
        evidence, statistic, tables, undefined=_ONE_CLASS, n_excluded=int(evidence.cells.count.sum() - tables.sum()),
        n_clusters=evidence.counts.get("slots"), params={**_mode(classes), "weights": classes.name},
    )  # fmt: skip


def estimates_of_raters(evidence: Evidence, ratings: Ratings) -> Iterator[Estimate]:
    """Krippendorff's alpha among the judges, or of judge and reference, under the stated distances."""
    classes = evidence.classes
    if classes is None:
        return
    if classes.ratings is not None:
        rated, sums = classes.ratings, rating_sums.coincidence_sums(classes.ratings)
        who, sizes = f"{rated.n_raters} raters", rated.sizes
        total = int(rated.count.sum())
    elif ratings.is_judge_and_reference:
        tables = evidence.cells.classes(classes.codes)
        sums, sizes = ensembles.coincidences_of_tables(tables), tables.sum(axis=(1, 2))
        who, total = f"{ratings.names[0]} and {ratings.names[1]}", int(evidence.cells.count.sum())
    else:
        return
    statistic = Statistic(
        "krippendorff_alpha", _alpha(classes.distances), LOG_ONE_MINUS, "measurement system",
        f"Krippendorff's alpha among {who} over {_listed(classes)}, with {_whose(classes)}", "response", counted=False,
    )  # fmt: skip
    yield assess(
        evidence, statistic, sums, undefined=_ONE_CLASS, source="raters", sizes=sizes, n_excluded=total - int(sizes.sum()),
        params={**_mode(classes), "metric": classes.name},
    )  # fmt: skip


def lacks_distances(evidence: Evidence) -> bool:
    """Whether a reference, three classes or more without an order, and no distances are there."""
    if evidence.classes is not None or not evidence.has_reference or evidence.scale.kind not in ("binary", "nominal"):
        return False
    return _n_classes(evidence) > 2


def _n_classes(evidence: Evidence) -> int:
    abstained, cells = evidence.scale.status("abstained"), evidence.cells
    occurs = bool(((cells.judge == abstained) | (cells.reference == abstained)).any())
    return evidence.scale.size + occurs


def _absent(evidence: Evidence) -> Estimate:
    abstains = _n_classes(evidence) > evidence.scale.size
    params: dict[str, Param] = {**({"mode": "category"} if abstains else {}), "weights": "custom"}
    absent = exact(
        evidence, "weighted_kappa", None, unit="verdict", describes="judge", reason=NO_SCALAR, params=params,
        n_excluded=int(evidence.cells.count.sum()), estimand="chance-corrected agreement of {judge} with the reference, confusions weighed by stated distances",
    )  # fmt: skip
    return absent.model_copy(update={"status": "not_assessed"})


def notices(evidence: Evidence) -> Iterator[str]:
    """That there is no one number, where there is none."""
    if lacks_distances(evidence):
        yield NO_SCALAR


def _alpha(distances: Array) -> Measure:
    levels = np.arange(len(distances))
    return lambda sums: ensembles.krippendorff_alpha(sums, distances, levels)


def _mode(classes: Classes) -> dict[str, Param]:
    return {"mode": "category"} if classes.with_abstention else {}


def _listed(classes: Classes) -> str:
    return f"the classes {', '.join(classes.names[:6])}{' and more' if len(classes.names) > 6 else ''}"


def _whose(classes: Classes) -> str:
    """The distances in words, so that braces of the data's labels are no placeholders of the sentence."""
    said = "the user's distances" if classes.name == "custom" else f"the distances of the preset {classes.name}"
    pairs = [
        f"{classes.names[a]}–{classes.names[b]} {classes.distances[a, b]:g}"
        for a in range(len(classes.names))
        for b in range(a + 1, len(classes.names))
    ]
    return f"{said} ({', '.join(pairs[:6])}{' and more' if len(pairs) > 6 else ''})"
