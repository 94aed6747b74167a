"""The benchmark of many calls runs, on few; how fast is for a quiet machine to say."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="the OpenAI SDK stands beside us in this benchmark")
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "run_calls.py"


def test_a_run_stands_beside_the_bare_library():
    done = subprocess.run([sys.executable, str(SCRIPT), "--quick"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
    assert [row[0] for row in rows[1:]] == ["OpenAI SDK alone", "evenhand run"]
    assert all(float(row[1]) > 0 for row in rows[1:])
