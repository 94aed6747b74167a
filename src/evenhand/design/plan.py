"""A plan: what is judged, by whom, under which conditions, and what the reading will hold it to; a TOML file with its hash."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, field_validator, model_validator

from evenhand.design.request import digest
from evenhand.errors import RequestError, SourceError, did_you_mean, printable
from evenhand.verdicts.parsing.forms import declared_form
from evenhand.verdicts.spec import ScaleKind, Spec

BackendName = Literal["openai", "embedded", "inspect", "batch", "callable", "replay"]
_Name = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f]+$")]
_RESERVED_SETTINGS = ("model", "messages", "response_format", "stream", "n", "api_key")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BankPart(_Part):
    """The responses: a file and what its columns are."""

    responses: str
    response: str = "response_id"
    cluster: str | None = None
    learner: str | None = None
    reference: str | None = None
    text: tuple[str, ...] = ()
    criteria: str | None = None
    rubric: str | None = None

    @field_validator("text", mode="before")
    @classmethod
    def _several(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("criteria")
    @classmethod
    def _is_pattern(cls, value: str | None) -> str | None:
        if value is not None and "{criterion}" not in value:
            raise ValueError("names the columns with the lines' texts by a pattern, such as claim_{criterion}")
        return value


class ScalePart(_Part):
    """The scale of a verdict."""

    kind: ScaleKind
    levels: tuple[str, ...] = ()
    range: tuple[FiniteFloat, FiniteFloat] | None = None
    positive: str | None = None
    tie: tuple[str, ...] = ()
    abstain: tuple[str, ...] = ()

    @field_validator("levels", "tie", "abstain", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return tuple(
                f"{one:g}" if isinstance(one, int | float) and not isinstance(one, bool) else one for one in value
            )
        return (value,) if isinstance(value, str) else value


class ReplyPart(_Part):
    """How a reply becomes a verdict."""

    parse: str
    structured: bool = False
    refusal: tuple[str, ...] = ()


class JudgePart(_Part):
    """One judge: a model behind a backend, and the settings that are sent; what is not named is the provider's default."""

    name: _Name
    model: _Name
    backend: BackendName = "openai"
    base_url: str | None = None
    key: str = "OPENAI_API_KEY"
    replies: str | None = None
    timeout: float = Field(default=120.0, gt=0)
    settings: dict[str, Any] = {}

    @field_validator("settings")
    @classmethod
    def _not_reserved(cls, value: dict[str, Any]) -> dict[str, Any]:
        taken = [name for name in value if name in _RESERVED_SETTINGS]
        if taken:
            raise ValueError(f"{taken[0]} is not a setting: the plan itself says it")
        return value

    @field_validator("key")
    @classmethod
    def _names_a_variable(cls, value: str) -> str:
        if not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,60}", value):
            raise ValueError("names the environment variable that holds the key; a key itself never stands in a plan")
        return value


class PhrasingPart(_Part):
    """One wording of the instruction: a template file of the user's, or one that comes along."""

    name: _Name
    template: str


class ArmPart(_Part):
    """What the judge is additionally told.

    Attributes:
        block: template of the block; nothing is added where it is None.
        label: whose attainment the block states: ``own`` or ``opposite_tail``.
        prior: another learner's answer to the same question: the lowest or highest marked one.
        examples: marked answers to the same question, and what is done to their marks.
    """

    name: _Name
    block: str | None = None
    label: Literal["own", "opposite_tail"] | None = None
    prior: Literal["low", "high"] | None = None
    prior_mark: bool = True
    examples: Literal["correct", "unmarked", "shuffled", "up", "down"] | None = None


class FacetsPart(_Part):
    """Conditions besides wording and arm."""

    occasions: int = Field(default=1, ge=1, le=1_000)
    order: tuple[_Name, ...] = ()


class TailsPart(_Part):
    """Two tails of attainment, as many responses from each."""

    high: FiniteFloat = 6.0
    low: FiniteFloat = 4.0
    n: int = Field(ge=2)


class DrawPart(_Part):
    """Which responses are judged."""

    n: int | None = Field(default=None, ge=1)
    strata: str | None = None
    tails: TailsPart | None = None
    seed: int = Field(default=0, ge=0)


class BudgetPart(_Part):
    """The most a run may take."""

    money: float = Field(default=float("inf"), ge=0)
    tokens: float = Field(default=float("inf"), ge=0)
    calls: float = Field(default=float("inf"), ge=0)


class RunPart(_Part):
    """How a run behaves towards providers."""

    in_flight: int = Field(default=8, ge=1, le=10_000)
    attempts: int = Field(default=5, ge=1, le=100)
    first_wait: float = Field(default=1.0, ge=0)
    most_wait: float = Field(default=60.0, ge=0)


class ReadPart(_Part):
    """What the run is for: the contrast, its unit, the effects it should show and the margins it is held to."""

    primary: Literal["label_effect", "drift", "agreement", "phrasing"] | None = None
    unit: Literal["learner", "cluster", "response"] = "cluster"
    effects: tuple[FiniteFloat, ...] = ()
    margins: dict[str, FiniteFloat] = {}


