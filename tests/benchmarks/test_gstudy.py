"""The G-study benchmark runs, on a small table; how fast is for the benchmark to say."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gstudy.py"


def test_it_prints_components_and_skips_a_peer_that_is_not_installed():
    done = subprocess.run([sys.executable, str(SCRIPT), "--persons", "200"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "2,000 values" in done.stdout
    assert "GeneralizIT" in done.stdout
