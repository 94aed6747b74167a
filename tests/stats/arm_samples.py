"""Synthetic runs of a judge under arms: what it is told moves its marks by planted amounts."""

import numpy as np
import polars as pl

SCALE = {"response": "response_id", "judge": "mark", "scale": "continuous", "range": (0, 10), "resamples": 200}
LABELS = {**SCALE, "cluster": "question_id", "reference": "teacher_mark"}


def labelled(
    seed=0, n_learners=24, n_items=5, effect=0.5, bias=(0.0, 0.0), drift=None, noise=0.6, repeats=1, dose=0.0, own_noise=0.4, clip=True
):  # fmt: skip
    """Marks under control, true and swapped labels, learners in two tails.

    Args:
        effect: mark under the higher label minus mark under the lower.
        bias: of the control in the high and the low tail.
        drift: of the true label in the high and the low tail; half the effect up and down by default.
        noise: of a grading.
        repeats: gradings under the control.
        dose: marks per point by which the gap of the two labels exceeds 4.
        own_noise: spread of a response's error that all its gradings share.
    """
    rng, rows = np.random.default_rng(seed), []
    drift = (effect / 2, -effect / 2) if drift is None else drift
    for learner in range(n_learners):
        high = learner < n_learners // 2
        tail, at = ("high", 0) if high else ("low", 1)
        own = 7.5 + rng.uniform(-0.5, 1) if high else 2.5 + rng.uniform(-1, 0.5)
        other = 2.5 + rng.uniform(-1, 0.5) if high else 7.5 + rng.uniform(-0.5, 1)
        whole = effect + dose * (abs(own - other) - 4)
        learner_part = rng.normal(0, own_noise)
        for item in range(n_items):
            t = float(np.clip(np.round((6.5 if high else 3.5) + rng.normal(0, 1.2)), 2, 8))
            base = t + bias[at] + learner_part + rng.normal(0, own_noise)
            swapped = drift[at] - whole if high else drift[at] + whole
            moved = [("control", 0.0, "", run + 1) for run in range(repeats)]
            moved += [("true", drift[at], f"{own:.1f}", 1), ("swapped", swapped, f"{other:.1f}", 1)]
            for arm, by, label, occasion in moved:
                mark = base + by + rng.normal(0, noise)
                rows.append(
                    {
                        "response_id": f"r{learner}.{item}", "question_id": f"q{item}", "learner_id": f"s{learner}", "tail": tail,
                        "arm": arm, "occasion": str(occasion), "label_shown": label, "teacher_mark": f"{t:g}",
                        "mark": f"{np.clip(mark, 0, 10) if clip else mark:.3f}",
                    }
                )  # fmt: skip
    return pl.DataFrame(rows)


def told(marks, arms, **columns):
    """A table of the (n, A) marks of responses under named arms, with further columns of n values each."""
    rows = [
        {"response_id": f"r{at}", "arm": arm, "mark": "" if mark is None else f"{mark:g}", **{name: values[at] for name, values in columns.items()}}
        for at, row in enumerate(marks)
        for arm, mark in zip(arms, row, strict=True)
    ]  # fmt: skip
    return pl.DataFrame(rows)
