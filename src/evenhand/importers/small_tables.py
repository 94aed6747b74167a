"""Small tables a user hands in beside the data: weights of criteria, and distances between classes."""

import csv
import io
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.errors import RequestError, printable, quoted

PRESETS = ("nominal", "halfway", "halfway-squared")
"""Distances between classes that need no file; see ``audits.distances``."""
_NAMES = ("criterion", "name", "criterion_id")


def read_weights(path: Path) -> dict[str, float]:
    """Criterion → weight; a criterion without one is left out.

    Args:
        path: CSV with columns criterion and weight; JSON or TOML as {criterion: weight}; or JSON as a list of objects with
            a criterion (or name) and a weight.

    Raises:
        RequestError: no such file, another shape, or a weight that is no number.
    """
    held, option = _read(path, "--criterion-weights"), "--criterion-weights"
    found: dict[str, float] = {}
    for name, weight in _pairs(held, path):
        if name in found:
            raise RequestError(f'{option} {printable(path.name)}: criterion "{printable(name)}" stands twice')
        if weight is not None and str(weight).strip():
            found[name] = _number(weight, f'{option} {printable(path.name)}: the weight of "{printable(name)}"')
    if not found:
        raise RequestError(f"{option} {printable(path.name)}: it holds no weight; write criterion,weight")
    return found


def _pairs(held: Any, path: Path) -> list[tuple[str, Any]]:
    if isinstance(held, Mapping):
        return [(str(name), weight) for name, weight in held.items()]
    if isinstance(held, list) and all(isinstance(one, Mapping) for one in held):
        key = next((name for name in _NAMES if held and name in held[0]), None)
        if key is not None:
            return [(str(one.get(key, "")), one.get("weight")) for one in held]
    raise RequestError(
        f"--criterion-weights {printable(path.name)}: weights stand as columns criterion,weight, as "
        '{"criterion": weight}, or as a list of {"criterion": ..., "weight": ...}'
    )


def read_distances(given: str) -> str | dict[str, dict[str, float]]:
    """A preset's name, or class → class → distance from a file.

    Args:
        given: a preset, or the path of a square CSV (classes as header and first column), or of JSON or TOML as
            {class: {class: distance}}.

    Raises:
        RequestError: neither a preset nor a file, another shape, or a distance that is no number.
    """
    if given in PRESETS:
        return given
    path, option = Path(given), "--distances"
    if not path.exists():
        raise RequestError(f'{option} "{printable(given)}": neither a file nor one of the presets {", ".join(PRESETS)}')
    held = _read(path, option)
    if isinstance(held, list):
        held = _square(held, path)
    if not isinstance(held, Mapping) or not all(isinstance(row, Mapping) for row in held.values()):
        raise RequestError(
            f"{option} {printable(path.name)}: write a square table with the classes as header and as first column, or "
            '{"class": {"class": distance}}'
        )
    return {
        str(one): {
            str(other): _number(
                cell, f'{option} {printable(path.name)}: from "{printable(one)}" to "{printable(other)}"'
            )
            for other, cell in row.items()
            if cell is not None and str(cell).strip()
        }
        for one, row in held.items()
    }


def _square(rows: list[Any], path: Path) -> dict[str, dict[str, Any]]:
    """Rows of a CSV as a mapping of mappings, by the first column."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        (_, name), *cells = row.items()
        if name in found:
            raise RequestError(f'--distances {printable(path.name)}: class "{printable(str(name))}" stands twice')
        found[str(name)] = dict(cells)
    return found


def _read(path: Path, option: str) -> Any:
    kind = path.suffix.casefold()
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if kind == ".json":
            return json.loads(text)
        if kind == ".toml":
            return tomllib.loads(text)
        if kind in (".csv", ".tsv"):
            return _rows(text, "\t" if kind == ".tsv" else ",", path, option)
    except OSError as problem:
        raise RequestError(f"{option} {printable(str(path))}: cannot be read ({problem.strerror})") from None
    except (UnicodeDecodeError, json.JSONDecodeError, tomllib.TOMLDecodeError, csv.Error) as problem:
        raise RequestError(f"{option} {printable(path.name)}: {printable(str(problem))}") from None
    raise RequestError(f"{option} {printable(path.name)}: the ending is one of .csv, .tsv, .json, .toml")


def _rows(text: str, mark: str, path: Path, option: str) -> list[dict[str, Any]]:
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=mark) if any(cell.strip() for cell in row)]
    if len(rows) < 2 or any(len(row) != len(rows[0]) for row in rows):
        raise RequestError(
            f"{option} {printable(path.name)}: a header and rows of the same length, such as {quoted(['criterion', 'weight'])}"
        )
    return [
        dict(zip((name.strip() for name in rows[0]), (cell.strip() for cell in row), strict=True)) for row in rows[1:]
    ]


def _number(cell: Any, what: str) -> float:
    try:
        number = float(str(cell))
    except ValueError:
        raise RequestError(f'{what} is "{printable(str(cell))}", which is no number') from None
    if number != number or abs(number) == float("inf"):
        raise RequestError(f"{what} is not finite")
    return number
