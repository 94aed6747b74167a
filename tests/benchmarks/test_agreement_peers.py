"""The comparison with other agreement packages runs, on few rows; how fast is for a quiet machine to say."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "agreement_peers.py"


def test_every_statistic_has_a_row_and_peers_that_are_there_agree():
    done = subprocess.run([sys.executable, str(SCRIPT), "--quick"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [line.strip("|").split("|") for line in done.stdout.splitlines() if line.startswith("|")]
    assert rows[0][1:7] == [" evenhand ", " scikit-learn ", " krippendorff ", " statsmodels ", " irrCAC ", " SciPy "]
    assert {len(row) for row in rows} == {10}
    own = {row[0].strip(): float(row[1].replace(",", "")) for row in rows[2:]}
    assert len(own) >= 33
    assert all(milliseconds >= 0 for milliseconds in own.values())
    correlations = [row for row in rows if row[0].strip() in ("Pearson r", "Spearman rho", "Kendall tau_b")]
    assert all(row[6].strip() for row in correlations)  # SciPy comes with evenhand


def test_a_package_that_is_not_installed_is_skipped_in_words(tmp_path: Path):
    lacking = tmp_path / "python"
    lacking.write_text('#!/bin/sh\necho "ModuleNotFoundError: No module named x" >&2\nexit 1\n', encoding="utf-8")
    lacking.chmod(0o755)
    command = [sys.executable, str(SCRIPT), "--quick", "--peers", str(lacking), "--irrcac", str(lacking)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("not installed, skipped") == 5
