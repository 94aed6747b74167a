"""`evenhand.convert`: frames or paths in, a frame or a file out, the same as the command."""

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import evenhand
from evenhand.errors import KeyClashError, OutputError, RequestError, SourceError

ROWS = {
    "item": ["a", "b", "c", "d"],
    "question": ["q1", "q1", "q2", "q2"],
    "gold": ["1", "0", "0", None],
    "judge": ["1", "1", None, "0"],
    "note": ["x", None, "y", "z"],
}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
COLUMNS = [
    "response_id", "cluster_id", "rater_id", "rater_kind", "value", "status", "reason", "raw_value", "source_file",
    "source_row", "extra.note",
]  # fmt: skip


@pytest.fixture
def source(write):
    lines = [",".join(ROWS), *(",".join(cell or "" for cell in row) for row in zip(*ROWS.values(), strict=True)), ""]
    return write("v.csv", "\n".join(lines))


@pytest.mark.parametrize("library", FRAMES)
def test_frames(library):
    with evenhand.convert(FRAMES[library](ROWS)) as found:
        frame = found.frame()
        assert type(frame).__module__.split(".")[0] == library
        assert found.n_verdicts == len(frame) == 8
        rows = pl.DataFrame(found.frame("pyarrow"))
    assert rows.columns == COLUMNS
    assert rows.schema["source_row"] == pl.Int64
    judged = rows.filter(pl.col("rater_kind") == "judge")
    assert judged["status"].to_list() == ["scored", "scored", "missing", "scored"]
    assert judged["source_row"].to_list() == [1, 2, 3, 4]
    assert found.ledger[-1] == "reference: 4 verdicts = 3 scored + 1 missing (blank)"


def test_the_same_as_the_command(source, command, tmp_path):
    ending = command("convert", source, "--to", "one.jsonl")
    assert ending.code == 0
    found = evenhand.convert(source, to=tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert [f"rows    {line}" for line in found.ledger] == ending.out.splitlines()[: len(found.ledger)]
    row = json.loads((tmp_path / "one.jsonl").read_text().splitlines()[0])
    assert found.frame("polars").row(0, named=True) | {"reason": None} == row | {"reason": None}
    said = command("convert", source, "--explain-row", 3).out
    assert said == found.explain_row(3) + "\n"


def test_a_written_table_audits_to_the_same_numbers(source, tmp_path):
    found = evenhand.convert(source)
    assert found.write(tmp_path / "t.parquet") == tmp_path / "t.parquet"
    assert evenhand.audit(tmp_path / "t.parquet").audit.estimates == evenhand.audit(source).audit.estimates
    again = evenhand.audit(found.frame("polars"), spec=found.spec)
    assert again["cohen_kappa/judge"] == evenhand.audit(source)["cohen_kappa/judge"]


def test_labels_as_a_frame():
    judge, human = (
        pl.DataFrame({"item": ["a", "b"], "judge": [1, 0]}),
        pd.DataFrame({"item": ["a", "b"], "human": [1, 1]}),
    )
    with evenhand.convert(judge, labels=human) as found:
        assert found.frame()["rater_kind"].to_list() == ["judge", "judge", "reference", "reference"]


def test_refusals(source, tmp_path):
    with pytest.raises(RequestError, match=r"--strict: .*missing"):
        evenhand.convert(source, strict=True, to=tmp_path / "t.parquet")
    assert not (tmp_path / "t.parquet").exists()
    with pytest.raises(RequestError, match="the ending says"):
        evenhand.convert(source, to=tmp_path / "t.doc")
    with pytest.raises(RequestError, match="no source"):
        evenhand.convert()
    with pytest.raises(SourceError, match="no such file"):
        evenhand.convert(tmp_path / "absent.csv")
    with pytest.raises(KeyClashError):
        evenhand.convert(pl.DataFrame({"item": ["a", "a"], "judge": [1, 0]}))
    with evenhand.convert(source) as found:
        with pytest.raises(OutputError):
            found.write(source)
        with pytest.raises(RequestError, match="no such row"):
            found.explain_row(99)
        assert found.n_verdicts == 8, "a refusal does not close it"
        assert len(found.frame()) == 8
    with pytest.raises(RequestError, match="closed"):
        found.frame()
    found.close()
