"""A plan: what is judged, by whom, under which conditions, and what the reading will hold it to; a TOML file with its hash."""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, field_validator, model_validator

from evenhand.design.locating import MisfitError, located
from evenhand.design.request import digest
from evenhand.errors import RequestError, SourceError, did_you_mean, printable
from evenhand.verdicts.parsing.forms import declared_form
from evenhand.verdicts.spec import ScaleKind, Spec

BackendName = Literal["openai", "embedded", "inspect", "batch", "callable", "replay"]
Primary = Literal["label_effect", "drift", "phrasing", "agreement"]
UnitOfReading = Literal["learner", "cluster", "response"]
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
    group: tuple[str, ...] = ()
    """Columns that say who a learner is: they go into the verdict table and never into a prompt."""
    criteria: str | None = None
    rubric: str | None = None

    @field_validator("text", "group", mode="before")
    @classmethod
    def _several(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("criteria")
    @classmethod
    def _is_pattern(cls, value: str | None) -> str | None:
        if value is not None and "{criterion}" not in value:
            raise ValueError("names the columns with the lines' texts by a pattern, such as claim_{criterion}")
        return value

    @model_validator(mode="after")
    def _groups_stay_out(self) -> Self:
        told = next((name for name in self.group if name in self.text), None)
        if told is not None:
            raise ValueError(f'"{printable(told)}" is a group, and groups never reach a prompt: take it out of text')
        return self


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
    """One judge: a model behind a backend, and the settings that are sent; what is not named is the provider's default.

    Attributes:
        base_url: of the server; the provider's own where it is None.
        key: environment variable that holds the key. Where it is None, OPENAI_API_KEY is used for the provider's own server and
            nothing is sent to any other.
    """

    name: _Name
    model: _Name
    backend: BackendName = "openai"
    base_url: str | None = None
    key: str | None = None
    replies: str | None = None
    timeout: float = Field(default=120.0, gt=0)
    settings: dict[str, Any] = {}

    @field_validator("settings")
    @classmethod
    def _not_reserved(cls, value: dict[str, Any]) -> dict[str, Any]:
        taken = [name for name in value if name in _RESERVED_SETTINGS]
        if taken:
            raise ValueError(f"{taken[0]} is not a setting: the plan itself says it")
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError(
                "settings are sent as JSON: texts, finite numbers, true, false, lists and tables"
            ) from None
        return value

    @field_validator("key")
    @classmethod
    def _names_a_variable(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,60}", value):
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
        prior_mark: whether its mark is told too.
        examples: marked answers to the same question, and what is done to their marks.
        shift: points by which ``up`` and ``down`` move the marks of examples, within the scale.
    """

    name: _Name
    block: str | None = None
    label: Literal["own", "opposite_tail"] | None = None
    prior: Literal["low", "high"] | None = None
    prior_mark: bool = True
    examples: Literal["correct", "unmarked", "shuffled", "up", "down"] | None = None
    shift: float = Field(default=2.0, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _says_what_it_tells(self) -> Self:
        if self.block is None and (self.label or self.prior or self.examples):
            raise ValueError('it tells something, so it needs block = "builtin:block/..." or a template of your own')
        return self

    @property
    def is_bare(self) -> bool:
        """Whether nothing is added to the prompt."""
        return self.block is None


class FacetsPart(_Part):
    """Conditions besides wording and arm.

    Attributes:
        occasions: how often the same is asked.
        order: orders in which two answers are shown.
        example_order: orders in which arms with examples show them, by their marks.
    """

    occasions: int = Field(default=1, ge=1, le=1_000)
    order: tuple[Literal["AB", "BA"], ...] = ()
    example_order: tuple[Literal["rising", "falling", "mixed"], ...] = Field(default=("rising",), min_length=1)

    @field_validator("order", "example_order")
    @classmethod
    def _once_each(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(value)) < len(value):
            raise ValueError("an order stands twice; a repeat is an occasion")
        return value


class TailsPart(_Part):
    """Two tails of attainment, as many responses from each."""

    high: FiniteFloat = 6.0
    low: FiniteFloat = 4.0
    n: int = Field(ge=2)


class DrawPart(_Part):
    """Which responses are judged."""

    n: int | None = Field(default=None, ge=1)
    strata: str | None = None
    equal: bool = False
    """As many from each stratum as there are of it, instead of in proportion to its size."""
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
    """What the run is for: the contrast, its unit, the effects whose chances are shown and the margins it is held to.

    Attributes:
        primary: the contrast; told from the arms where it is left out.
        arms: the two arms of a drift, the one read and the one it is held against.
        unit: what is resampled: the one that the context belongs to.
        effects: effects, in points of the scale, whose chance of being seen is shown.
        margins: differences that would not matter.
    """

    primary: Primary | None = None
    arms: tuple[str, str] | None = None
    unit: UnitOfReading | None = None
    effects: tuple[Annotated[float, Field(gt=0, allow_inf_nan=False)], ...] = ()
    margins: dict[str, FiniteFloat] = {}


class FloorPart(_Part):
    """What must not be missed, and what simulated worlds assume; everything in points of the scale.

    What is not set follows from the scale (see ``worlds.Assumptions``); numbers of a pilot run are better.

    Attributes:
        effect: the smallest effect that must be seen in 80 % of worlds.
        half_width: for agreement: the widest half of an interval that is narrow enough.
        bias: the judge's mean error.
        mark_sd: SD over responses of the judge's mark about the reference, the bias left out.
        repeat_sd: SD of a mark from one call to the next with the same prompt.
        effect_sd: SD of the effect from response to response.
        unit_sd: SD of the effect (for agreement: of the judge's error) from unit to unit.
        step: distance between two marks a judge gives; 0 for any number.
        error_rate: share of wrong verdicts, on a scale of labels.
        flip_rate: share of verdicts that another call with the same prompt turns.
        icc: intraclass correlation of errors within a unit, on a scale of labels.
    """

    effect: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    half_width: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    bias: FiniteFloat = 0.0
    mark_sd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    repeat_sd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    effect_sd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    unit_sd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    step: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    error_rate: float = Field(default=0.1, ge=0, le=0.5)
    flip_rate: float = Field(default=0.03, ge=0, le=0.5)
    icc: float = Field(default=0.05, ge=0, lt=1)


def _label_arms(arms: Sequence[ArmPart]) -> tuple[str, str] | None:
    """The arms that state a learner's own attainment and one of the opposite tail."""
    own = next((one.name for one in arms if one.label == "own"), None)
    opposite = next((one.name for one in arms if one.label == "opposite_tail"), None)
    return (own, opposite) if own and opposite else None


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
    floor: FloorPart = FloorPart()
    prices: str | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for what, names in (
            ("judge", [one.name for one in self.judge]),
            ("phrasing", [one.name for one in self.phrasing]),
            ("arm", [one.name for one in self.arm]),
        ):
            twice = next((place for place, name in enumerate(names) if name in names[:place]), None)
            if twice is not None:
                raise MisfitError((what, twice, "name"), f'two of [[{what}]] are called "{printable(names[twice])}"')
        if self.scale.kind == "pairwise" and len(self.bank.text) < 2:
            raise MisfitError(("bank", "text"), "a pairwise scale compares two texts: name both")
        self._arms_are_fed()
        self._reading_is_possible()
        declared_form(self.spec())
        return self

    def _arms_are_fed(self) -> None:
        for place, one in enumerate(self.arm):
            if (one.label or one.prior or one.examples) and not (self.bank.reference and self.bank.learner):
                raise MisfitError(
                    ("arm", place),
                    f'"{printable(one.name)}" tells the judge about learners, which needs [bank] learner and reference (their marks)',
                )
            if (one.prior or one.examples) and not self.bank.cluster:
                raise MisfitError(
                    ("arm", place),
                    f'"{printable(one.name)}" shows other answers to the same question, which needs [bank] cluster',
                )
            if one.label == "opposite_tail" and self.draw.tails is None:
                raise MisfitError(
                    ("arm", place, "label"),
                    'label = "opposite_tail" needs [draw] tails = { high = 6, low = 4, n = 100 }',
                )

    def _reading_is_possible(self) -> None:
        read, names = self.read, [one.name for one in self.arm]
        unknown = next((name for name in read.arms or () if name not in names), None)
        if unknown is not None:
            raise MisfitError(
                ("read", "arms"), f'no [[arm]] is called "{printable(unknown)}"{did_you_mean(unknown, names)}'
            )
        if read.primary is not None and read.primary != "agreement" and self.contrast is None:
            needs = {
                "label_effect": 'an [[arm]] with label = "own" and one with label = "opposite_tail"',
                "drift": "an [[arm]] with a block and one without, or arms = [READ, AGAINST]",
                "phrasing": "two [[phrasing]]",
            }[read.primary]
            raise MisfitError(("read", "primary"), f"{read.primary} needs {needs}")
        if read.primary == "agreement" and not self.bank.reference:
            raise MisfitError(("read", "primary"), "agreement needs [bank] reference")
        columns = {"learner": self.bank.learner, "cluster": self.bank.cluster}
        if read.unit in columns and not columns[read.unit]:
            raise MisfitError(("read", "unit"), f"needs [bank] {read.unit}")

    @property
    def primary(self) -> Primary | None:
        """What the run is read for: as it says, or as its arms, wordings and reference make possible."""
        if self.read.primary is not None:
            return self.read.primary
        if len(self.arm) > 1:
            return "label_effect" if _label_arms(self.arm) else "drift"
        if len(self.phrasing) > 1:
            return "phrasing"
        return "agreement" if self.bank.reference else None

    @property
    def contrast(self) -> tuple[str, str] | None:
        """The two arms or wordings that are read against each other; None where nothing is."""
        if self.primary == "label_effect":
            return _label_arms(self.arm)
        if self.primary == "drift":
            told = next((one.name for one in self.arm if not one.is_bare), None)
            bare = next((one.name for one in self.arm if one.is_bare), None)
            return self.read.arms or ((told, bare) if told and bare else None)
        if self.primary == "phrasing" and len(self.phrasing) > 1:
            return self.phrasing[0].name, self.phrasing[1].name
        return None

    @property
    def unit(self) -> UnitOfReading:
        """What an interval resamples: the learner where the judge is told about learners, else the cluster."""
        if self.read.unit is not None:
            return self.read.unit
        tells_of_learner = any(one.label or one.prior for one in self.arm)
        if self.bank.learner and tells_of_learner:
            return "learner"
        return "cluster" if self.bank.cluster else "response"

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
        pace = {"__all__": {"key", "timeout"}}
        content = self.plan.model_dump(
            mode="json", exclude={"budget": True, "run": True, "prices": True, "judge": pace}
        )
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
        raise RequestError(f"{shown}{located(text, problem, Plan)}") from None
    except RequestError as problem:
        raise RequestError(f"{shown}: [reply]: {problem}") from None


def _finite(content: Any) -> Any:
    """JSON without infinities: what is not set stands as null."""
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items()}
    if isinstance(content, list):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and content in (float("inf"), float("-inf")) else content
