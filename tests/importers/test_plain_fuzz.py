"""Whatever plain files hold: a sentence of ours, or verdicts of which every row is accounted for."""

import io
import json
import random
import tempfile
import unicodedata
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workbooks import workbook

from evenhand.converting import Conversion, convert
from evenhand.errors import EvenhandError, printable
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.spec import Spec
from terminal_text import raw_controls

LENIENT = {"deadline": None, "suppress_health_check": list(HealthCheck)}
FEW = settings(max_examples=40, **LENIENT)
MANY = settings(max_examples=1_500, **LENIENT)
ROLES = Spec.of(response="item", judge="judge", reference="gold")
LABELS = st.sampled_from(
    ["1", "0", "1.0", "", " ", "yes", "YES", "no", "N/A", "-", "3,5", "7/12", "nan", "inf", "x\0y", "é", "e\u0301"]
)
TEXTS = st.one_of(LABELS, st.text(max_size=6), st.integers(-5, 10**20).map(str), st.floats().map(repr))
IDS = st.one_of(st.sampled_from(["a", "007", "7", "1e3", "caf\u00e9", "cafe\u0301", "", " a"]), st.text(max_size=4))
ROWS = st.lists(st.tuples(IDS, TEXTS, TEXTS), max_size=12)
HEADS = st.one_of(
    st.just(["item", "gold", "judge"]),
    st.lists(
        st.one_of(
            st.sampled_from(["item", "gold", "judge", "gold_1", "judge_1", "rater", "status", ""]), st.text(max_size=5)
        ),
        max_size=5,
    ),
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=8,
)


