"""Peak memory of auditing a large JSON lines file: python benchmarks/stream_jsonl.py [--megabytes 300] [--most 500]

Writes verdicts with a kilobyte of explanation beside each, audits them in a process of its own, and compares that
process's peak resident memory with the bound. Exits 1 if it is broken. The file is gone afterwards.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EVENHAND = [sys.executable, "-c", "from evenhand.cli.main import main; main()"]


def write(path: Path, megabytes: float) -> int:
    """Fill the file; returns the number of its rows."""
    draw = random.Random(0)  # noqa: S311  texts to fill a file
    words = [f"word{number}" for number in range(5_000)]
    rows = 0
    with path.open("w", encoding="utf-8") as stream:
        while stream.tell() < megabytes * 2**20:
            for _ in range(200):
                reference = draw.random() < 0.6
                row = {
                    "item_id": f"r{rows:09}",
                    "question": f"q{rows // 400}",
                    "human": "pass" if reference else "fail",
                    "judge": "pass" if reference == (draw.random() < 0.9) else "fail",
                    "explanation": " ".join(draw.choices(words, k=120)),
                    "usage": {"input": draw.randrange(2_000), "output": draw.randrange(300)},
                }
                stream.write(json.dumps(row) + "\n")
                rows += 1
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=300)
    parser.add_argument("--most", type=float, default=500, help="megabytes of memory")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "verdicts.jsonl"
        rows = write(path, given.megabytes)
        started = time.perf_counter()
        process = subprocess.Popen(
            [*EVENHAND, "audit", str(path), "--out", str(Path(folder) / "out")], stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
    peak = usage.ru_maxrss / 1024
    if status:
        print("the audit failed")
        return 1
    print(
        f"{rows:,} rows, {given.megabytes:,.0f} MB of JSON lines: {seconds:.1f} s, peak {peak:.0f} MB (at most {given.most:g})"
    )
    return int(peak > given.most)


if __name__ == "__main__":
    sys.exit(main())
