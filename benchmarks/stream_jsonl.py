"""Peak memory of large files: python benchmarks/stream_jsonl.py [--kind rows] [--command audit] [--megabytes 300] [--most 500]

Writes verdicts with one or two kilobytes of explanation beside each, as rows or as a log of a tool, audits or converts them in
a process of its own, and compares that process's peak resident memory with the bound. Exits 1 if it is broken. The files
are gone afterwards.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

EVENHAND = [sys.executable, "-c", "from evenhand.cli.main import main; main()"]


WORDS = [f"word{number}" for number in range(5_000)]


def text(draw: random.Random, length: int) -> str:
    return " ".join(draw.choices(WORDS, k=length))


def row(number: int, draw: random.Random) -> dict[str, Any]:
    reference = draw.random() < 0.6
    return {
        "item_id": f"r{number:09}",
        "question": f"q{number // 400}",
        "human": "pass" if reference else "fail",
        "judge": "pass" if reference == (draw.random() < 0.9) else "fail",
        "explanation": text(draw, 120),
        "usage": {"input": draw.randrange(2_000), "output": draw.randrange(300)},
    }


def mt_bench(number: int, draw: random.Random) -> dict[str, Any]:
    mark = draw.randint(1, 10)
    told = {"question_id": number // 50, "model": f"m{number % 50}", "judge": ["gpt-4", "single-v1"], "turn": 1}
    return told | {
        "user_prompt": text(draw, 150),
        "judgment": f"{text(draw, 250)} [[{mark}]]",
        "score": mark,
        "tstamp": 1.5,
    }


def lm_eval(number: int, draw: random.Random) -> dict[str, Any]:
    told = {"doc_id": number, "doc": {"q": text(draw, 200)}, "target": "a", "arguments": {}, "filter": "none"}
    hashes = {f"{what}_hash": f"{draw.getrandbits(256):064x}" for what in ("doc", "prompt", "target")}
    marks = {"metrics": ["acc"], "acc": float(draw.random() < 0.6)}
    return {**told, "resps": [[text(draw, 100)]], "filtered_resps": ["a"], **hashes, **marks}


def promptfoo(number: int, draw: random.Random) -> dict[str, Any]:
    passed = draw.random() < 0.6
    part = {
        "pass": passed,
        "score": float(passed),
        "reason": text(draw, 250),
        "assertion": {"type": "llm-rubric", "value": "good"},
    }
    told = {
        "id": str(number),
        "testIdx": number,
        "promptIdx": 0,
        "provider": {"id": "x"},
        "vars": {"q": text(draw, 20)},
    }
    return told | {
        "response": {"output": text(draw, 100)},
        "testCase": {},
        "gradingResult": {"componentResults": [part]},
    }


def inspect(number: int, draw: random.Random) -> dict[str, Any]:
    score = {"value": draw.choice("CI"), "answer": "a", "explanation": text(draw, 250), "metadata": {"grading": []}}
    return {"id": number, "epoch": 1, "input": text(draw, 50), "target": "a", "scores": {"grader": score}}


class Kind(NamedTuple):
    """How a file begins, what stands in it, and how it ends; without a beginning it is one object a line."""

    ending: str
    one: Callable[[int, random.Random], dict[str, Any]]
    begins: str = ""
    ends: str = ""


KINDS = {
    "rows": Kind(".jsonl", row),
    "mt_bench": Kind(".jsonl", mt_bench),
    "lm_eval": Kind(".jsonl", lm_eval),
    "promptfoo": Kind(".json", promptfoo, '{"evalId":"e","results":{"version":3,"results":[', "]}}"),
    "inspect": Kind(
        ".json", inspect, '{"version":2,"status":"success","eval":{"task":"t","model":"m"},"samples":[', "]}"
    ),
}


def write(path: Path, megabytes: float, kind: Kind = KINDS["rows"]) -> int:
    """Fill the file; returns the number of its verdicts."""
    draw = random.Random(0)  # noqa: S311  texts to fill a file
    rows, between = 0, ",\n" if kind.begins else "\n"
    with path.open("w", encoding="utf-8") as stream:
        stream.write(kind.begins)
        while stream.tell() < megabytes * 2**20:
            for _ in range(200):
                stream.write((between if rows else "") + json.dumps(kind.one(rows, draw)))
                rows += 1
        stream.write(kind.ends)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=KINDS, default="rows")
    parser.add_argument("--command", choices=["audit", "convert"], default="audit")
    parser.add_argument("--megabytes", type=float, default=300)
    parser.add_argument("--most", type=float, default=500, help="megabytes of memory")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kind = KINDS[given.kind]
        path = Path(folder) / f"verdicts{kind.ending}"
        rows = write(path, given.megabytes, kind)
        target = (
            ["--out", str(Path(folder) / "out")]
            if given.command == "audit"
            else ["--to", str(Path(folder) / "v.parquet")]
        )
        started = time.perf_counter()
        process = subprocess.Popen([*EVENHAND, given.command, str(path), *target], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
    peak = usage.ru_maxrss / 1024
    if status:
        print(f"the {given.command} failed")
        return 1
    print(
        f"{rows:,} rows, {given.megabytes:,.0f} MB of {given.kind}, {given.command}: {seconds:.1f} s, peak {peak:.0f} MB (at most {given.most:g})"
    )
    return int(peak > given.most)


if __name__ == "__main__":
    sys.exit(main())
