"""The saved shapes: what an audit writes and every reader of it gets."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from evenhand.errors import RequestError, SourceError, did_you_mean, printable
from evenhand.ids import EstimateId

SCHEMA = "evenhand.audit/1"

Status = Literal["ok", "undefined", "not_assessed"]
Unit = Literal["verdict", "response", "line", "learner", "criterion", "cluster"]
Describes = Literal["judge", "bank", "checklist", "measurement system", "reference", "grader×context"]


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError("a saved number is finite; what is undefined has a status")
    return number


Number = Annotated[float, AfterValidator(_finite)]
Cell = str | int | Number | bool | None


class _Saved(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Coverage(_Saved):
    """How often intervals of this method held the truth in simulated banks of the nearest design."""

    level: Number = Field(description="what the intervals were made to cover")
    clusters: int
    imbalance: str
    rates: str = Field(description="base rates: even, skewed or rare")
    iccs: tuple[Number, ...] = Field(description="intraclass correlations of the designs")
    shares: tuple[Number, ...] = Field(description="share of intervals that hold the truth at each of them")


class Estimate(_Saved):
    """One number, its uncertainty, and what it is a statement about."""

    id: str
    statistic: str
    params: dict[str, str]
    source: str
    estimate: Number | None = Field(description="the value; null when status is not ok")
    std_error: Number | None = Field(description="raw-scale delete-one-cluster jackknife")
    std_errors: dict[str, Number] = Field(
        default_factory=dict,
        description="the same estimate's other standard errors by name: naive, delta, cr1, cr2, bootstrap, null",
    )
    ci_low: Number | None
    ci_high: Number | None
    interval_method: str
    interval_scale: str | None = None
    interval_df: Number | None = None
    interval_std_error: Number | None = Field(default=None, description="on the interval's own scale")
    p_values: dict[str, Number] = Field(
        default_factory=dict,
        description="p of the null that the family names: raw, holm, max_t (Romano and Wolf), bh (false discovery rate)",
    )
    simultaneous: tuple[Number, Number] | None = Field(
        default=None, description="ends that all intervals of the family have at once at the confidence level"
    )
    detectable: Number | None = Field(
        default=None,
        description="smallest true difference found with 80 % power at Holm's strictest level, .05 over the family's size",
    )
    family: str = Field(default="", description="what is tested together, and against what")
    status: Status
    reason: str = Field(description="why there is no value or no interval; empty where there is nothing to say")
    unit: Unit
    events: Number | None
    trials: Number | None
    n_used: int
    n_excluded: int
    n_clusters: int
    design_effect: Number | None
    describes: Describes
    estimand: str
    coverage: Coverage | None = Field(
        default=None,
        description="measured coverage of the interval's method at the nearest design; null where none was",
    )

    def with_std_error(self, kind: str) -> "Estimate":
        """The estimate under its id ``[se=kind]``: the same value and interval, another standard error.

        Raises:
            RequestError: this estimate has no standard error of that kind.
        """
        if kind not in self.std_errors:
            known = ", ".join(self.std_errors) or "none"
            raise RequestError(f'{self.id} has no standard error "{printable(kind)}"; it has: {known}')
        named = EstimateId(self.statistic, self.source, {**self.params, "se": kind})
        return self.model_copy(
            update={"id": str(named), "params": dict(named.params), "std_error": self.std_errors[kind]}
        )

    def with_p_value(self, kind: str) -> "Estimate":
        """The p value under its id ``[p=kind]``: raw, holm, max_t or bh.

        Raises:
            RequestError: this estimate has no p value of that kind.
        """
        if kind not in self.p_values:
            known = ", ".join(self.p_values) or "none"
            raise RequestError(f'{self.id} has no p value "{printable(kind)}"; it has: {known}')
        return self._derived("p", kind, self.p_values[kind], f"{kind} p of {self.estimand}; {self.family}")

    def with_interval(self, kind: str) -> "Estimate":
        """The estimate under its id ``[interval=max_t]``: the same value, ends that hold for its whole family at once.

        Raises:
            RequestError: this estimate stands in no family, or another kind is asked for.
        """
        if kind != "max_t" or self.simultaneous is None:
            known = "max_t" if self.simultaneous is not None else "none"
            raise RequestError(f'{self.id} has no further interval "{printable(kind)}"; it has: {known}')
        low, high = self.simultaneous
        found = self._derived("interval", kind, self.estimate, self.estimand)
        return found.model_copy(
            update={"ci_low": low, "ci_high": high, "interval_method": "max_t", "reason": self.family}
        )

    def with_quantity(self, kind: str) -> "Estimate":
        """The smallest difference these data can find, under its id ``[quantity=detectable]``.

        Raises:
            RequestError: this estimate has none, or another quantity is asked for.
        """
        if kind != "detectable" or self.detectable is None:
            known = "detectable" if self.detectable is not None else "none"
            raise RequestError(f'{self.id} has no quantity "{printable(kind)}"; it has: {known}')
        said = f"smallest true value found with 80 % power at Holm's strictest level of its family, of: {self.estimand}"
        return self._derived("quantity", kind, self.detectable, said)

    def _derived(self, name: str, kind: str, value: float | None, estimand: str) -> "Estimate":
        """Another number of this estimate under an id of its own, without this one's interval."""
        named = EstimateId(self.statistic, self.source, {**self.params, name: kind})
        nothing = dict.fromkeys(("std_error", "ci_low", "ci_high", "interval_scale", "interval_df", "design_effect"))
        return self.model_copy(
            update={
                **nothing,
                "id": str(named),
                "params": dict(named.params),
                "estimate": value,
                "std_errors": {},
                "interval_std_error": None,
                "interval_method": "none",
                "reason": self.family,
                "p_values": {},
                "simultaneous": None,
                "detectable": None,
                "coverage": None,
                "estimand": estimand,
            }
        )


