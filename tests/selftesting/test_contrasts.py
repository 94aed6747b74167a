"""Shifts under arms and between groups, drawn from the audit's own standard error."""

import numpy as np
import pytest

from evenhand.selftesting.contrasts import of_contrasts
from evenhand.watching.saved import load_saved


@pytest.fixture
def grouped(command, write, tmp_path):
    """An audit of marks with a group column."""
    rng = np.random.default_rng(5)
    lines = ["item,question,gold,judge,sex"]
    for n in range(600):
        gold = int(rng.integers(0, 6))
        lines.append(f"r{n},q{n % 15},{gold},{int(np.clip(gold + rng.integers(-1, 2), 0, 5))},{'fm'[n // 15 % 2]}")
    write("marks.csv", "\n".join(lines) + "\n")
    options = ("--cluster", "question", "--scale", "ordinal", "--group", "sex")
    ending = command("audit", "marks.csv", *options, "--out", "out")
    assert ending.code == 0, ending.said
    return load_saved(tmp_path / "out")


def test_a_gap_is_seen_at_the_power_of_its_standard_error(grouped):
    found = list(of_contrasts(grouped, 0.95))
    assert found
    (gap, *_), sd = found, grouped.audit["sd_total/reference"].estimate
    error = grouped.audit[gap.id].std_error
    for size in (0.0, 6 * error / sd):
        called = np.mean([gap.world(np.random.default_rng([1, at]), size) for at in range(1_000)])
        assert called == pytest.approx(0.05 if size == 0 else 1.0, abs=0.025)
