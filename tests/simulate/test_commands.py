"""`evenhand simulate ...`: what is printed and written, what is refused, and what an audit says of a simulated bank."""

import csv
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import duckdb
import pytest

from evenhand.cli import simulating
from evenhand.cli.main import run
from evenhand.results import Audit
from evenhand.simulate import sweeps

SMALL = {
    "sweep": ["--spreads", "0.2,0.8", "--error-rates", "0,0.1", "--replicates", "20"],
    "controls": ["--responses", "100", "--replicates", "4"],
    "phrasing": ["--responses", "30", "--replicates", "20"],
}
N_ROWS = {"sweep": 4, "controls": 28, "phrasing": 4}
N_PLOTS = {"sweep": 1, "controls": 2, "phrasing": 1}


@pytest.mark.parametrize("name", SMALL)
def test_results_are_written_whole_and_alike_in_every_form(command, tmp_path: Path, name: str):
    ending = command("simulate", name, *SMALL[name], "--out", "found")
    assert ending.code == 0, ending.said
    assert ending.err == ""
    out = tmp_path / "found"
    document = json.loads((out / "simulation.json").read_text(encoding="utf-8"))
    with (out / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    columnar = duckdb.sql(f"SELECT * FROM '{out / name}.parquet'")
    assert document["columns"] == header == columnar.columns
    assert len(document["rows"]) == len(rows) == N_ROWS[name]
    assert [list(row) for row in columnar.fetchall()] == document["rows"]
    assert document["schema"] == simulating.SCHEMA
    plots = list(out.glob("*.svg"))
    assert len(plots) == N_PLOTS[name]
    for plot in plots:
        root = ET.fromstring(plot.read_text(encoding="utf-8"))  # noqa: S314  a file of our own
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "nan" not in plot.read_text(encoding="utf-8")
    assert {path.name for path in out.iterdir()} <= set(simulating.kind().names)


@pytest.mark.parametrize("name", SMALL)
def test_the_same_command_gives_the_same_bytes_and_replaces_its_own_folder(command, tmp_path: Path, name: str):
    printed, found = [], []
    for _ in range(2):
        printed.append(command("simulate", name, *SMALL[name], "--out", "found").out)
        found.append(
            {path.name: path.read_bytes() for path in (tmp_path / "found").iterdir() if path.suffix != ".parquet"}
        )
    assert printed[0] == printed[1]
    assert found[0] == found[1]


def test_published_streams_print_the_published_values(command):
    said = command("simulate", "sweep", "--stream", "published").out
    for value in ("0.012", "0.103", "0.298", "0.513", "0.671", "0.724", "0.674", "0.630", "0.495", "0.347"):
        assert value in said
    said = command("simulate", "controls", "--stream", "published").out
    for value in ("0.870", "0.812", "0.773", "0.734", "0.595", "0.523", "0.033", "0.080"):
        assert value in said
    said = command("simulate", "phrasing").out
    for value in ("0.994", "0.177", "0.183", "0.667", "0.988", "0.865"):
        assert value in said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["sweep", "--spreads", "0.2,wide"], '--spreads "0.2,wide" is not a list of numbers'),
        (["sweep", "--spreads", "0.2,1.5"], "spread is 1.5; it must lie between 0 and 1"),
        (["sweep", "--error-rates", "0.7", "--direction", "accept"], "would need a rate of 1.4"),
        (["sweep", "--replicates", "0"], "replicates is 0"),
        (["sweep", "--seed", "-1"], "seed is -1"),
        (["sweep", "--stream", "published", "--seed", "3", "--responses", "9"], "leave --responses, --seed out"),
        (["controls", "--stream", "published", "--replicates", "3"], "leave --replicates out"),
        (["phrasing", "--phrasings", "1"], "phrasings is 1"),
        (["bank", "--out", "b", "--clusters", "900"], "clusters is 900"),
        (["bank", "--out", "b", "--error-rate", ".1", "--false-accept-rate", ".1"], "--error-rate sets both rates"),
        (["bank", "--out", "b", "--error-correlation", ".1"], "give both a place"),
        (["bank", "--out", "b", "--unparsed-rate", ".1"], "--unparsed-rate belongs to --texts"),
        (["bank", "--out", "b", "--texts", "--clusters", "4"], "--clusters does not go with --texts"),
        (["bank", "--out", "b", "--responses", "0"], "responses is 0"),
        (["swep"], 'did you mean "sweep"'),
    ],
    ids=" ".join,
)
def test_what_cannot_be_simulated_is_refused(refused, arguments, says: str):
    refused("simulate", *arguments, says=says)


