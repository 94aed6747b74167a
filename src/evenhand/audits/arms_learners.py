"""Label effects learner by learner: how far they spread beyond chance, and whether anyone is moved the other way."""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.arms_labels import Labels
from evenhand.audits.arms_view import View
from evenhand.audits.statistic import exact
from evenhand.results import Estimate
from evenhand.stats.drift import reassigned, sd_of_means, sign_flip_p

MOST_RESPONSES, N_DRAWS, ALPHA = 20_000, 2_000, 0.05
_WORDS = "standard deviation between learners of the mean label effect on {judge}'s marks of their work"


def learners(view: View, label: Labels) -> Iterator[Estimate]:
    """The spread beside what reassigning learners within questions gives, and learners whom sign flips tell apart from 0."""
    learner = view.arms.each_learner
    if learner is None:
        return
    kept = label.kept
    effect, who, question = label.effect[kept], learner[kept], view.arms.question[kept]
    n_learners = len(np.unique(who))
    obstacle = ""
    if n_learners < 2:
        obstacle = f"{n_learners} learner(s) with complete responses"
    elif len(effect) > MOST_RESPONSES:
        obstacle = f"{len(effect):,} responses: learners are reassigned among at most {MOST_RESPONSES:,}"
    if obstacle:
        yield _exact(view, label, None, "", _WORDS, obstacle)
        return
    rng = np.random.default_rng(view.evidence.plan.seed)
    observed = float(sd_of_means(effect, who, int(who.max()) + 1))
    if len(np.unique(question)) == n_learners and len(np.unique(question * (int(who.max()) + 1) + who)) == n_learners:
        yield _exact(
            view, label, observed, "", _WORDS, "no question is known apart from the learner: nothing to hold it against"
        )
    else:
        drawn = reassigned(effect, question, rng, N_DRAWS)
        spread = sd_of_means(drawn, who, int(who.max()) + 1)
        p = (float((spread >= observed - 1e-12).sum()) + 1) / (N_DRAWS + 1)
        expected, seed = float(spread.mean()), view.evidence.plan.seed
        said = f"reassigning learners within questions gives {expected:.3g} on average, and this much in p = {p:.3g} of {N_DRAWS:,} draws (seed {seed})"
        yield _exact(view, label, observed, "", _WORDS, said)
        yield _exact(view, label, expected, "expected", f"{_WORDS}, were learners reassigned within questions", said)
        yield _exact(
            view,
            label,
            p,
            "p",
            f"share of reassignments of learners within questions with at least this {_WORDS}",
            said,
        )
    yield from _moved(view, label, rng)


def _moved(view: View, label: Labels, rng: np.random.Generator) -> Iterator[Estimate]:
    """Learners whose effect is told apart from 0 by flips of their own labels, one test each at 5 %, one-sided."""
    learner = view.arms.each_learner
    if learner is None:
        return
    effect, who = label.effect[label.kept], learner[label.kept]
    tests = np.array([sign_flip_p(effect[who == one], rng) for one in np.unique(who)])
    n, expected = len(tests), ALPHA * len(tests)
    chance = f"of {n} learners, each tested by itself at {100 * ALPHA:g} %: at most {expected:.1f} by chance alone"
    for quantity, column, way in (
        ("below", 0, "the other way: lower under the higher label"),
        ("above", 1, "the common way"),
    ):
        words = f"learners whose work {{judge}} moves {way}, told apart from flips of their labels"
        yield _exact(view, label, float((tests[:, column] <= ALPHA).sum()), quantity, words, chance)


def _exact(view: View, label: Labels, value: float | None, quantity: str, words: str, reason: str) -> Estimate:
    return exact(
        view.evidence, "learner_sd", value, unit="learner", describes="grader×context", estimand=words, reason=reason, source=label.source,
        n_used=int(label.kept.sum()), n_excluded=view.n_left(label.kept), n_clusters=view.arms.learners.n_clusters if view.arms.learners else 0,
        params={**view.params, **({"quantity": quantity} if quantity else {})},
    )  # fmt: skip
