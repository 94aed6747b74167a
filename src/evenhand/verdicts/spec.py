"""The mapping of a user's file to verdicts, as saved with ``--write-spec`` and replayed with ``--spec``."""

import tomllib
from pathlib import Path
from typing import Any, Literal, Self

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, field_validator, model_validator

from evenhand.errors import RequestError, SourceError, did_you_mean, printable

ScaleKind = Literal["binary", "ordinal", "continuous", "nominal", "pairwise"]
Blank = Literal["missing", "unparsed", "abstained"]
Clean = Literal["trim", "case", "zero-width"]
IntervalMethod = Literal[
    "default",
    "percentile",
    "bca",
    "jackknife_t",
    "jackknife_t_scaled",
    "bootstrap_t",
    "cr2_t",
    "korn_graubard",
    "clopper_pearson",
    "wilson",
    "generalised",
    "fieller",
    "exact",
    "none",
]

FACETS = ("model", "setting", "phrasing", "occasion", "arm", "order")
"""Roles whose values are conditions under which a verdict was given."""


class Spec(BaseModel):
    """What each column is, on which scale, and how intervals are made; a role left empty is recognised by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    response: tuple[str, ...] = ()
    cluster: str | None = None
    second_cluster: str | None = None
    criterion: str | None = None
    rater: str | None = None
    rater_kind: str | None = None
    verdict: str | None = None
    reference: str | None = None
    judge: tuple[str, ...] = ()
    status: str | None = None
    reason: str | None = None
    parse: str | None = None
    refusal: tuple[str, ...] = ()
    model: str | None = None
    setting: str | None = None
    phrasing: str | None = None
    occasion: str | None = None
    arm: str | None = None
    control: str | None = None
    learner: str | None = None
    tail: str | None = None
    label_shown: str | None = None
    n_prior_shown: str | None = None
    shown_marks: str | None = None
    order: str | None = None
    confidence: str | None = None
    confidence_of: Literal["verdict", "positive"] = "verdict"
    explanation: str | None = None
    count: str | None = None
    strata: str | None = None
    items: Literal["rows", "columns"] | None = None
    trust_key: bool = False
    length: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    weight: str | None = None
    margin: dict[str, FiniteFloat] = {}
    text: tuple[str, ...] = ()
    texts: Literal["none", "errors"] = "none"

    scale: ScaleKind | None = None
    levels: tuple[str, ...] = ()
    range: tuple[FiniteFloat, FiniteFloat] | None = None
    clean: tuple[Clean, ...] = ()
    positive: str | None = None
    abstain: tuple[str, ...] = ()
    tie: tuple[str, ...] = ()
    na: tuple[str, ...] = ()
    blank: Blank = "missing"
    criteria: Literal["shared", "per-cluster"] = "shared"
    cut: tuple[FiniteFloat, ...] = ()
    reliability: float | None = None
    quorum: int | None = Field(default=None, ge=1)
    criterion_weights: dict[str, FiniteFloat] = {}
    distances: str | dict[str, dict[str, FiniteFloat]] | None = None

    format: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    decimal: Literal[",", "."] | None = None
    fractions: bool = False

    interval: IntervalMethod = "default"
    resamples: int = Field(default=2_000, ge=100, le=1_000_000)
    seed: int = Field(default=0, ge=0)
    confidence_level: float = Field(default=0.95, gt=0.5, lt=1)

    @field_validator(
        "response",
        "judge",
        "levels",
        "clean",
        "abstain",
        "tie",
        "na",
        "text",
        "cut",
        "length",
        "author",
        "group",
        "refusal",
        mode="before",
    )
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str | int | float) else value

    @model_validator(mode="before")
    @classmethod
    def _two_units(cls, values: Any) -> Any:
        """``cluster`` of two columns is the first and the second unit of resampling."""
        given = values.get("cluster") if isinstance(values, dict) else None
        if not isinstance(given, list | tuple):
            return values
        if not 1 <= len(given) <= 2 or len(set(given)) < len(given):
            said = ", ".join(printable(str(one)) for one in given)
            raise RequestError(f"--cluster takes one column, or two different ones whose effects cross; got {said}")
        return {**values, "cluster": given[0], "second_cluster": given[1] if len(given) == 2 else None}

    @field_validator("length", "author")
    @classmethod
    def _one_or_two_sides(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(value) > 2:
            raise ValueError("it takes one column, or for verdicts on pairs two: one of each side")
        return value

    @field_validator("margin")
    @classmethod
    def _margin_above_zero(cls, value: dict[str, float]) -> dict[str, float]:
        if any(number <= 0 for number in value.values()):
            raise ValueError("a margin is above 0: --margin leniency=0.2 stands for -0.2 to 0.2")
        return value

    @field_validator("range")
    @classmethod
    def _low_before_high(cls, value: tuple[float, float] | None) -> tuple[float, float] | None:
        if value is not None and not value[0] < value[1]:
            raise ValueError("the lowest mark comes first: --range LO,HI")
        return value

    @field_validator("reliability")
    @classmethod
    def _between_0_and_1(cls, value: float | None) -> float | None:
        if value is not None and not 0 < value < 1:
            raise ValueError("the reliability of scores lies between 0 and 1, both ends left out: --reliability 0.8")
        return value

    @property
    def facets(self) -> tuple[str, ...]:
        """The condition columns in use, in a fixed order."""
        return tuple(column for role in FACETS if (column := getattr(self, role)))

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Build from options.

        Raises:
            RequestError: an unknown name or a value out of its range.
        """
        try:
            return cls(**values)
        except ValidationError as problem:
            raise RequestError(_first_problem(problem)) from None

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a saved spec.

        Raises:
            SourceError: no such file, or not TOML.
            RequestError: an unknown name or a value out of its range.
        """
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as problem:
            raise SourceError(f"{printable(str(path))}: cannot be read ({problem.strerror})") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
            raise SourceError(f"{printable(path.name)}: not TOML: {printable(str(problem))}") from None
        try:
            return cls.of(**values)
        except RequestError as problem:
            raise RequestError(f"{printable(path.name)}: {problem}") from None

    def to_toml(self) -> str:
        """The spec as TOML, without what stands at its default."""
        return tomli_w.dumps(self.model_dump(mode="json", exclude_defaults=True, exclude_none=True))


def _first_problem(problem: ValidationError) -> str:
    first = problem.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else ""
    if first["type"] == "extra_forbidden":
        return f'unknown name "{printable(name)}"' + did_you_mean(name, list(Spec.model_fields))
    return f"{name}: {first['msg'].removeprefix('Value error, ')} (got {printable(repr(first['input']))[:80]})"
