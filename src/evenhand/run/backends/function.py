"""A Python function as the judge: for models in memory, tests, and judges that are no models."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable

from evenhand.design.request import PlannedCall, Request
from evenhand.run.backend import Reply

Answer = Callable[[Request], str | Reply | Awaitable[str | Reply]]


class FunctionBackend:
    """Calls ``answer(request)``, a plain function in a thread of its own or a coroutine function."""

    name = "callable"

    def __init__(self, answer: Answer) -> None:
        """Wrap a function; it sees the request and nothing else of the design."""
        self._answer = answer

    async def complete(self, call: PlannedCall) -> Reply:
        """The function's reply; what it raises as CallFailedError is a failed attempt."""
        if inspect.iscoroutinefunction(self._answer):
            found = await self._answer(call.request)
        else:
            found = await asyncio.to_thread(self._answer, call.request)
        return found if isinstance(found, Reply) else Reply(str(found), call.request.model)

    async def close(self) -> None:
        """Nothing is held."""
