"""A server on loopback that speaks the protocol of OpenAI's chat completions, with faults on request."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What the server does with one request.

    Attributes:
        text: of the message.
        status: HTTP status; anything but 200 sends an error object.
        headers: besides the usual ones.
        seconds: before it answers.
        cut: close the connection in the middle of the body.
        body: sent instead of a completion, as it stands.
        more: merged into the message.
        model: served under the name that was asked for, unless given.
    """

    text: str = "yes"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cut: bool = False
    body: bytes | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    error: str = "scripted fault"


Script = Callable[[Body, int], Answer]


class Loopback:
    """A running server: ``url``, what it was asked, and how many requests were open at once."""

    def __init__(self, script: Script) -> None:
        self.script, self.asked, self.most_open, self._open = script, [], 0, 0  # type: ignore[var-annotated]
        self.headers: list[str] = []
        self.completion_tokens = 2
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        self._thread.start()
        self._ready.wait(10)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)

        async def begin() -> None:
            self._server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=2**24)
            self.port = self._server.sockets[0].getsockname()[1]
            self._ready.set()

        self._loop.run_until_complete(begin())
        self._loop.run_forever()
        if self._server is not None:
            self._server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.01))
        self._loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                text = head.decode("latin-1")
                length = next(
                    int(line.split(":")[1]) for line in text.splitlines() if line.lower().startswith("content-length")
                )
                body = json.loads(await reader.readexactly(length))
                self.headers.append(text)
                await self._answer(body, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError, StopIteration):
            pass
        finally:
            writer.close()

    async def _answer(self, body: Body, writer: asyncio.StreamWriter) -> None:
        self.asked.append(body)
        self._open += 1
        self.most_open = max(self.most_open, self._open)
        try:
            answer = self.script(body, len(self.asked))
            if answer.seconds:
                await asyncio.sleep(answer.seconds)
            content = (
                answer.body
                if answer.body is not None
                else json.dumps(_completion(body, answer, self.completion_tokens)).encode()
            )
            lines = [
                f"HTTP/1.1 {answer.status} said",
                "content-type: application/json",
                f"content-length: {len(content)}",
            ]
            lines += [f"{name}: {value}" for name, value in answer.headers.items()]
            start = ("\r\n".join(lines) + "\r\n\r\n").encode()
            if answer.cut:
                writer.write(start + content[: len(content) // 2])
                await writer.drain()
                raise ConnectionError
            writer.write(start + content)
            await writer.drain()
        finally:
            self._open -= 1


def _completion(body: Body, answer: Answer, tokens: int) -> Body:
    if answer.status != 200:
        return {"error": {"message": answer.error, "type": "scripted", "code": None}}
    words = sum(len(str(message["content"]).split()) for message in body["messages"])
    return {
        "id": "cmpl-loopback",
        "object": "chat.completion",
        "created": 0,
        "model": answer.model or body["model"],
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": answer.text, **answer.more},
            }
        ],
        "usage": {"prompt_tokens": words, "completion_tokens": tokens, "total_tokens": words + tokens},
    }


@contextmanager
def serving(script: Script | None = None) -> Iterator[Loopback]:
    """A server for the time of a block; it answers yes to everything unless a script says otherwise."""
    server = Loopback(script or (lambda _body, _number: Answer()))
    server.start()
    try:
        yield server
    finally:
        server.stop()
