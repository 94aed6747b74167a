"""Reading a 10,000-sample Inspect log: evenhand's reader against Inspect's own ``samples_df(full=True)``.

    python benchmarks/inspect_read.py [LOG.eval] [--samples 10000] [--scorers 1] [--peer PYTHON]

Without a log it writes one, with 1 to 3 scorers: the samples of tests/fixtures/inspect/several.eval over and over, each with its own id and a
zstandard member of its own, as Inspect lays them out. PYTHON is an interpreter that has inspect_ai and pandas; where none is
named, this one; where it has none, the peer is skipped. Each reading is a fresh process, the best of three; the ratio is of
processor seconds within this run, which other work on the machine hardly touches.
"""

import argparse
import json
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

FIXTURE = Path(__file__).parents[1] / "tests" / "fixtures" / "inspect" / "several.eval"
OURS = """
import resource, sys, time
from pathlib import Path
from evenhand.importers.logs import read_logs
from evenhand.importers.registry import recognise
from evenhand.verdicts.engine import Engine
start = time.process_time()
with Engine() as engine:
    path = Path(sys.argv[1])
    logs = read_logs(engine, recognise(path), [path])
    took = time.process_time() - start
    print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, logs.counts[path.name]["verdicts"])
"""
PEER = """
import resource, sys, time
from inspect_ai.analysis import samples_df
start = time.process_time()
frame = samples_df(sys.argv[1], full=True, quiet=True)
took = time.process_time() - start
print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, len(frame))
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("log", nargs="?", type=Path)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--scorers", type=int, choices=(1, 2, 3), default=1)
    parser.add_argument("--peer", default=sys.executable)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = given.log or write_log(Path(folder, "large.eval"), given.samples, given.scorers)
        print(f"{log.name}: {log.stat().st_size / 2**20:.1f} MB")
        ours = best_of_three(sys.executable, OURS, log)
        print(f"evenhand: {ours[0]:.2f} s of processor, {ours[1]:.0f} MB at most, {ours[2]:.0f} verdicts")
        if subprocess.run([given.peer, "-c", "import inspect_ai, pandas"], capture_output=True, check=False).returncode:
            print("inspect_ai is not installed here: peer skipped (--peer PYTHON)")
            return
        peer = best_of_three(given.peer, PEER, log)
        print(f"samples_df(full=True): {peer[0]:.2f} s of processor, {peer[1]:.0f} MB at most, {peer[2]:.0f} samples")
        print(f"ratio: {peer[0] / ours[0]:.1f} times faster (at least 10 wanted); {ours[1]:.0f} MB (under 250 wanted)")


def best_of_three(python: str, code: str, log: Path) -> tuple[float, float, float]:
    runs = []
    for _ in range(3):
        done = subprocess.run([python, "-c", code, str(log)], capture_output=True, text=True, check=True)
        seconds, megabytes, count = map(float, done.stdout.split()[-3:])
        runs.append((seconds, megabytes, count))
    return min(runs)


def write_log(path: Path, n_samples: int, n_scorers: int = 3) -> Path:
    """The fixture's samples under new ids, each a zstandard member; the standard library cannot write these before 3.14."""
    from evenhand.importers.safe_zip import SafeZip, zstandard

    compress = zstandard().compress
    with SafeZip(FIXTURE) as archive:
        names = [name for name in archive.members if name.startswith("samples/") and name != "samples/4_epoch_1.json"]
        samples = [json.loads(archive.read(name)) for name in names]
        header = archive.read("header.json")
    for sample in samples:
        sample["scores"] = dict(list(sample["scores"].items())[:n_scorers])
    with path.open("wb") as stream:
        directory = [_member(stream, "header.json", header, compress)]
        for number in range(n_samples):
            sample = samples[number % len(samples)] | {"id": number, "epoch": 1, "uuid": f"uuid-{number}"}
            data = json.dumps(sample, separators=(",", ":")).encode()
            directory.append(_member(stream, f"samples/{number}_epoch_1.json", data, compress))
        start = stream.tell()
        stream.write(b"".join(directory))
        size = stream.tell() - start
        many = min(len(directory), 65_535)
        stream.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, many, many, size, start, 0))
    return path


def _member(stream: BinaryIO, name: str, data: bytes, compress: Callable[[bytes], bytes]) -> bytes:
    """Write one member; returns its entry of the central directory."""
    at, packed, told = stream.tell(), compress(data), name.encode()
    shared = struct.pack("<5H3L2H", 63, 0, 93, 0, 33, zlib.crc32(data), len(packed), len(data), len(told), 0)
    stream.write(b"PK\x03\x04" + shared + told + packed)
    return b"PK\x01\x02" + struct.pack("<H", 63) + shared + struct.pack("<3H2L", 0, 0, 0, 0, at) + told


if __name__ == "__main__":
    main()
