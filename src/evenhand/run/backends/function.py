"""A Python function as the judge: for models in memory, tests, and judges that are no models."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable

from evenhand.design.request import PlannedCall, Request
from evenhand.errors import RequestError
from evenhand.run.backend import Reply

Answer = Callable[[Request], str | Reply | Awaitable[str | Reply]]


class FunctionBackend:
    """Calls ``answer(request)``, a plain function in a thread of its own or a coroutine function."""

    name = "callable"

    def __init__(self, answer: Answer) -> None:
        """Wrap a function; it sees the request and nothing else of the design."""
        self._answer = answer
        self._is_async = inspect.iscoroutinefunction(answer) or inspect.iscoroutinefunction(
            getattr(answer, "__call__", None)  # noqa: B004  an object whose call is a coroutine function
        )

    async def complete(self, call: PlannedCall) -> Reply:
        """The function's reply; what it raises as CallFailedError is a failed attempt, and anything else ends the run.

        Raises:
            RequestError: it returned neither a text nor a Reply, or ran out of replies.
        """
        found = self._asked(call.request) if self._is_async else await asyncio.to_thread(self._asked, call.request)
        if inspect.isawaitable(found):
            found = await found
        if isinstance(found, Reply):
            return found
        if not isinstance(found, str):
            raise RequestError(
                f"the judge's function returned {type(found).__name__}; a judge returns its reply as a text, or a Reply"
            )
        return Reply(found, call.request.model)

    def _asked(self, request: Request) -> str | Reply | Awaitable[str | Reply]:
        try:
            return self._answer(request)
        except StopIteration:  # which no thread may hand on
            raise RequestError("the judge's function ran out of replies (StopIteration)") from None

    async def close(self) -> None:
        """Nothing is held."""
