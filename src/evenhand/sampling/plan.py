"""What a sample's folder says of itself: how it was drawn, and which file of labels an audit will read."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evenhand.errors import SourceError, printable
from evenhand.output import Kind
from evenhand.report.csv_tables import read_table
from evenhand.sampling.form import Form

SCHEMA = "evenhand.sample/1"
PLAN, KEY, FRAME, NOTE, SHEETS = "plan.json", "key.csv", "frame.csv", "plan.md", "sheets"
FOLDER = Kind("sample", (PLAN, KEY, FRAME, NOTE, SHEETS), PLAN, SCHEMA.partition("/")[0])
KEY_COLUMNS = ("code", "response", "cluster", "stratum", "inclusion_probability", "weight", "raters")
FRAME_COLUMNS = ("response", "stratum", "criterion")
Shape = Literal["single", "long", "wide"]


class _Saved(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Stratum(_Saved):
    """One set of responses of which the judge said the same."""

    name: str
    responses: int
    labels: int
    inclusion_probability: float
    weight: float


class SamplePlan(_Saved):
    """How a sample was drawn, and what its sheets and labels look like."""

    schema_: Literal["evenhand.sample/1"] = Field(alias="schema", default="evenhand.sample/1")
    evenhand_version: str
    sources: dict[str, str] = Field(description="name → SHA-256 of every file that was drawn from")
    seed: int
    by: tuple[str, ...]
    allocation: str
    n_responses: int
    n_labels: int
    n_clusters: int
    n_raters: int
    n_shared: int = Field(description="responses that every rater labels")
    strata: tuple[Stratum, ...]
    form: Form
    not_asked: dict[str, tuple[str, ...]] = Field(description="code → criteria that its response does not have")
    shape: Shape = Field(description="of the labels: one column, a row a criterion, or a column a criterion")
    response_columns: tuple[str, ...] = Field(description="under which the audited file knows a response")
    criterion_column: str
    sha256: dict[str, str] = Field(description="of the key and of the frame, the responses that were not drawn")


class KeyRow(_Saved):
    """A code and what it stands for; the analyst's alone."""

    code: str
    response: str
    cluster: str
    stratum: str
    inclusion_probability: float
    weight: float
    raters: str


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample as its folder holds it.

    Attributes:
        plan: how it was drawn.
        key: by code, in the order of the population.
        frame: response → stratum and first criterion of those that were not drawn.
    """

    plan: SamplePlan
    key: Mapping[str, KeyRow]
    frame: Mapping[str, tuple[str, str]]


def load(folder: Path) -> Sample:
    """Read a sample's folder.

    Raises:
        SourceError: no sample, or a file that was changed since it was drawn.
    """
    shown = printable(str(folder))
    try:
        plan = SamplePlan.model_validate_json((folder / PLAN).read_bytes())
        tables = {name: (folder / name).read_bytes() for name in (KEY, FRAME)}
    except OSError as problem:
        raise SourceError(
            f"{shown}: no sample there ({problem.strerror}); evenhand sample SOURCE --n N --out DIR draws one"
        ) from None
    except ValidationError as problem:
        first = problem.errors()[0]
        raise SourceError(f"{shown}: {PLAN} is not of schema {SCHEMA} ({printable(str(first['msg']))})") from None
    for name, content in tables.items():
        if hashlib.sha256(content).hexdigest() != plan.sha256.get(name):
            raise SourceError(
                f"{shown}: {name} was changed since the draw (a spreadsheet changes ids and numbers when it saves): put the original back"
            )
    key, frame = (read_table(content.decode("utf-8")).records() for content in tables.values())
    rows = [KeyRow.model_validate(row) for row in key]
    others = {str(row["response"]): (str(row["stratum"]), str(row["criterion"])) for row in frame}
    return Sample(plan, {row.code: row for row in rows}, others)