_OTHER_NUMBERS: dict[str, Callable[[Estimate, str], Estimate]] = {
    "se": Estimate.with_std_error,
    "p": Estimate.with_p_value,
    "interval": Estimate.with_interval,
    "quantity": Estimate.with_quantity,
}
"""Parameters of ids that name another number of an estimate."""


class Table(_Saved):
    """A small table a report draws from; every row has one cell a column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def records(self) -> list[dict[str, Cell]]:
        """The rows as dictionaries."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class SourceFile(_Saved):
    """One source as it was read."""

    name: str
    sha256: str
    rows: int


class Data(_Saved):
    """What came in and what became of it: rows read = rows used + rows excluded."""

    sources: tuple[SourceFile, ...]
    rows_read: int = Field(description="judge verdict slots: responses × criteria × judges × conditions")
    rows_used: int
    rows_excluded: dict[str, int] = Field(description="slots that no agreement statistic uses, by named reason")
    source_rows: dict[str, int] = Field(description="what became of the rows of the files, by named fate")
    n_responses: int
    n_criteria: int
    n_clusters: int
    judges: tuple[str, ...]
    has_reference: bool


class Declarations(_Saved):
    """Every choice that moves a number."""

    scale: str
    levels: tuple[str, ...]
    positive: str | None
    scale_reading: str
    abstention_mode: str
    tie_handling: str
    criteria: Literal["shared", "per-cluster"]
    cluster_unit: str
    n_units: int = Field(description="resampling units: the clusters, or random groups of them")
    second_unit: str = Field(default="", description="what is resampled beside the clusters, where two units cross")
    n_second_units: int = 0
    conditions: dict[str, int] = Field(description="facet → how many values it takes in these data")
    cuts: tuple[Number, ...]
    reliability: Number | None = Field(default=None, description="of the scores, where it was given")
    interval_method: str
    resamples: int
    seed: int
    confidence_level: Number
    reading: dict[str, str] = Field(description="role → column as read")


class Audit(_Saved):
    """A whole audit as saved in ``audit.json``."""

    schema_: Literal["evenhand.audit/1"] = Field(alias="schema", default="evenhand.audit/1")
    evenhand_version: str
    data: Data
    declarations: Declarations
    estimates: tuple[Estimate, ...]
    tables: dict[str, Table]
    checklist: tuple[dict[str, str], ...] = ()
    warnings: tuple[str, ...]

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def __iter__(self) -> Iterator[Estimate]:  # type: ignore[override]
        return iter(self.estimates)

    def get(self, text: str) -> Estimate | None:
        """The estimate with this id, or None; ``[se=]``, ``[p=]``, ``[interval=]`` and ``[quantity=]`` pick its other numbers."""
        wanted = EstimateId.parse(text)
        found = self._index().get(str(wanted))
        for name, pick in _OTHER_NUMBERS.items() if found is None else ():
            base = self._index().get(str(wanted.without(name))) if name in wanted.params else None
            if base is not None and not (name == "quantity" and base.detectable is None):
                return pick(base, wanted.params[name])
        return found

    def __getitem__(self, text: str) -> Estimate:
        found = self.get(text)
        if found is None:
            raise RequestError(
                f'no estimate "{printable(text)}" in this audit'
                + did_you_mean(text, [estimate.id for estimate in self.estimates])
            )
        return found

    def _index(self) -> dict[str, Estimate]:
        """Estimates by id, made once for these very estimates (a copy with others makes its own)."""
        known: tuple[tuple[Estimate, ...], dict[str, Estimate]] | None = self.__dict__.get("_by_id")
        if known is None or known[0] is not self.estimates:
            known = (self.estimates, {estimate.id: estimate for estimate in self.estimates})
            self.__dict__["_by_id"] = known
        return known[1]

    def of(self, statistic: str, source: str, **params: str) -> Sequence[Estimate]:
        """All estimates of a statistic and source whose parameters include these."""
        return [
            estimate
            for estimate in self.estimates
            if estimate.statistic == statistic
            and estimate.source == source
            and all(estimate.params.get(name) == value for name, value in params.items())
        ]

    def to_json(self) -> str:
        """Strict JSON, keys in declared order, numbers at full precision, a final newline."""
        document = self.model_dump(mode="json", by_alias=True)
        return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    @classmethod
    def load(cls, place: str | Path) -> Self:
        """Read ``audit.json``, or the one in a folder.

        Raises:
            SourceError: there is none, or it was not written by this schema.
        """
        path = Path(place)
        shown = printable(str(path))
        try:
            path = path / "audit.json" if path.is_dir() else path
            return cls.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            raise SourceError(f"{shown}: no saved audit there; evenhand audit SOURCE --out DIR writes one") from None
        except OSError as problem:
            raise SourceError(f"{shown}: {problem.strerror}") from None
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise SourceError(f"{shown}: not an audit of schema {SCHEMA} ({where}: {first['msg']})") from None


def json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of ``audit.json``."""
    schema = Audit.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


SCHEMA_FILE = Path(__file__).parent / "schemas" / "audit.schema.json"
"""The same, as it comes with the package; scripts/write_schema.py keeps it current."""


def schema_text() -> str:
    """The schema as a text file."""
    return json.dumps(json_schema(), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
