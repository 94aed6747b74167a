"""The Python face."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import evenhand
from evenhand import api, saving
from evenhand.errors import (
    EvenhandError,
    OutputError,
    RequestError,
    SourceError,
    UnmetRequirementError,
)

ROWS = {
    "item": [f"0{n}" for n in range(12)],
    "question": [n % 4 for n in range(12)],
    "gold": [n % 2 for n in range(12)],
    "judge": [1.0 if n in (0, 1, 3) else None if n == 11 else 0.0 for n in range(12)],
}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture
def fine(write):
    return write("fine.csv", "item,question,gold,judge\na,q1,1,1\nb,q1,0,1\nc,q2,0,0\nd,q2,1,1\n")


def test_import_is_light():
    code = "import sys, evenhand; print([m for m in ('numpy', 'scipy', 'duckdb', 'pydantic', 'click') if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_public_names():
    assert sorted([*evenhand.__all__, "__version__"]) == dir(evenhand)
    assert all(getattr(evenhand, name).__doc__ for name in evenhand.__all__)
    assert evenhand.__version__
    with pytest.raises(AttributeError, match="no attribute 'audti'"):
        _ = evenhand.audti


@pytest.mark.parametrize("library", FRAMES)
def test_frames_give_the_same_numbers_and_fingerprint(library):
    expected = evenhand.audit(pl.DataFrame(ROWS), cut=1)
    result = evenhand.audit(FRAMES[library](ROWS), cut=1)
    assert result.audit == expected.audit
    assert result.audit.data.sources[0].sha256
    assert result["n_missing/judge"].estimate == 1


@pytest.mark.parametrize("library", FRAMES)
def test_frame_in_the_inputs_library(library):
    result = evenhand.audit(FRAMES[library](ROWS))
    frame = result.frame()
    assert type(frame).__module__.split(".")[0] == library
    assert len(frame) == len(result.audit.estimates)
    assert type(result.frame("pandas")).__module__.startswith("pandas")
    assert list(result.frame("pandas")["id"]) == [estimate.id for estimate in result.audit]


def test_fingerprint_ignores_row_order_and_heeds_values():
    frame = pl.DataFrame(ROWS)
    digest = evenhand.audit(frame).audit.data.sources[0].sha256
    assert evenhand.audit(frame.reverse()).audit.data.sources[0].sha256 == digest
    assert evenhand.audit(frame.with_columns(gold=1 - pl.col("gold"))).audit.data.sources[0].sha256 != digest


def test_lazy_frame_and_mixed_types():
    result = evenhand.audit(pl.LazyFrame(ROWS))
    assert type(result.frame()).__module__.startswith("polars")
    odd = pd.DataFrame(
        {"item": [7, "007", 7.5], "judge": [True, False, None], "gold": pd.Categorical([True, False, True])}
    )
    assert evenhand.audit(odd)["n_missing/judge"].estimate == 1


def test_frame_from_a_file_and_without_any_library(fine, monkeypatch):
    result = evenhand.audit(fine)
    assert type(result.frame()).__module__.startswith("polars")

    def absent(*_args, **_kwargs):
        raise ModuleNotFoundError

    monkeypatch.setattr(api.nw, "from_dict", absent)
    with pytest.raises(RequestError, match=r"pip install 'evenhand\[polars\]'"):
        result.frame()


def test_labels_as_frame_and_file(fine, write):
    judge = pl.DataFrame({"item": ["a", "b", "c"], "judge": [1, 0, 1]})
    human = pd.DataFrame({"item": ["c", "b", "a"], "human": [0, 0, 1]})
    expected = 2 / 3
    assert evenhand.audit(judge, labels=human)["observed_agreement/judge"].estimate == pytest.approx(expected)
    assert evenhand.audit(judge, human)["observed_agreement/judge"].estimate == pytest.approx(expected)
    labels = write("h.csv", "item,human\na,1\nb,0\nc,0\n")
    assert evenhand.audit(judge, labels=labels)["observed_agreement/judge"].estimate == pytest.approx(expected)


def test_options_of_every_kind(fine):
    result = evenhand.audit(str(fine), response="item", cut=[1], seed=3, spec=evenhand.Spec(seed=1, resamples=200))
    assert (result.spec.seed, result.spec.resamples, result.spec.cut) == (3, 200, (1.0,))
    assert "4 verdicts = 4 used" in repr(result)
    assert "doctype html" in result._repr_html_().lower()


def test_progress_is_told(fine):
    said = []
    evenhand.audit(fine, progress=said.append)
    assert said[0] == "reading"
    assert len(said) >= 3


def test_report_and_require(fine, tmp_path):
    result = evenhand.audit(fine)
    assert result.report(tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert result.report(str(tmp_path / "r.md")) == tmp_path / "r.md"
    with pytest.raises(RequestError, match=r"named \.html or \.md"):
        result.report(tmp_path / "r.csv")
    with pytest.raises(OutputError, match="was not written by evenhand"):
        result.report(_written(tmp_path / "mine.html"))
    result.require("observed_agreement/judge.estimate >= 0.7", "n_verdicts/judge == 4")
    with pytest.raises(UnmetRequirementError, match=r"failed +observed_agreement/judge.estimate > 0.9: estimate 0.75"):
        result.require("observed_agreement/judge.estimate > 0.9")
    with pytest.raises(UnmetRequirementError, match="absent"):
        result.require("nothing/judge > 0")


def _written(path: Path) -> Path:
    path.write_text("<p>mine</p>", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("sources", "options", "kind", "words"),
    [
        ((), {}, RequestError, "no source"),
        ((3,), {}, RequestError, 'cannot read "int"'),
        (("fi\0ne.csv",), {}, SourceError, "NUL"),
        (("fi\udcffne.csv",), {}, SourceError, "not UTF-8"),
        ((pl.DataFrame({"item": [], "judge": []}),), {}, SourceError, "no data rows"),
        ((pl.DataFrame(),), {}, SourceError, "no data rows"),
        ((pd.DataFrame([[1, 2]], columns=["item", "item"]),), {}, SourceError, "item"),
        ((pl.DataFrame({"item": ["a"], "Item": ["b"], "judge": [1]}),), {}, SourceError, "column names stand twice"),
        ((pd.DataFrame({"item": pd.Series(["\ud800"], dtype=object), "judge": [1]}),), {}, SourceError, "UTF-8"),
        ((pd.DataFrame({0: ["a"], 1: [1]}),), {}, EvenhandError, "which column identifies a response"),
        ((pl.DataFrame(ROWS),), {"jugde": "x"}, RequestError, 'unknown name "jugde"; did you mean "judge"'),
        ((pl.DataFrame(ROWS),), {"cut": [float("nan")]}, RequestError, "cut"),
        ((pl.DataFrame(ROWS),), {"spec": "nowhere.toml"}, SourceError, r"nowhere\.toml"),
        ((pl.DataFrame(ROWS),), {"out": "o\0ut"}, OutputError, "NUL"),
    ],
)
def test_what_cannot_be_done_is_one_exception(sources, options, kind, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=words) as caught:
        evenhand.audit(*sources, **options)
    assert isinstance(caught.value, EvenhandError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", ["save_report", "_write_arrays", "write_run"])
@pytest.mark.parametrize("problem", [RuntimeError("killed"), KeyboardInterrupt()])
def test_a_kill_while_saving_leaves_the_old_audit_and_nothing_else(fine, tmp_path, monkeypatch, step, problem):
    out = tmp_path / "out"
    evenhand.audit(fine, out=out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}

    def killed(*_args, **_kwargs):
        raise problem

    monkeypatch.setattr(saving, step, killed)
    for place in (out, tmp_path / "deep" / "new"):
        with pytest.raises(type(problem)):
            evenhand.audit(fine, out=place)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fine.csv", "out"]


def test_out_is_checked_before_anything_is_read(tmp_path):
    (tmp_path / "out").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="is not a folder"):
        evenhand.audit(tmp_path / "no such.csv", out=tmp_path / "out")


def test_a_parquet_file_torn_in_the_middle_is_a_sentence(write, tmp_path):
    frame = pl.DataFrame(
        {
            "item": [f"{n:08}" for n in range(60_000)],
            "gold": [n * 7 % 11 % 2 for n in range(60_000)],
            "judge": [1] * 60_000,
        }
    )
    frame.write_parquet(tmp_path / "t.parquet", compression="zstd")
    content = bytearray((tmp_path / "t.parquet").read_bytes())
    middle = len(content) // 3
    content[middle : middle + 4_000] = b"\xff" * 4_000
    torn = write("torn.parquet", bytes(content))
    with pytest.raises(SourceError, match="cannot be read"):
        evenhand.audit(torn)