def read_or_refuse(data: bytes, name: str, spec: Spec) -> bool:
    """Read a file as single verdicts; whether it could be read. Accounting balances, or the refusal is one safe sentence."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        try:
            with Engine() as engine:
                must_balance(engine, convert(engine, [path], spec))
        except EvenhandError as problem:
            said = str(problem)
            assert said
            assert raw_controls(printable(said)) == []
            assert folder not in said
            return False
    return True


def must_balance(engine: Engine, made: Conversion) -> None:
    """Every row is a verdict slot of each judge and criterion, or left out by name; a value is there where it is scored."""
    reading = made.reading
    (rows,) = engine.one(f"SELECT count(*) FROM {reading.sources[0].relation}")
    (slots,) = engine.one(f"SELECT count(*) FROM {reading.relation}")
    assert slots == sum(count for kind, _, _, count in made.verdicts.counts() if kind == "judge")
    if reading.layout == "paired" and not reading.spec.rater:
        blank = sum(count for fate, count in made.fates if "blank rows left out" in fate)
        per_row = len(reading.raters) * (1 if reading.spec.criterion else len(reading.criteria))
        assert rows == slots / per_row + blank
    for value, status in engine.rows(f"SELECT value, status FROM {made.verdicts.relation}"):
        assert (value is None) == (status != "scored")


def as_csv(head, rows, delimiter=","):
    def cell(text):
        return '"' + text.replace('"', '""') + '"'

    return "\n".join(delimiter.join(map(cell, row)) for row in [head, *rows]).encode("utf-8", "replace")


def layers(test, **drawn):
    """A test in the fast layer and, marked, in the long one."""
    return FEW(given(**drawn)(test)), pytest.mark.slow(MANY(given(**drawn)(test)))


def _csv(head, rows, delimiter):
    read_or_refuse(as_csv(head, [row[: len(head)] for row in rows], delimiter), "t.csv", Spec())


def _roles(rows, options):
    read_or_refuse(as_csv(["item", "gold", "judge"], rows), "t.csv", ROLES.model_copy(update=options))


def _bytes(data, name):
    read_or_refuse(data, name, Spec())


def _json(values, name):
    text = "\n".join(json.dumps(value) for value in values) if name.endswith("jsonl") else json.dumps(values)
    read_or_refuse(text.encode(), name, Spec())


def _sheet(head, rows):
    shown = [[cell if cell.isprintable() else "x" for cell in row] for row in [head, *rows]]
    read_or_refuse(workbook({"S": [list(row) for row in shown]}), "t.xlsx", Spec())


def _frame(rows):
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    written = io.BytesIO()
    frame = pl.DataFrame(
        {name: list(column) for name, column in zip(("item", "gold", "judge"), columns, strict=True)},
        schema=dict.fromkeys(("item", "gold", "judge"), pl.String),
    )
    frame.write_parquet(written)
    read_or_refuse(written.getvalue(), "t.parquet", Spec())


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "decimal": st.sampled_from([",", "."]),
        "fractions": st.booleans(),
        "clean": st.lists(st.sampled_from(["trim", "case", "zero-width"]), unique=True).map(tuple),
        "na": st.sampled_from([("-",), ("N/A", "nan")]),
        "blank": st.sampled_from(["missing", "unparsed", "abstained"]),
        "scale": st.sampled_from(["binary", "nominal", "ordinal", "continuous"]),
    },
)
NAMES = st.sampled_from(["t.csv", "t.jsonl", "t.json", "t.parquet", "t.xlsx", "t.tsv"])
test_csv, test_csv_long = layers(_csv, head=HEADS, rows=ROWS, delimiter=st.sampled_from(",;\t|"))
test_roles, test_roles_long = layers(_roles, rows=ROWS, options=OPTIONS)
test_bytes, test_bytes_long = layers(_bytes, data=st.binary(max_size=300), name=NAMES)
test_json, test_json_long = layers(
    _json, values=st.lists(JSON, max_size=4), name=st.sampled_from(["t.json", "t.jsonl"])
)
test_sheet, test_sheet_long = layers(_sheet, head=HEADS, rows=ROWS)
test_frame, test_frame_long = layers(_frame, rows=ROWS)


# --- broken copies of whole files ---

SMALL = [(f"r{n}", str(n % 2), str((n // 2) % 2)) for n in range(40)]


def whole(ending: str) -> bytes:
    """A sound file of this kind."""
    frame = pl.DataFrame(SMALL, schema=["item", "gold", "judge"], orient="row")
    written = io.BytesIO()
    match ending:
        case "csv":
            return as_csv(["item", "gold", "judge"], SMALL)
        case "jsonl":
            frame.write_ndjson(written)
        case "json":
            frame.write_json(written)
        case "parquet":
            frame.write_parquet(written)
        case "arrow":
            frame.write_ipc(written)
        case "xlsx":
            return workbook({"S": [["item", "gold", "judge"], *SMALL]})
    return written.getvalue()


def broken(data: bytes, draw: random.Random) -> bytes:
    """Cut, flipped, doubled or reordered in one place or several."""
    places = sorted(draw.randrange(len(data)) for _ in range(3))
    match draw.randrange(4):
        case 0:
            return data[: places[0]]
        case 1:
            changed = bytearray(data)
            for place in places:
                changed[place] ^= 1 << draw.randrange(8)
            return bytes(changed)
        case 2:
            return data[: places[1]] + data[places[0] :]
    return data[: places[0]] + data[places[1] : places[2]] + data[places[0] : places[1]] + data[places[2] :]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json", "parquet", "xlsx", "arrow"])
@pytest.mark.parametrize("rounds", [25, pytest.param(800, marks=pytest.mark.slow)])
def test_broken_copies_are_refused_or_accounted_for(ending, rounds):
    data = whole(ending)
    assert read_or_refuse(data, f"t.{ending}", Spec())
    for seed in range(rounds):
        read_or_refuse(broken(data, random.Random(f"{ending} {seed}")), f"t.{ending}", Spec())


def test_nested_beyond_reason_is_refused():
    deep = '{"item": "a", "judge": 1, "x": ' + "[" * 100_000 + "]" * 100_000 + "}"
    assert not read_or_refuse(deep.encode(), "t.jsonl", Spec())
    assert not read_or_refuse(f"[{deep}]".encode(), "t.json", Spec())
    nested = '{"item": "a", "judge": 1, "gold": 0, "x": ' + '{"y": [' * 30 + "]}" * 30 + "}"
    assert read_or_refuse(nested.encode(), "t.jsonl", Spec())


def test_the_texts_used_here_are_odd_enough():
    assert unicodedata.normalize("NFC", "e\u0301") == "é"
