"""Graders of the loop, read from a small TOML or JSON file or a saved audit of a run under labels, and draws of them."""

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.random import default_rng
from scipy import special

from evenhand.errors import RequestError, SourceError, did_you_mean, printable
from evenhand.stats.arrays import Array
from evenhand.stats.loop import Grader

FIELDS = ("intercept", "slope", "label_effect", "shift", "interaction", "noise")
DEFAULTS: Mapping[str, float] = {
    "intercept": 0.0,
    "slope": 1.0,
    "shift": 0.0,
    "interaction": 0.0,
    "noise": 1.0,
    "label_effect_error": 0.0,
}
"""Where a file or the command line says nothing: a judge that marks as the reference does, give or take a mark."""
_MOST_GRADERS = 100
SOLE_GRADER = "grader"
"""What the grader of a command line is called; its ids are those of a single judge."""
_SOLE, _RESERVED = "judge", ("judge", "reference", "raters", "human")


@dataclass(frozen=True, slots=True)
class NamedGrader:
    """One grader as it was given, or as a run has it.

    Attributes:
        name: what tables call it; of a run, the contrast of labels and what tells runs apart.
        parameters: by the names of `Grader`'s fields.
        label_effect_error: standard error of the label effect, 0 where it is taken as known.
        source, params: of its ids.
        spread: (6, 6) covariance of the parameters in the order of `FIELDS`, the noise as its logarithm, where a run has it.
        df: of that covariance.
    """

    name: str
    parameters: Mapping[str, float]
    label_effect_error: float
    source: str = "judge"
    params: Mapping[str, str] = field(default_factory=dict)
    spread: Array | None = None
    df: float = math.inf


def grader_of(name: str, given: Mapping[str, object]) -> NamedGrader:
    """A grader from its parameters; what is not given has its default, but for the label effect.

    Raises:
        RequestError: an unknown parameter, a missing label effect, or something that is no number.
    """
    for key, value in given.items():
        if key not in (*FIELDS, "label_effect_error"):
            near = did_you_mean(key, [*FIELDS, "label_effect_error"])
            raise RequestError(f'grader "{printable(name)}": no parameter "{printable(key)}"{near}')
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise RequestError(f'grader "{printable(name)}": {key} = {printable(str(value))} is not a number')
    if "label_effect" not in given:
        raise RequestError(
            f'grader "{printable(name)}": no label_effect; it is the marks that a point of label moves a mark'
        )
    whole = {**DEFAULTS, **{key: float(value) for key, value in given.items() if isinstance(value, int | float)}}
    error = whole.pop("label_effect_error")
    if min(error, whole["noise"]) < 0:
        raise RequestError(f'grader "{printable(name)}": noise and label_effect_error are spreads: 0 or more')
    return NamedGrader(
        name, whole, error, source=_SOLE if name == SOLE_GRADER else f"grader {name}" if name in _RESERVED else name
    )


def read_graders(path: Path) -> tuple[NamedGrader, ...]:
    """Graders of a file: one at its top level, or several in `[[grader]]` tables with a name each.

    Raises:
        SourceError: the file cannot be read, or is neither TOML nor JSON.
        RequestError: a grader that is none; two of one name.
    """
    shown = printable(str(path))
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except OSError as problem:
        raise SourceError(f"{shown}: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise SourceError(f"{shown}: neither TOML nor JSON of graders: {printable(str(problem))}") from None
    if not isinstance(found, dict):
        raise RequestError(f"{shown}: graders are a table of parameters, or a list of tables called grader")
    listed = found.get("grader", [{"name": path.stem, **found}])
    if not isinstance(listed, list) or not 0 < len(listed) <= _MOST_GRADERS or ("grader" in found and len(found) > 1):
        raise RequestError(
            f"{shown}: graders stand in [[grader]] tables, 1 to {_MOST_GRADERS} of them and nothing else"
        )
    graders = []
    for place, one in enumerate(listed, start=1):
        if not isinstance(one, dict):
            raise RequestError(f"{shown}: grader {place} is no table of parameters")
        name = str(one.get("name", f"grader {place}"))
        graders.append(grader_of(name, {key: value for key, value in one.items() if key != "name"}))
    names = [one.name for one in graders]
    if len(set(names)) < len(names):
        raise RequestError(f"{shown}: two graders of one name: each needs its own")
    return tuple(graders)


def as_grader(graders: Sequence[NamedGrader]) -> Grader:
    """All graders at their own parameters, fields of shape (graders,)."""
    return Grader(*(np.array([one.parameters[name] for one in graders]) for name in FIELDS))


def drawn_graders(graders: Sequence[NamedGrader], n_draws: int, seed: int) -> Grader:
    """The same drawn about their own parameters, on the same random numbers for all; shape (graders, draws).

    Of a run, all parameters: multivariate t with the jackknife's covariance and its degrees of freedom. Else the label
    effect, normal at its standard error.
    """
    rng = default_rng(seed)
    z, spare = rng.standard_normal((6, n_draws)), rng.random(n_draws)
    drawn = np.stack([_drawn(one, z, spare) for one in graders], axis=1)
    return Grader(*drawn)


def _drawn(one: NamedGrader, z: Array, spare: Array) -> Array:
    """(6, draws) parameters."""
    own = np.array([one.parameters[name] for name in FIELDS])[:, None]
    if one.spread is None:
        errors = np.array([one.label_effect_error if name == "label_effect" else 0.0 for name in FIELDS])
        return np.asarray(own + errors[:, None] * z[FIELDS.index("label_effect")])
    values, vectors = np.linalg.eigh(one.spread)
    wider = np.sqrt(one.df / (2 * special.gammaincinv(one.df / 2, spare))) if math.isfinite(one.df) else 1.0
    off = (vectors * np.sqrt(np.maximum(values, 0.0))) @ z * wider
    return np.concatenate([own[:5] + off[:5], own[5:] * np.exp(off[5:])])
