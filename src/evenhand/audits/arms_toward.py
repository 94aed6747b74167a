"""What the words toward and away rest on: drift, the control's bias, and how much nearer the reference an arm lands.

Two controls are used where a control was repeated: the bias is one's and the drift is from the others, so that the noise of
one does not make the move look directed. Intervals are of the default method whatever else was asked for: the percentile rule
calls 7 to 9 % of tails falsely. The words themselves are given once families are known (``arms_words``).
"""

from collections.abc import Iterator

import numpy as np

from evenhand.audits.arms_view import Kept, View
from evenhand.results import Estimate
from evenhand.stats.arrays import Array
from evenhand.stats.drift import distance_gained
from evenhand.stats.ensembles import sums_by_group


def toward(view: View) -> Iterator[Estimate]:
    """By arm and tail: distance gained, and the drift and biases that its word comes from."""
    control, known = view.roles.control, np.isfinite(view.arms.reference)
    if control is None or not known.any():
        return
    first, others, twice = _controls(view, control)
    decided = view.decided()
    for arm in range(len(view.arms.names)):
        kept = view.kept(arm, control) & known & twice
        if arm != control and kept.any():
            yield from _of_arm(decided, arm, kept, (first, others))


def _controls(view: View, control: int) -> tuple[Array, Array, Kept]:
    """(n,) marks of the control that its bias is taken from and that drift is taken from, and responses with both.

    Two where every wording and order of a response was repeated: other wordings would bring their own effect into the drift.
    """
    response, arm, occasion, mark = view.gradings
    mine = arm == control
    rows, asked, marks = response[mine], view.arms.asked[occasion[mine]], mark[mine]
    order = np.lexsort((occasion[mine], asked, rows))
    rows, asked, marks = rows[order], asked[order], marks[order]
    starts = np.flatnonzero((np.diff(rows, prepend=-1) != 0) | (np.diff(asked, prepend=-1) != 0))
    times = np.diff(np.append(starts, len(rows)))
    n = view.arms.n_responses
    prompts, repeated = (np.bincount(rows[at], minlength=n) for at in (starts, starts[times > 1]))
    twice: Kept = (prompts > 0) & (prompts == repeated)
    if not twice.any():
        return view.means[:, control], view.means[:, control], np.ones(n, dtype=np.bool_)
    others = (np.add.reduceat(marks, starts) - marks[starts]) / np.maximum(times - 1, 1)
    first, rest = (
        np.where(twice, np.bincount(rows[starts], weights=values, minlength=n) / np.maximum(prompts, 1), np.nan)
        for values in (marks[starts], others)
    )
    return first, rest, twice


def _of_arm(view: View, arm: int, kept: Kept, controls: tuple[Array, Array]) -> Iterator[Estimate]:
    control = view.roles.control or 0
    first, others = controls
    bias, bias_of_arm = first - view.arms.reference, view.means[:, arm] - view.arms.reference
    source, arms = view.source(arm, control), (arm, control)
    name = f'"{view.arms.names[arm]}"'
    two = " (one control; the drift is from the others)" if others is not first else ""
    tails = list(view.tails())
    for at, tail in tails or [(-1, "")]:
        here = kept & (view.arms.tail == at) if tail else kept
        own = {"tail": tail} if tail else {}
        where = f'; responses of tail "{tail}"' if tail else ""
        yield from (
            view.of_mean("toward_away", source, values, here, arms, f"{words}{where}", {**own, "quantity": quantity}, family)
            for quantity, values, words, family in (
                ("drift", view.means[:, arm] - others, f"mean of {{judge}}'s mark under {name} minus that under the control, in marks",
                    f"moves of {name} over tails, models and settings"),
                ("bias", bias, f"mean of {{judge}}'s mark under the control minus the reference's{two}, in marks",
                    f"biases that {name} starts from, over tails, models and settings"),
                ("bias_arm", bias_of_arm, f"mean of {{judge}}'s mark under {name} minus the reference's, in marks", ""),
            )
        )  # fmt: skip
        words = f"how much nearer the reference the mean of {{judge}}'s marks lies under {name} than under the control, in marks: |bias| less |bias|"
        yield _gained(view, source, (bias, bias_of_arm), here, arms, words + where, own)
    if tails:
        words = f"how much nearer the reference the means of {{judge}}'s marks lie under {name} than under the control, in marks, averaged over tails"
        yield _over_tails(view, source, (bias, bias_of_arm), kept, arms, words)


def _gained(
    view: View,
    source: str,
    biases: tuple[Array, Array],
    kept: Kept,
    arms: tuple[int, int],
    words: str,
    params: dict[str, str],
) -> Estimate:
    units = view.units(*arms)
    columns = [np.ones(int(kept.sum())), *(bias[kept] for bias in biases)]
    tallies = sums_by_group(columns, units.unit[kept], len(units.evidence.units.names))
    return view.assessed("toward_away", source, tallies, distance_gained, kept, units, words, params=params)


def _over_tails(
    view: View, source: str, biases: tuple[Array, Array], kept: Kept, arms: tuple[int, int], words: str
) -> Estimate:
    units, n_tails = view.units(*arms), len(view.arms.tails)
    n_units = len(units.evidence.units.names)
    kept = kept & (view.arms.tail >= 0)
    code = units.unit[kept] * n_tails + view.arms.tail[kept]
    columns = [np.ones(int(kept.sum())), *(bias[kept] for bias in biases)]
    tallies = sums_by_group(columns, code, n_units * n_tails).reshape(n_units, n_tails, 3)
    return view.assessed(
        "toward_away", source, tallies, _mean_gained, kept, units, words, undefined="a tail without a response"
    )


def _mean_gained(sums: Array) -> Array:
    """Distance gained, tails weighing by their responses; (..., H, 3) → (...)."""
    n = sums[..., 0]
    gained: Array = (distance_gained(sums) * n).sum(axis=-1) / n.sum(axis=-1)
    return gained
