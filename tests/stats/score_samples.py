"""Score distributions of reference values, read where they lie beside the project."""

import csv
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "oracles" / "data"


def frequencies(name: str, highest: int) -> np.ndarray:
    """(highest + 1,) number of responses with each score, from a file of scores and frequencies."""
    path = FOLDER / name
    if not path.is_file():
        pytest.skip(f"the reference data {name} are not beside the project")
    found = np.zeros(highest + 1)
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            found[int(row["score"])] += int(row["Freq"])
    return found
