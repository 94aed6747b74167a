"""`check --against`: two audits and many, through the command line."""

import json
import random
import shutil

import duckdb
import pytest


def bank(seed, rate, n_clusters=12, labels=("0", "1")):
    """A bank whose reference is always the same; the judge errs at a rate."""
    fixed, own = random.Random(1), random.Random(seed)
    lines = ["item,question,gold,judge"]
    for n in range(360):
        gold = fixed.randrange(2)
        judge = 1 - gold if own.random() < rate else gold
        lines.append(f"r{n},q{n % n_clusters},{labels[gold]},{labels[judge]}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def audited(command, write):
    """Audit a bank into a folder."""

    def made(name, seed, rate, *options, **more):
        write(f"{name}.csv", bank(seed, rate, **more))
        assert command("audit", f"{name}.csv", "--cluster", "question", "--cut", "1", *options, "--out", name).code == 0
        return name

    return made


def test_a_worse_judge_raises_an_alarm(command, audited):
    ending = command("check", audited("new", 2, 0.25), "--against", audited("old", 1, 0.05))
    assert (ending.code, ending.err) == (1, "")
    assert ending.out.splitlines()[1].startswith("alarm: ")
    assert "error_rate/judge rose by" in ending.out
    assert "paired on the same 12 clusters" in ending.out


def test_change_is_that_of_the_audits(command, audited):
    new, old = audited("new", 2, 0.25), audited("old", 1, 0.05)
    found = json.loads(command("check", new, "--against", old, "--json").out)
    rows = {one["id"]: one for one in found["changes"]}
    for name, row in rows.items():
        values = [float(command("show", folder, name).out.split("\t")[1]) for folder in (new, old)]
        assert (row["new"], row["old"]) == pytest.approx(values)
        assert row["change"] == pytest.approx(values[0] - values[1])
    assert {"cohen_kappa/judge", "accuracy[cut=1]/judge", "leniency/judge"} <= rows.keys()


def test_the_same_judge_raises_none_and_says_what_could_be_found(command, audited):
    ending = command("check", audited("new", 3, 0.1), "--against", audited("old", 4, 0.1))
    assert ending.code == 0
    assert "no change shown" in ending.out
    assert "findable" in ending.out


def test_equal_audits_have_no_change(command, audited):
    old = audited("old", 1, 0.1)
    ending = command("check", old, "--against", old)
    assert ending.code == 0
    assert "no change: both audits hold the same counts in every cluster" in ending.out
    assert "both audits read the very same files" in ending.out


def test_a_requirement_may_stand_beside(command, audited):
    new, old = audited("new", 3, 0.1), audited("old", 4, 0.1)
    assert command("check", new, "--against", old, "--require", "error_rate/judge > 0.9").code == 1
    assert command("check", new, "--against", old, "--require", "error_rate/judge < 0.9").code == 0


def test_folder_holds_the_document_and_the_report(command, audited, tmp_path):
    new, old = audited("new", 2, 0.25), audited("old", 1, 0.05)
    for _ in range(2):  # its own folder may be replaced
        assert command("check", new, "--against", old, "--out", "change").code == 1
    assert sorted(one.name for one in (tmp_path / "change").iterdir()) == ["change.json", "report.html", "report.md"]
    assert json.loads((tmp_path / "change/change.json").read_text())["schema"] == "evenhand.change/1"
    page = (tmp_path / "change/report.html").read_text()
    assert "http" not in page.replace("http-equiv", "")
    assert "error_rate/judge" in page


def test_ids_may_be_chosen(command, audited):
    new, old = audited("new", 2, 0.25), audited("old", 1, 0.05)
    assert (
        "its tallies do not give phi/judge again" in command("check", new, "--against", old, "--ids", "phi/judge").err
    )
    ending = command("check", new, "--against", old, "--ids", "precision/judge,recall/judge", "--json")
    assert [one["id"] for one in json.loads(ending.out)["changes"]] == ["precision/judge", "recall/judge"]


def test_three_earlier_audits_make_a_chart(command, audited, tmp_path):
    for n in range(4):
        audited(f"history/a{n}", n, 0.1)
    ending = command(
        "check", audited("new", 9, 0.6), "--history", "history", "--ids", "error_rate/judge", "--out", "chart"
    )
    assert ending.code == 1
    assert "error_rate/judge lies outside its limits" in ending.out
    assert (tmp_path / "chart/charts/chart-1.svg").read_text().startswith("<svg")
    document = json.loads((tmp_path / "chart/change.json").read_text())
    assert len(document["charts"][0]["values"]) == 5


def test_two_earlier_audits_are_too_few_for_limits(command, audited):
    new = audited("new", 3, 0.1)
    ending = command("check", new, "--against", audited("a", 1, 0.1), "--against", audited("b", 2, 0.1))
    assert ending.code == 0
    assert "2 earlier audits are too few for the limits of a chart" in ending.out


@pytest.mark.parametrize(
    ("options", "labels", "words"),
    [
        (("--confidence-level", "0.9"), ("0", "1"), "differ in the confidence level: 0.9 against 0.95"),
        (("--interval", "percentile"), ("0", "1"), "differ in the interval method: percentile against default"),
        ((), ("no", "yes"), "differ in the labels of the scale"),
        (("--blank", "unparsed"), ("0", "1"), "--blank in spec.toml: unparsed against missing"),
    ],
)
def test_what_is_not_comparable_is_refused(refused, audited, options, labels, words):
    old, new = audited("old", 1, 0.1), audited("new", 2, 0.1, *options, labels=labels)
    refused("check", new, "--against", old, says=words)


def test_tallies_of_another_audit_are_refused(refused, audited, tmp_path):
    new, old = audited("new", 2, 0.25), audited("old", 1, 0.05)
    shutil.copy(tmp_path / "old/tallies.parquet", tmp_path / "new/tallies.parquet")
    refused("check", new, "--against", old, says="the folder holds files of two audits")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("* EXCLUDE (unit)", "has no column of units"),
        ("* REPLACE (NULL AS unit)", "holds a unit twice, or one without a name"),
        ("* REPLACE ('one' AS unit)", "holds a unit twice"),
        ("*, 'many' AS more", "holds no sums"),
        ("*, NULL::DOUBLE AS more", "the column more of tallies.parquet holds no sums"),
        ("*, 'inf'::DOUBLE AS more", "the column more of tallies.parquet holds no sums"),
        ('*, 1 AS "responses[state=complete,reference=x,judge=1]/judge"', "was not named by evenhand audit"),
    ],
)
def test_damaged_tallies_are_refused(refused, audited, tmp_path, columns, words):
    new, old = audited("new", 2, 0.25), audited("old", 1, 0.05)
    damaged = str(tmp_path / "new/tallies.parquet")
    held = duckdb.sql(f"SELECT * FROM '{tmp_path}/old/tallies.parquet'")
    held.select(columns).write_parquet(damaged)
    refused("check", new, "--against", old, says=words)