class Plan(_Part):
    """A design of calls to judges."""

    bank: BankPart
    scale: ScalePart
    reply: ReplyPart
    judge: tuple[JudgePart, ...] = Field(min_length=1)
    phrasing: tuple[PhrasingPart, ...] = Field(min_length=1)
    system: str | None = None
    arm: tuple[ArmPart, ...] = (ArmPart(name="control"),)
    facets: FacetsPart = FacetsPart()
    draw: DrawPart = DrawPart()
    budget: BudgetPart = BudgetPart()
    run: RunPart = RunPart()
    read: ReadPart = ReadPart()
    prices: str | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for what, names in (
            ("judge", [one.name for one in self.judge]),
            ("phrasing", [one.name for one in self.phrasing]),
            ("arm", [one.name for one in self.arm]),
        ):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise ValueError(f'two of [[{what}]] are called "{twice}"')
        if self.scale.kind == "pairwise" and len(self.bank.text) < 2:
            raise ValueError("a pairwise scale compares two texts: name both in [bank] text")
        labelled = [one.name for one in self.arm if one.label or one.prior or one.examples]
        if labelled and (self.bank.reference is None or self.bank.learner is None):
            raise ValueError(
                f'arm "{labelled[0]}" tells the judge about learners, which needs [bank] learner and reference (their marks)'
            )
        if any(one.label == "opposite_tail" for one in self.arm) and self.draw.tails is None:
            raise ValueError('label = "opposite_tail" needs [draw] tails = { high = 6, low = 4, n = 100 }')
        declared_form(self.spec())
        return self

    def spec(self) -> Spec:
        """The scale and the form of a reply, as an audit knows them."""
        scale = self.scale
        return Spec.of(
            scale=scale.kind,
            levels=scale.levels,
            range=scale.range,
            positive=scale.positive,
            tie=scale.tie,
            abstain=scale.abstain,
            parse=self.reply.parse,
            refusal=self.reply.refusal,
        )


class SavedPlan(BaseModel):
    """A plan with the place its files are relative to, and the hash of all of it."""

    model_config = ConfigDict(frozen=True)

    plan: Plan
    folder: Path
    name: str
    files: dict[str, str]
    """SHA-256 of every file the plan names, templates included."""

    @property
    def hash(self) -> str:
        """Of the plan's content and of its files; of neither budget nor pace nor place, which change no verdict."""
        content = self.plan.model_dump(mode="json", exclude={"budget", "run", "prices"})
        return digest({"plan": _finite(content), "files": self.files})


def parse_plan(text: str, shown: str) -> Plan:
    """A plan from TOML text.

    Raises:
        SourceError: not TOML.
        RequestError: an unknown name, a value out of its range, or parts that do not fit together; with the line.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise SourceError(f"{shown}: not TOML: {printable(str(problem))}") from None
    try:
        return Plan(**values)
    except ValidationError as problem:
        raise RequestError(f"{shown}{_located(text, problem)}") from None
    except RequestError as problem:
        raise RequestError(f"{shown}: [reply]: {problem}") from None


def _located(text: str, problem: ValidationError) -> str:
    """The first fault with its line and its place in words."""
    first = problem.errors()[0]
    place: Sequence[str | int] = [part for part in first["loc"] if part != "function-after"]
    line = _line_of(text, place)
    where = _in_words(place)
    said = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        said = "unknown name" + did_you_mean(str(place[-1]), _names_beside(place))
    elif first["type"] == "missing":
        said = "is missing"
    else:
        given = printable(repr(first["input"]))[:60] if not isinstance(first["input"], dict) else ""
        said += f" (got {given})" if given else ""
    return f"{f' line {line}' if line else ''}: {where}{said}"


def _in_words(place: Sequence[str | int]) -> str:
    if not place:
        return ""
    head, rest = place[0], place[1:]
    if rest and isinstance(rest[0], int):
        head, rest = f"[[{head}]] number {rest[0] + 1}", rest[1:]
    elif rest:
        head = f"[{head}]"
    return " ".join([printable(str(head)), *(printable(str(part)) for part in rest)]) + ": "


def _names_beside(place: Sequence[str | int]) -> list[str]:
    model: Any = Plan
    for part in place[:-1]:
        if isinstance(part, int):
            continue
        annotation = model.model_fields[part].annotation if part in getattr(model, "model_fields", {}) else None
        inner = getattr(annotation, "__args__", (annotation,))[0] if annotation is not None else None
        model = inner if hasattr(inner, "model_fields") else annotation
    return list(getattr(model, "model_fields", {}))


def _line_of(text: str, place: Sequence[str | int]) -> int:
    """The line of a key, found by its table's header; 0 where it cannot be told."""
    if not place:
        return 0
    lines = text.splitlines()
    table = re.escape(str(place[0]))
    wanted = place[1] if len(place) > 1 and isinstance(place[1], int) else None
    header = re.compile(rf"^\s*\[\[\s*{table}\s*\]\]" if wanted is not None else rf"^\s*\[\s*{table}\b[^\]]*\]")
    starts = [number for number, line in enumerate(lines) if header.match(line)]
    if wanted is not None:
        starts = starts[wanted : wanted + 1]
    names = [str(part) for part in place[1:] if isinstance(part, str)]
    start = starts[0] if starts else -1
    if not names:
        named = re.compile(rf"^\s*{table}\s*[=.]")
        return start + 1 or next((number + 1 for number, line in enumerate(lines) if named.match(line)), 0)
    key = re.compile(rf"^\s*[\"']?{re.escape(names[0])}[\"']?\s*[=.]")
    for number in range(max(start + 1, 0), len(lines)):
        if re.match(r"^\s*\[", lines[number]):
            break
        if key.match(lines[number]):
            return number + 1
    return start + 1


def _finite(content: Any) -> Any:
    """JSON without infinities: what is not set stands as null."""
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items()}
    if isinstance(content, list):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and content in (float("inf"), float("-inf")) else content
