"""Ids of estimates: ``statistic[param=value,...]/source``, parameters sorted, reserved characters percent-encoded."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import unquote

from evenhand.errors import RequestError, printable

_RESERVED = re.compile(r"[,=\[\]/%\s]")
_SHAPE = re.compile(r"(?P<statistic>[a-z][a-z0-9_]*)(?:\[(?P<params>[^\[\]/]*)\])?/(?P<source>[^/\[\]]+)")

Param = str | int | float


def encode(value: Param) -> str:
    """A parameter value or a source as it stands in an id: numbers as ``format(x, "g")``, texts safe in any terminal.

    >>> encode(5.0), encode("C,k")
    ('5', 'C%2Ck')
    """
    if not isinstance(value, str):
        return format(value, "g") if abs(value) < 1e6 else format(value, ".15g")
    return "".join(
        "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
        if _RESERVED.match(character) or printable(character) != character
        else character
        for character in value
    )


@dataclass(frozen=True, slots=True)
class EstimateId:
    """A statistic with its parameters and the source it is computed from."""

    statistic: str
    source: str
    params: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, statistic: str, source: str, **params: Param) -> Self:
        """Build from values as they are in Python.

        >>> str(EstimateId.of("accuracy", "judge", cut=5, unscored="error"))
        'accuracy[cut=5,unscored=error]/judge'
        """
        texts = {name: value if isinstance(value, str) else encode(value) for name, value in params.items()}
        return cls(statistic, source, dict(sorted(texts.items())))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an id; parameters may stand in any order.

        Raises:
            RequestError: the text has not the shape of an id.
        """
        found = _SHAPE.fullmatch(text.strip())
        if not found:
            raise RequestError(
                f'"{printable(text)}" is not an id: write statistic[param=value]/source, '
                'for example "accuracy[cut=5]/judge" (quoted in a shell)'
            )
        params = {}
        for part in filter(None, (found["params"] or "").split(",")):
            name, equals, value = part.partition("=")
            if not equals:
                raise RequestError(f'"{printable(part)}" in "{printable(text)}" is not param=value')
            params[name.strip()] = unquote(value.strip())
        return cls(found["statistic"], unquote(found["source"]), dict(sorted(params.items())))

    def without(self, name: str) -> "EstimateId":
        """The same id without one parameter."""
        return EstimateId(self.statistic, self.source, {k: v for k, v in self.params.items() if k != name})

    def __str__(self) -> str:
        inner = ",".join(f"{name}={encode(value)}" for name, value in sorted(self.params.items()))
        return f"{self.statistic}{f'[{inner}]' if inner else ''}/{encode(self.source)}"
