"""A judge's file to draw from, and sheets filled in as raters would."""

import csv
import io
from pathlib import Path

import numpy as np

from evenhand.report.csv_tables import read_table


def judged(n: int = 120, clusters: int = 12, *, seed: int = 0) -> tuple[str, dict[str, str]]:
    """A judge's file without labels, and the truth by response."""
    rng, rows, truth = np.random.default_rng(seed), ["id,question,author,judge,answer"], {}
    for k in range(n):
        real = int(rng.random() < 0.4)
        truth[f"r{k}"] = str(real)
        said = real ^ int(rng.random() < (0.05 if real else 0.25))
        rows.append(f"r{k},q{k % clusters},gpt-{k % 3},{said},answer number {k}")
    return "\n".join(rows) + "\n", truth


def rows_of(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def key_of(folder: Path) -> dict[str, dict[str, str]]:
    records = read_table((folder / "key.csv").read_bytes().decode()).records()
    return {str(row["code"]): {name: str(cell) for name, cell in row.items()} for row in records}


def fill(folder: Path, rater: int, to: Path, label, columns: tuple[str, ...] = ("label",)) -> Path:
    """A rater's sheet with labels: label(response, heading) → text."""
    head, *rows = rows_of(folder / "sheets" / f"rater_{rater}.csv")
    key = key_of(folder)
    for row in rows:
        for name in columns:
            if row[head.index(name)] != "not asked":
                row[head.index(name)] = label(key[row[0]]["response"], name)
    with to.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([head, *rows])
    return to
