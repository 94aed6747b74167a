"""The sweep's benchmark runs; how fast is for a quiet machine to say."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "sweep.py"


def test_every_stream_has_a_row():
    done = subprocess.run([sys.executable, str(SCRIPT), "--quick"], capture_output=True, text=True, check=True)
    rows = [line.strip("|").split("|") for line in done.stdout.splitlines()]
    assert {len(row) for row in rows} == {4}
    names = [row[0].strip() for row in rows[2:]]
    assert names[1:] == ["25 cells of 60: published stream", "25 cells of 60: own stream", "30 cells of 50: own stream"]
