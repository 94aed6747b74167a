"""What attempts cost: prices by model, and the money of one attempt."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from evenhand.errors import RequestError, SourceError, printable
from evenhand.run.backend import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """Money per million tokens."""

    input: float
    output: float
    cached_input: float

    def of(self, usage: Usage) -> float:
        """Cost of one attempt; tokens served from the provider's cache are billed once, at their own price."""
        fresh = usage.prompt - usage.cached
        return (fresh * self.input + usage.cached * self.cached_input + usage.completion * self.output) / 1e6


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model, with the day they were taken; a model that is not listed has no known cost."""

    date: str
    currency: str
    models: Mapping[str, Price]

    def cost(self, model: str, usage: Usage) -> float | None:
        """Money, or None where the model has no price: unknown is not free."""
        price = self.models.get(model)
        return price.of(usage) if price else None


NO_PRICES = Prices("", "", {})


def read_prices(path: Path) -> Prices:
    """Prices from a TOML file: ``date``, ``currency``, and one table a model with input, output and cached_input per million tokens.

    Raises:
        SourceError: it cannot be read.
        RequestError: a price is missing or negative.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise SourceError(f"{printable(path.name)}: prices cannot be read ({printable(str(problem))})") from None
    models: dict[str, Price] = {}
    for name, entry in found.get("models", {}).items():
        if not isinstance(entry, Mapping):
            raise RequestError(f'{printable(path.name)}: [models."{printable(name)}"] must be a table of prices')
        models[name] = Price(
            _price(path, name, entry, "input"),
            _price(path, name, entry, "output"),
            _price(path, name, {"cached_input": entry.get("input"), **entry}, "cached_input"),
        )
    return Prices(str(found.get("date", "")), str(found.get("currency", "USD")), models)


def prices_of(name: str | None, folder: Path) -> Prices:
    """The table a plan names, beside it; else the one that comes along.

    Raises:
        SourceError: it cannot be read.
        RequestError: a price is missing or negative.
    """
    if name:
        return read_prices(folder / name)
    with as_file(files("evenhand.data") / "prices.toml") as path:
        return read_prices(path)


def _price(path: Path, model: str, entry: Mapping[str, object], name: str) -> float:
    value = entry.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise RequestError(
            f'{printable(path.name)}: [models."{printable(model)}"] {name} must be a price per million tokens, 0 or more '
            f"(got {printable(repr(value))[:60]})"
        )
    return float(value)
