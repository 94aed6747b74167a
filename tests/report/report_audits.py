"""What the tests of reports audit: rows of case REP-01, frames in long form, and how they are audited."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

import evenhand
from evenhand.results import Audit, Estimate, Table

REP_01 = [
    {
        "item_id": "<img src=x onerror=alert(1)>",
        "human": "pass",
        "judge": "fail",
        "reason": "</script><script>alert(2)</script>",
    },
    {
        "item_id": '=HYPERLINK("http://x.invalid","open")',
        "human": "pass",
        "judge": "pass",
        "reason": "a|b\nsecond line",
    },
    {
        "item_id": 'q3 & "quoted"',
        "human": "fail",
        "judge": "fail",
        "reason": "[link](javascript:alert(3)) `code` \x1b[31mred\x1b[0m",
    },
    {"item_id": "-1+1", "human": "fail", "judge": "fail", "reason": "\U0001f600 emoji and \u202e right-to-left mark"},
]
HARMLESS = [
    {"item_id": f"q{at}", "human": row["human"], "judge": row["judge"], "reason": "words"}
    for at, row in enumerate(REP_01)
]


def with_texts(audit: Audit, rows: list[dict[str, str]]) -> Audit:
    """The audit with every row of the case in its table of texts."""
    texts = tuple(
        (row["item_id"], row["reason"], row["item_id"], row["reason"], row["human"], row["judge"]) for row in rows
    )
    columns = ("line", "criterion_text", "response_id", "response_text", "reference", "judge")
    table = Table(columns=columns, rows=texts)
    return audit.model_copy(update={"tables": {**audit.tables, "texts/judge": table}})


def of_rows(rows: list[dict[str, str]], folder: Path) -> Audit:
    """An audit of rows of case REP-01, each item its own criterion text."""
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = evenhand.audit(str(path), response="item_id", cluster="item_id", reference="human", judge="judge")
    return with_texts(found.audit, rows)


def checklist_frame(n: int, n_criteria: int, n_judges: int = 1, error: float = 0.1) -> pd.DataFrame:
    """Verdicts in long form: n responses in clusters of ten, judges that err at random."""
    rng = np.random.default_rng(5)
    reference = (rng.normal(size=(n, 1)) + rng.normal(size=(n, n_criteria)) > 0).astype(int)
    rows = []
    for judge in range(n_judges):
        wrong = rng.random((n, n_criteria)) < error
        verdict = np.where(wrong, 1 - reference, reference)
        rows += [
            {
                "response": f"r{i}",
                "question": i // 10,
                "criterion": f"c{k + 1}",
                "rater": f"model-{judge}",
                "verdict": int(verdict[i, k]),
                "reference": int(reference[i, k]),
            }
            for i in range(n)
            for k in range(n_criteria)
        ]
    return pd.DataFrame(rows)


def audit_of(frame: pd.DataFrame, **options: object) -> Audit:
    """An audit of a frame in long form."""
    roles = {"response": "response", "cluster": "question", "criterion": "criterion", "rater": "rater"}
    return evenhand.audit(frame, **{**roles, "verdict": "verdict", "reference": "reference", **options}).audit  # type: ignore[arg-type]


def marks_frame(n: int = 60, *, levels: int | None = None) -> pd.DataFrame:
    """A reference's and a judge's marks in clusters of six: continuous, or whole ones from 1 to ``levels``."""
    rng = np.random.default_rng(3)
    if levels is None:
        reference = rng.uniform(0, 20, n).round(1)
        judge = np.clip(reference + rng.normal(1, 2, n), 0, 20).round(1)
    else:
        reference = rng.integers(1, levels + 1, n)
        judge = np.clip(reference + rng.integers(-1, 2, n), 1, levels)
    return pd.DataFrame({"id": range(n), "q": np.arange(n) // 6, "human": reference, "judge": judge})


def pairs_frame(n: int = 60) -> pd.DataFrame:
    """A reference's and a judge's verdicts on pairs, ties among them."""
    rng = np.random.default_rng(3)
    labels = np.array(["A", "B", "tie"])
    reference = rng.choice(labels, n)
    judge = np.where(rng.random(n) < 0.7, reference, rng.choice(labels, n))
    return pd.DataFrame({"id": range(n), "q": np.arange(n) // 6, "human": reference, "judge": judge})


def audit_of_one(frame: pd.DataFrame, **options: object) -> Audit:
    """An audit of one judge, a column a side."""
    roles = {"response": "id", "cluster": "q", "judge": "judge", "reference": "human"}
    return evenhand.audit(frame, **{**roles, **options}).audit  # type: ignore[arg-type]


def of_estimates(audit: Audit, estimates: Iterable[Estimate]) -> Audit:
    """The audit with other estimates."""
    copy = audit.model_copy(update={"estimates": tuple(estimates)})
    copy.__dict__.pop("_by_id", None)
    return copy


def changed(audit: Audit, identity: str, **fields: object) -> Audit:
    """The audit with other fields in one estimate."""
    return of_estimates(audit, (e.model_copy(update=fields) if e.id == identity else e for e in audit.estimates))


def declared(audit: Audit, **fields: object) -> Audit:
    """The audit with other declarations."""
    return audit.model_copy(update={"declarations": audit.declarations.model_copy(update=fields)})
