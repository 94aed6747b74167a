"""Ten thousand calls, a hundred in flight: python benchmarks/run_calls.py [--calls N] [--quick] [--inspect PYTHON]

A loopback server in a process of its own answers after 200 ms. Processor time and peak memory are those of the whole calling
process, start included, with everything a run does: prompts rendered, every attempt committed, the ledger closed and read again,
verdicts written. Beside it, in the same run: the OpenAI SDK alone, which keeps nothing, and an Inspect AI task, if the interpreter of
an environment that has it is named. Processor time is what counts: other work on the machine changes wall time, hardly this.
Exits 1 if a bound is broken.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

MOST_MILLISECONDS, MOST_MEGABYTES = 3.0, 150.0
IN_FLIGHT = 100
EVENHAND = "from evenhand.cli.main import main; main()"
PLAN = """
[bank]
responses = "bank.csv"
text = ["answer"]
[scale]
kind = "binary"
[reply]
parse = "yes-no"
[[judge]]
name = "judge"
model = "small"
base_url = "{url}"
settings = {{ temperature = 0.0, max_tokens = 4 }}
[[phrasing]]
name = "plain"
template = "plain.txt"
[run]
in_flight = {in_flight}
"""
SERVER = """
import asyncio, json, sys
BODY = json.dumps({
    "id": "c", "object": "chat.completion", "created": 0, "model": "small",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}],
    "usage": {"prompt_tokens": 50, "completion_tokens": 1, "total_tokens": 51},
}).encode()
ANSWER = b"HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\ncontent-length: %d\\r\\n\\r\\n" % len(BODY) + BODY
async def talk(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            size = next(int(line[15:]) for line in head.lower().split(b"\\r\\n") if line.startswith(b"content-length:"))
            await reader.readexactly(size)
            await asyncio.sleep(float(sys.argv[1]))
            writer.write(ANSWER)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
async def main():
    server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=1000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""
BARE = """
import asyncio, sys
import openai
async def main(url, n, width):
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    numbers, replies = iter(range(n)), []
    async def work():
        for number in numbers:
            prompt = f"Is this met?\\nanswer number {number}, a few words longer than that, as answers are"
            answer = await client.chat.completions.create(
                model="small", messages=[{"role": "user", "content": prompt}], temperature=0.0, max_tokens=4)
            replies.append(answer.choices[0].message.content)
    await asyncio.gather(*(work() for _ in range(width)))
    assert len(replies) == n
asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""
INSPECT = """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate
url, n, width, logs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
prompt = "Is this met?\\nanswer number {}, a few words longer than that, as answers are"
task = Task(dataset=[Sample(input=prompt.format(i), target="yes", id=i) for i in range(1, n + 1)], solver=generate(), scorer=match())
model = get_model("openai-api/loop/small", base_url=url, api_key="none",
                  config=GenerateConfig(temperature=0.0, max_tokens=4, max_connections=width, max_retries=0))
(log,) = eval(task, model=model, display="none", log_dir=logs, max_samples=width)
assert log.status == "success", log.error
"""


@dataclass(frozen=True)
class Cost:
    """Of one process, children left out; ``private`` is the memory that is no page of a shared library, 0 where nobody tells it."""

    name: str
    milliseconds: float
    megabytes: float
    private: float
    seconds: float


def cost(name: str, command: list[str], calls: int) -> Cost:
    """Processor milliseconds a call, peak memory and seconds of a process that must end well."""
    started = time.perf_counter()
    private = 0.0
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            private = max(private, private_megabytes(process.pid))
            time.sleep(0.05)
        errors.seek(0)
        said = errors.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{name} ended with {process.returncode}: {said.decode(errors='replace')[-2000:]}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(name, 1e3 * (usage.ru_utime + usage.ru_stime) / calls, usage.ru_maxrss * unit / 1e6, private, seconds)


def private_megabytes(pid: int) -> float:
    """Anonymous memory of a process at this moment, as Linux tells it."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("RssAnon")), 0.0)


def write_study(folder: Path, url: str, calls: int) -> Path:
    rows = (f'r{n},"answer number {n}, a few words longer than that, as answers are"' for n in range(calls))
    (folder / "bank.csv").write_text("\n".join(["response_id,answer", *rows]) + "\n", encoding="utf-8")
    (folder / "plain.txt").write_text("Is this met?\n{{ response }}\n", encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN.format(url=url, in_flight=IN_FLIGHT), encoding="utf-8")
    return folder / "plan.toml"


def measure(folder: Path, calls: int, delay: float, inspect: str | None) -> list[Cost]:
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(delay)], stdout=subprocess.PIPE, text=True)
    try:
        port = (server.stdout.readline() if server.stdout else "").strip()
        url = f"http://127.0.0.1:{port}/v1"
        plan, shape = write_study(folder, url, calls), [url, str(calls), str(IN_FLIGHT)]
        found = [
            cost("OpenAI SDK alone", [sys.executable, "-c", BARE, *shape], calls),
            cost(
                "evenhand run", [sys.executable, "-c", EVENHAND, "run", str(plan), "--out", str(folder / "out")], calls
            ),
        ]
        if inspect:
            found.append(cost("Inspect task", [inspect, "-c", INSPECT, *shape, str(folder / "logs")], calls))
        return found
    finally:
        server.kill()
        server.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description="CPU and memory of many calls.")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--delay", type=float, default=0.2, help="seconds a reply takes")
    parser.add_argument("--inspect", metavar="PYTHON", help="interpreter of an environment with inspect_ai and openai")
    parser.add_argument(
        "--quick", action="store_true", help="forty calls at once answered, no bound held: does it run at all?"
    )
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.calls, arguments.delay = 40, 0.001
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), arguments.calls, arguments.delay, arguments.inspect)
    print(f"{arguments.calls:,} calls, {IN_FLIGHT} in flight, {arguments.delay:g} s a reply\n")
    print("| what | CPU ms a call | ratio | peak MB | of it private | seconds |\n|---|---:|---:|---:|---:|---:|")
    for one in found:
        ratio = one.milliseconds / found[0].milliseconds
        print(
            f"| {one.name} | {one.milliseconds:.2f} | {ratio:.2f} | {one.megabytes:.0f} | {one.private:.0f} | {one.seconds:.1f} |"
        )
    ours = found[1]
    broken = [
        f"{value:.3g} {unit} > {most:g} {unit}"
        for value, most, unit in (
            (ours.milliseconds, MOST_MILLISECONDS, "ms a call"),
            (ours.megabytes, MOST_MEGABYTES, "MB"),
        )
        if value > most
    ]
    if broken:
        print("\nbroken: " + "; ".join(broken))
    return 1 if broken and not arguments.quick else 0


if __name__ == "__main__":
    sys.exit(main())