def test_an_audit_with_design_weights_is_refused_for_what_it_is(refused, command, write, audited):
    heavy = bank(2, 0.25).splitlines()
    write("heavy.csv", "\n".join([heavy[0] + ",w", *(f"{row},{1 + n % 3}" for n, row in enumerate(heavy[1:]))]))
    assert (
        command("audit", "heavy.csv", "--cluster", "question", "--cut", "1", "--weight", "w", "--out", "heavy").code
        == 0
    )
    refused(
        "check", "heavy", "--against", audited("old", 1, 0.05), says="heavy was made with design weights (--weight)"
    )
    refused("check", "old", "--against", "heavy", says="audit both without --weight")


def test_limits_of_a_chart_are_what_the_numbers_can_be(command, audited):
    earlier = [part for seed in range(1, 5) for part in ("--against", audited(f"old{seed}", seed, 0.02 * seed))]
    ending = command("check", audited("new", 9, 0.1), *earlier, "--json")
    charts = {one["id"]: one for one in json.loads(ending.out)["charts"]}
    assert max(charts["cohen_kappa/judge"]["high"]) == 1
    assert min(charts["error_rate/judge"]["low"]) == 0


def test_an_audit_without_tallies_is_refused(refused, audited, tmp_path):
    new, old = audited("new", 2, 0.25), audited("old", 1, 0.05)
    (tmp_path / "old/tallies.parquet").unlink()
    refused("check", new, "--against", old, says="no tallies.parquet beside the audit")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "what is to be checked?"),
        (("--against", "nowhere"), "no saved audit there"),
        (("--history", "nowhere"), "no such folder"),
        (("--against", "new", "--false-alarm", "0"), "--false-alarm 0"),
        (("--against", "new", "--ewma-weight", "0.001"), "a weight from 0.01 to 1"),
        (("--against", "new", "--ids", "eror_rate/judge"), 'did you mean "error_rate/judge"'),
        (("--against", "new", "--json", "--require", "error_rate/judge < 1"), "--json is of a comparison"),
    ],
)
def test_requests_that_cannot_be_carried_out(refused, audited, arguments, words):
    refused("check", audited("new", 2, 0.25), *arguments, says=words)


def test_another_model_behind_the_same_name_is_said(command, write, tmp_path):
    for name in ("old", "new"):
        rows = "".join(f"r{n},q{n % 6},{n % 2},{(n % 2) ^ (n % 7 == 0)},{name}-8b\n" for n in range(30))
        source = write(f"{name}.csv", f"id,question,reference,judge,model\n{rows}")
        assert command("audit", source, "--cluster", "question", "--out", tmp_path / name).code == 0
    ended = command("check", tmp_path / "new", "--against", tmp_path / "old")
    assert 'model: "new-8b" in the new audit, "old-8b" in the old one' in " ".join(ended.said.split())