def test_a_foreign_folder_is_refused_before_the_work(refused, write, monkeypatch):
    write("mine/thesis.txt", "text")
    monkeypatch.setattr(sweeps, "own_sweep", None)
    refused("simulate", "sweep", "--out", "mine", says="holds files that no simulation wrote")
    refused("simulate", "bank", "--out", "mine", says="holds files that no simulated bank wrote")


def test_an_audit_is_no_simulation(command, refused, write):
    write("fine.csv", "item,question,gold,judge\na,q,1,1\nb,r,0,1\n")
    command("audit", "fine.csv", "--out", "out")
    refused("simulate", "sweep", "--out", "out", says="no simulation wrote")


def test_an_interrupted_simulation_leaves_nothing(monkeypatch, tmp_path: Path, capsys):
    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(simulating, "_write_parquet", interrupted)
    assert run(["simulate", "sweep", *SMALL["sweep"], "--out", "deep/found"]) == 130
    assert list(tmp_path.iterdir()) == []
    assert "interrupted; nothing was written" in capsys.readouterr().err


def test_a_bar_shows_only_long_work_and_only_to_a_person(monkeypatch, capsys):
    monkeypatch.setattr(simulating, "_PATIENCE", 0.0)
    with simulating.progress("banks", 10) as step:
        step(5)
        step(5)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(simulating.sys.stderr, "isatty", lambda: True)
    with simulating.progress("banks", 10) as step:
        step(5)
        step(5)
    assert "banks" in capsys.readouterr().err


def planted_and_found(command, tmp_path: Path, *arguments: str) -> tuple[dict, Audit]:
    made = command("simulate", "bank", *arguments, "--out", "bank")
    assert made.code == 0, made.said
    audited = command("audit", "bank/bank.csv", "--blank", "unparsed", "--out", "report")
    assert audited.code == 0, audited.said
    return json.loads((tmp_path / "bank" / "truth.json").read_text(encoding="utf-8")), Audit.load(tmp_path / "report")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--responses", "600"],
        ["--responses", "600", "--error-rate", "0.08"],
        ["--responses", "600", "--false-accept-rate", "0.2", "--false-reject-rate", "0"],
        ["--responses", "900", "--clusters", "60", "--errors-within", "response"],
        ["--responses", "900", "--clusters", "150", "--error-rate", "0.2", "--errors-within", "cluster"],
        ["--responses", "600", "--texts", "--unparsed-rate", "0.05"],
    ],
    ids=" ".join,
)
def test_an_audit_recovers_what_was_planted(command, tmp_path: Path, arguments: list[str]):
    truth, audit = planted_and_found(command, tmp_path, *arguments, "--seed", "2")
    drawn, planted = truth["drawn"], truth["planted"]
    for kind, of_label in (("accept", "absent"), ("reject", "present")):
        rate, found = planted[f"false_{kind}_rate"], audit[f"false_{kind}_rate/judge"]
        assert (found.events, found.trials) == (drawn[f"false_{kind}s"], drawn[f"n_{of_label}"])
        assert found.ci_low <= rate <= found.ci_high
    if "endless_bank" in truth:
        assert audit["kr20/reference"].estimate == pytest.approx(truth["endless_bank"]["kr20_reference"], abs=0.08)
    if "n_unparsed_responses" in drawn:
        assert audit["n_unparsed/judge"].estimate == 10 * drawn["n_unparsed_responses"]


@pytest.mark.parametrize("name", ["sweep", "controls", "phrasing", "bank"])
def test_help_teaches_with_examples(command, name: str):
    ending = command("simulate", name, "--help")
    assert ending.code == 0
    assert f"evenhand simulate {name}" in ending.out.partition("Options:")[0].partition("Usage:")[2].partition("\n")[2]
