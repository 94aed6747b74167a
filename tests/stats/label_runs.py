"""Synthetic runs of a grader that is a line under labels: whole marks of learners in two tails, rounded and clipped."""

import numpy as np
import polars as pl

RUN = {"response": "response_id", "judge": "mark", "reference": "teacher_mark", "scale": "ordinal", "range": (0, 10)}
LINE = {"intercept": 1.3, "slope": 0.8, "label_effect": 0.2, "shift": -0.1, "interaction": -0.03, "noise": 1.3}


def label_run(seed=0, n_learners=33, per=9, repeats=1, effect_sd=0.0, whole=True, bend=0.0, **line):
    """A row a grading, under control, true and swapped labels.

    Args:
        per: answers of each learner.
        repeats: gradings under the control.
        effect_sd: of label effects between learners.
        whole: round marks to whole ones.
        bend: marks per squared point of label.
        line: parameters other than ``LINE``'s.
    """
    p, rng, rows = LINE | line, np.random.default_rng(seed), []
    high = np.arange(n_learners) < n_learners // 2
    ability = np.where(high, rng.uniform(6, 9, n_learners), rng.uniform(1, 4, n_learners)).round(1)

    def mark(at: float) -> float:
        at = at + p["noise"] * rng.standard_normal()
        return float(np.clip(np.floor(at + 0.5) if whole else at, 0, 10))

    for learner in range(n_learners):
        other = float(rng.choice(ability[high != high[learner]]))
        effect = p["label_effect"] + effect_sd * rng.standard_normal()
        for item in range(per):
            t = float(np.clip(np.floor(ability[learner] + 1.5 * rng.standard_normal() + 0.5), 0, 10))
            line_at = p["intercept"] + p["slope"] * t
            for arm, label in [("control", None)] * repeats + [("true", ability[learner]), ("swapped", other)]:
                pushed = 0.0 if label is None else p["shift"] + effect * (label - 5) + p["interaction"] * (t - 5)
                pushed += 0.0 if label is None else bend * (label - 5) ** 2
                rows.append(
                    {
                        "response_id": f"r{learner}.{item}", "question_id": f"q{item}", "learner_id": f"s{learner}",
                        "tail": "high" if high[learner] else "low", "arm": arm,
                        "occasion": str(len(rows) if label is None and repeats > 1 else 1),
                        "label_shown": "" if label is None else f"{label:.1f}", "teacher_mark": f"{t:g}",
                        "mark": f"{mark(line_at + pushed):.6g}",
                    }
                )  # fmt: skip
    frame = pl.DataFrame(rows)
    if repeats > 1:
        turn = pl.int_range(pl.len()).over("response_id", "arm") + 1
        return frame.with_columns(occasion=turn.cast(pl.String))
    return frame.drop("occasion")
