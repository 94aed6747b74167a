"""The judge against itself: marks of the same responses with and without something it was told.

Nothing here needs a reference but the accuracy of an arm and the words toward and away. Complete cases: a response counts
where it has a mark under every arm under which it was graded; repeats are averaged.
"""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.arms_accuracy import accuracy
from evenhand.audits.arms_dose import dose, pooled_dose
from evenhand.audits.arms_examples import examples
from evenhand.audits.arms_labels import PARTNERS, Labels, are_partners, label_arms
from evenhand.audits.arms_learners import learners
from evenhand.audits.arms_noise import noise
from evenhand.audits.arms_toward import toward
from evenhand.audits.arms_view import View, views
from evenhand.audits.evidence import Evidence
from evenhand.audits.statistic import exact
from evenhand.results import Estimate
from evenhand.stats.arrays import Array

ORDER = 57
_SAME = "on the same responses, in marks: identical work, so what differs is what {judge} was told"


def estimates(evidence: Evidence) -> Iterator[Estimate]:
    """Every estimate about what one judge was told, run by run, then between runs."""
    found = list(views(evidence))
    for view in found:
        yield from _of_run(view)
    yield from _between_runs(found)


def _of_run(view: View) -> Iterator[Estimate]:
    yield from _drifts(view)
    labels = label_arms(view)
    for label in labels:
        yield from _label_effect(view, label)
        yield from dose(view, label)
        yield from learners(view, label)
    yield from examples(view)
    yield from accuracy(view)
    yield from toward(view)
    yield from noise(view)


def _drifts(view: View) -> Iterator[Estimate]:
    """Each arm minus the control, and each label minus the neutral sentence: presence against value."""
    roles, names = view.roles, view.arms.names
    present = [at for at in range(len(names)) if view.n_gradings[:, at].any()]
    if roles.control is None:
        if not roles.has_labels():
            yield _no_control(view)
    else:
        for arm in present:
            if arm != roles.control:
                words = f'mean of {{judge}}\'s mark under "{names[arm]}" minus that under "{names[roles.control]}" (nothing told) {_SAME}'
                words += ": the mere presence of a sentence" if arm == roles.neutral else ""
                yield from _difference(view, arm, roles.control, words, "drift of each arm from the control")
    if roles.neutral is not None and roles.neutral in present:
        for arm in roles.labels:
            if arm in present:
                words = (
                    f'mean of {{judge}}\'s mark under "{names[arm]}" minus that under "{names[roles.neutral]}" {_SAME}'
                )
                words += ": the label's value, its presence taken out"
                yield from _difference(view, arm, roles.neutral, words, "drift of each label from the neutral sentence")


def _difference(view: View, arm: int, other: int, words: str, family: str) -> Iterator[Estimate]:
    kept, change = view.kept(arm, other), view.means[:, arm] - view.means[:, other]
    source, own = view.source(arm, other), f"{family}{_whose(view)}"
    yield view.of_mean("drift", source, change, kept, (arm, other), words, family=own)
    for at, tail in view.tails():
        here = kept & (view.arms.tail == at)
        yield view.of_mean(
            "drift",
            source,
            change,
            here,
            (arm, other),
            f'{words}; responses of tail "{tail}"',
            {"tail": tail},
            f"{own}, by tail",
        )


def _whose(view: View) -> str:
    """What tells the families of judges and runs apart."""
    said = [
        *(() if view.evidence.is_sole_judge else (view.evidence.source,)),
        *(f"{value}" for value in view.params.values()),
    ]
    return "".join(f", {one}" for one in said)


def _no_control(view: View) -> Estimate:
    names = ", ".join(f'"{name}"' for name in view.arms.names[:8])
    absent = exact(
        view.evidence, "drift", None, unit="response", describes="grader×context", source=view.source("arms"),
        estimand="mean of {judge}'s mark under each arm minus that under the arm that tells nothing",
        reason=f"no arm is called control, none or baseline (arms are {names}): say which tells nothing with --control ARM",
        params=view.params,
    )  # fmt: skip
    return absent.model_copy(update={"status": "not_assessed"})


def _label_effect(view: View, label: Labels) -> Iterator[Estimate]:
    words = f"mean of {{judge}}'s mark under the higher label minus that under the lower ({label.words}) {_SAME}"
    family = f"label effect by tail{_whose(view)}"
    pooled = view.of_mean("label_effect", label.source, label.effect, label.kept, label.arms, words)
    hanging = pooled.ci_low is not None and not pooled.reason and are_partners(view, label)
    yield pooled.model_copy(update={"reason": PARTNERS}) if hanging else pooled
    low, high = view.arms.low, view.arms.high
    for at, tail in view.tails():
        here = label.kept & (view.arms.tail == at)
        said = f'{words}; responses of tail "{tail}"'
        yield view.of_mean("label_effect", label.source, label.effect, here, label.arms, said, {"tail": tail}, family)
    said = f"the label effect ({label.words}) as a share of the scale, lowest to highest mark"
    if low is None or high is None:
        absent = exact(
            view.evidence, "label_effect_share", None, unit="response", describes="grader×context", source=label.source, estimand=said,
            reason="no lowest and highest mark are declared: say --range LO,HI", params=view.params,
        )  # fmt: skip
        yield absent.model_copy(update={"status": "not_assessed"})
        return
    yield view.of_mean("label_effect_share", label.source, label.effect / (high - low), label.kept, label.arms, said)


def _between_runs(found: list[View]) -> Iterator[Estimate]:
    """The dose over all runs, and the difference of label effects between two settings or models, on responses complete in both."""
    pairs = [(view, label) for view in found for label in label_arms(view)]
    yield from pooled_dose(
        [(view, label) for view, label in pairs if label.arms == (view.roles.own, view.roles.swapped)]
    )
    for first in range(len(found)):
        for second in range(first + 1, len(found)):
            a, b = found[first], found[second]
            differing = [facet for facet in a.params if a.params[facet] != b.params[facet]]
            if len(differing) == 1:
                yield from _contrast(a, b, differing[0])


def _contrast(a: View, b: View, facet: str) -> Iterator[Estimate]:
    of_b = {one.arms: one for one in label_arms(b)}
    for one in label_arms(a):
        other = of_b.get(one.arms)
        if other is None:
            continue
        params = {**a.params, facet: f"{b.params[facet]}-{a.params[facet]}"}
        words = (
            f'label effect ({one.words}) of {{judge}} under {facet} "{b.params[facet]}" minus that under "{a.params[facet]}", on responses '
            "complete in both, in marks"
        )
        change: Array = np.asarray(other.effect - one.effect)
        shared = View(a.evidence, a.arms, a.roles, a.run, {})
        yield shared.of_mean("label_effect", one.source, change, one.kept & other.kept, one.arms, words, params)
