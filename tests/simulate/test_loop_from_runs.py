"""A grader fitted from its own run and taken through a course by the command; planted lines come back."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from label_runs import LINE, RUN, label_run

import evenhand
from evenhand.errors import RequestError
from evenhand.results import Audit
from evenhand.simulate.loop_estimates import ends_of_draws
from evenhand.simulate.loop_graders import FIELDS, NamedGrader, drawn_graders
from evenhand.simulate.loop_runs import label_runs
from evenhand.simulate.loop_study import Wishes, study

MAPPED = ["--judge", "mark", "--reference", "teacher_mark", "--range", "0,10"]
SMALL = ["--learners", "40", "--draws", "10", "--items", "12"]
OWN = "true-swapped"


@pytest.fixture(scope="module")
def csv() -> bytes:
    return label_run(seed=3).write_csv().encode()


def test_a_run_becomes_ids_that_show_and_check_read(command, write, csv, tmp_path: Path) -> None:
    write("run.csv", csv)
    whole = [*SMALL[:-1], "40"]
    printed = [command("simulate", "loop", "--from", "run.csv", *MAPPED, *whole, "--out", "found") for _ in range(2)]
    assert printed[0].code == 0, printed[0].said
    assert printed[0].out == printed[1].out
    names = {path.name for path in (tmp_path / "found").iterdir()}
    assert {"audit.json", "loop.csv", "loop.md", "simulation.json", "attenuation.csv", "loop-attenuation.svg"} <= names
    for name in ("loop_multiplier", "loop_total", "loop_eigenvalue", "loop_runaway_multiple", "loop_recovery"):
        shown = command("show", "found", f"{name}/{OWN}")
        assert shown.code == 0, shown.said
        assert shown.out.rstrip().endswith("ok")
    assert command("check", "found", "--require", f"loop_eigenvalue/{OWN} < 1").code == 0
    assert command("report", "found").code == 0
    audit = Audit.load(tmp_path / "found")
    document = json.loads((tmp_path / "found" / "simulation.json").read_text(encoding="utf-8"))
    by_id = {row[1]: row for row in document["rows"]}
    for text, row in by_id.items():
        assert audit[text].estimate == row[2]
        assert audit[text].estimand == row[-1] != ""
    page = (tmp_path / "found" / "loop.md").read_text(encoding="utf-8")
    assert "Rounding and clipping: true-swapped" in page
    assert all(statistic in page for statistic in {text.partition("/")[0].partition("[")[0] for text in by_id})


def test_a_saved_audit_says_what_its_files_say(command, write, csv) -> None:
    write("run.csv", csv)
    assert command("audit", "run.csv", *MAPPED, "--out", "audit").code == 0
    files = command("simulate", "loop", "--from", "run.csv", *MAPPED, *SMALL)
    saved = command("simulate", "loop", "--from", "audit", *SMALL)
    document = command("simulate", "loop", "--from", "audit/audit.json", *SMALL)
    assert files.out == saved.out == document.out
    assert "loop_multiplier" in saved.out
    refused = command("simulate", "loop", "--from", "audit", "--arm", "arm", *SMALL)
    assert refused.code == 2
    assert "is a saved audit, whose run is read already: leave --arm out" in refused.err
    both = command("simulate", "loop", "--from", "audit", "--from", "run.csv", *SMALL)
    assert "give it alone" in both.err


def test_columns_are_named_as_audit_names_them(command, write) -> None:
    renamed = {
        "arm": "told",
        "learner_id": "who",
        "label_shown": "said",
        "teacher_mark": "t",
        "mark": "m",
        "tail": "end",
    }
    write("run.csv", label_run(seed=3).rename(renamed).write_csv())
    asked = [
        "--arm",
        "told",
        "--learner",
        "who",
        "--label-shown",
        "said",
        "--tail",
        "end",
        "--reference",
        "t",
        "--judge",
        "m",
    ]
    found = command("simulate", "loop", "--from", "run.csv", *asked, "--range", "0,10", *SMALL)
    assert found.code == 0, found.said
    write("own.csv", label_run(seed=3).write_csv())
    assert found.out == command("simulate", "loop", "--from", "own.csv", *MAPPED, *SMALL).out


def test_a_run_that_fits_no_grader_is_refused_with_what_it_lacks(command, write, csv) -> None:
    write("run.csv", label_run(seed=3).drop("label_shown").write_csv())
    lacking = command("simulate", "loop", "--from", "run.csv", *MAPPED, *SMALL)
    assert lacking.code == 2
    assert "--label-shown COL" in lacking.err
    write("plain.csv", "id,judge,reference\na,1,1\nb,0,1\nc,1,0\n")
    assert "--arm COL" in command("simulate", "loop", "--from", "plain.csv", *SMALL).err


def test_hostile_names_are_text_everywhere(command, write, tmp_path: Path) -> None:
    write("g.toml", '[[grader]]\nname = "=cmd|<b>\\u001b[31m"\nlabel_effect = 0.2\n')
    found = command("simulate", "loop", "--grader", "g.toml", *SMALL, "--out", "found")
    assert found.code == 0, found.said
    assert "\n'=cmd" in (tmp_path / "found" / "loop.csv").read_text(encoding="utf-8")
    assert "<b>" not in (tmp_path / "found" / "loop.md").read_text(encoding="utf-8").replace("\\<b\\>", "")
    assert all("\x1b" not in path.read_text(encoding="utf-8") for path in (tmp_path / "found").glob("*.[msj]*"))


# --- what draws carry ---


def given(**more) -> NamedGrader:
    return NamedGrader("one", LINE, 0.0, **more)


def test_draws_of_a_run_have_its_covariance_and_degrees_of_freedom() -> None:
    root = np.random.default_rng(1).normal(0, 0.05, (6, 6))
    spread = root @ root.T
    drawn = drawn_graders([given(spread=spread, df=12.0)], 200_000, seed=4)
    columns = np.stack([getattr(drawn, name)[0] for name in FIELDS])
    columns[5] = np.log(columns[5])
    assert np.median(columns, axis=1) == pytest.approx([*list(LINE.values())[:5], math.log(LINE["noise"])], abs=2e-3)
    assert np.cov(columns) == pytest.approx(spread * 12 / 10, abs=6e-4)
    normal = drawn_graders([given(spread=spread)], 200_000, seed=4)
    assert np.var(normal.slope) == pytest.approx(spread[1, 1], rel=0.02)


def test_draws_of_a_given_effect_move_it_alone_and_graders_share_them() -> None:
    two = [NamedGrader("a", LINE, 0.02), NamedGrader("b", LINE | {"label_effect": 0.1}, 0.04)]
    drawn = drawn_graders(two, 50, seed=0)
    assert (drawn.slope == LINE["slope"]).all()
    assert drawn.label_effect[1] - 0.1 == pytest.approx(2 * (drawn.label_effect[0] - 0.2), abs=1e-12)


def test_an_undefined_draw_lies_beyond_every_number() -> None:
    assert ends_of_draws(np.arange(100.0), 0.9) == (4, 94)
    assert ends_of_draws(np.append(np.arange(90.0), np.full(10, np.nan)), 0.9) == (4, None)


def test_a_run_is_simulated_on_its_own_scale_and_learners() -> None:
    audit = evenhand.audit(label_run(seed=5), **RUN, resamples=200).audit
    (run,) = label_runs(audit)
    asked = Wishes(n_learners=50, n_items=12, n_draws=10)
    found = study(run.grader, run, asked)
    assert (found.cohort.mean, found.cohort.sd, found.cohort.answer_sd) == run.ability
    assert (found.course.low, found.course.high, found.course.recovering) == (0, 10, 7)
    own = study(
        run.grader, run, Wishes(n_learners=50, n_items=12, n_draws=10, ability=(5, 1), answer_sd=0.0, recovering=6)
    )
    assert (own.cohort.mean, own.cohort.sd, own.cohort.answer_sd, own.course.recovering) == (5, 1, 0, 6)
    assert len({one.id for one in found.estimates}) == len(found.estimates)


def test_an_audit_without_a_run_has_no_grader() -> None:
    audit = evenhand.audit(label_run(seed=5).drop("label_shown"), **RUN)
    with pytest.raises(RequestError, match="--label-shown COL"):
        label_runs(audit.audit)
