"""`show`, `check`, `report` and `demo`: what a saved audit answers, and with which exit code."""

import json
import math
import os
import subprocess
import sys

import pytest

FINE = "item,question,gold,judge\n" + "".join(
    f"r{n},q{n % 5},{n % 2},{n % 2 if n % 7 else 1 - n % 2}\n" for n in range(60)
)


@pytest.fixture
def out(command, write):
    """A saved audit in ./out."""
    write("fine.csv", FINE)
    assert command("audit", "fine.csv", "--cut", "1", "--out", "out").code == 0
    return "out"


# --- show ---


def test_show_prints_five_fields_a_line(command, out):
    ending = command("show", out, "cohen_kappa/judge", "n_error/judge")
    kappa, errors = ending.out.splitlines()
    identity, estimate, low, high, status = kappa.split("\t")
    assert (identity, status) == ("cohen_kappa/judge", "ok")
    assert -1 <= float(low) < float(estimate) < float(high) <= 1
    assert errors == "n_error/judge\t0\t\t\tok"
    assert estimate.startswith("0.")


def test_show_without_ids_lists_all(command, out):
    lines = command("show", out).out.splitlines()
    assert len(lines) > 40
    assert all(line.count("\t") == 4 for line in lines)
    assert command("show", "out/audit.json").out.splitlines() == lines


def test_show_undefined_leaves_fields_empty(command, write):
    write("flat.csv", "item,gold,judge\na,1,1\nb,1,1\n")
    command("audit", "flat.csv", "--out", "flat")
    assert command("show", "flat", "cohen_kappa/judge").out == "cohen_kappa/judge\t\t\t\tundefined\n"


def test_show_json_is_strict_and_whole(command, out):
    def refuse(token):
        raise AssertionError(token)

    lines = command("show", out, "--json").out.splitlines()
    for line in lines:
        assert {"id", "estimate", "describes", "estimand", "n_used"} <= json.loads(line, parse_constant=refuse).keys()
    assert len(lines) > 40


def test_show_other_standard_errors(command, out):
    (line,) = command("show", out, "error_rate[se=cr1]/judge", "--json").out.splitlines()
    assert json.loads(line)["std_error"] == json.loads(line)["std_errors"]["cr1"] > 0


def test_show_card_can_be_typed_again(command, write, out):
    command("audit", "fine.csv", "--out", "my out")
    card = command("show", "my out", "error_rate/judge", "--card").out
    assert "evenhand show 'my out' error_rate/judge --card" in card
    assert "estimand" in card


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("cohen_kapa/judge", 'did you mean "cohen_kappa/judge"?'),
        ("accuracy[cut=2]/judge", 'did you mean "accuracy[cut=1]/judge"?'),
        ("kappa", "is not an id: write statistic[param=value]/source"),
        ("accuracy[cut]/judge", '"cut" in "accuracy[cut]/judge" is not param=value'),
        ("error_rate[se=guess]/judge", 'has no standard error "guess"; it has: bootstrap, cr1, cr2'),
        ("\x1b[31m/judge", "\\x1b[31m/judge"),
    ],
)
def test_show_unknown_id_names_the_nearest(refused, out, wanted, words):
    refused("show", out, wanted, says=words)


# --- check ---


@pytest.mark.parametrize(
    ("requirement", "code", "word"),
    [
        ("error_rate/judge <= 0.9", 0, "met"),
        ("error_rate/judge<=0.01", 1, "failed"),
        ("error_rate/judge <= 0.15", 2, "undecided"),
        ("error_rate/judge.estimate > 0.1", 0, "met"),
        ("error_rate/judge.ci_high < 0.01", 1, "failed"),
        ("error_rate/judge.n_used == 60", 0, "met"),
        ("n_verdicts/judge >= 60", 0, "met"),
        ("accuracy[cut=1]/judge > .01", 0, "met"),
        ("error_rate[se=cr1]/judge < 9e-1", 0, "met"),
        ("errro_rate/judge < 1", 2, "absent"),
    ],
)
def test_check(command, out, requirement, code, word):
    ending = command("check", out, "--require", requirement)
    assert (ending.code, ending.err) == (code, "")
    assert ending.out.startswith(word)
    assert requirement in ending.out


def test_check_absent_names_the_nearest(command, out):
    assert 'did you mean "error_rate/judge"?' in command("check", out, "--require", "errro_rate/judge < 1").out


def test_check_of_an_unknown_field_names_the_fields(command, out):
    ending = command("check", out, "--require", "error_rate/judge.median > 0")
    assert ending.code == 2
    assert '"median" is no field of error_rate/judge: name one of estimate, ci_low, ci_high, n_used' in ending.err


def test_check_failed_outweighs_undecided(command, out):
    both = ("--require", "error_rate/judge <= 0.15", "--require", "error_rate/judge <= 0.01")
    assert command("check", out, *both).code == 1
    assert command("check", out, *both[:2], "--allow-undecided").code == 0
    assert command("check", out, *both, "--allow-undecided").code == 1
    assert command("check", out, "--require", "nothing/judge > 0", "--allow-undecided").code == 2


def test_check_undefined_is_never_met(command, write):
    write("flat.csv", "item,gold,judge\na,1,1\nb,1,1\n")
    command("audit", "flat.csv", "--out", "flat")
    for field in ("", ".estimate"):
        ending = command("check", "flat", "--require", f"cohen_kappa/judge{field} >= -1", "--allow-undecided")
        assert ending.code == 2
        assert "no variation in labels" in ending.out
    assert command("check", "flat", "--require", "cohen_kappa/judge.n_used >= 2").code == 0


def test_check_one_cluster_is_undecided_and_says_the_way_out(command, write):
    write("one.csv", "item,question,gold,judge\na,q,1,1\nb,q,0,0\n")
    command("audit", "one.csv", "--out", "one")
    ending = command("check", "one", "--require", "observed_agreement/judge >= 0.5")
    assert ending.code == 2
    assert "one cluster" in ending.out
    assert "name .estimate to compare it alone" in ending.out


@pytest.mark.parametrize(
    "requirement",
    [
        *("", "error_rate/judge", "error_rate/judge >", "error_rate/judge > x", "error_rate/judge > nan", "> 0.5"),
        *("error_rate/judge => 0.5", "error_rate > 0", "error_rate/judge > 0 and more"),
        *("error_rate/judge > 1,5", "error_rate[/judge > 0", "error_rate/judge != 1", "\x1b[2J > 0"),
    ],
)
def test_malformed_gates(refused, out, requirement):
    ending = refused("check", out, "--require", requirement)
    assert "is not a requirement" in ending.err or "is not an id" in ending.err


def test_check_needs_a_requirement(refused, out):
    refused("check", out, says="--require")


# --- report ---


def test_report_again(command, out, tmp_path):
    before = (tmp_path / "out" / "report.html").read_bytes()
    (tmp_path / "out" / "report.html").unlink()
    ending = command("report", out)
    assert ending.out.splitlines() == ["out/report.html", "out/report.md"]
    assert (tmp_path / "out" / "report.html").read_bytes() == before
    assert command("report", "out/audit.json", "--to", "deep/mine.MD").code == 0
    assert (tmp_path / "deep" / "mine.MD").read_bytes() == (tmp_path / "out" / "report.md").read_bytes()
    assert command("report", out, "--to", "deep/mine.MD").code == 0


def test_report_never_replaces_anything_else(refused, out, write, tmp_path):
    write("mine.html", "<p>my page</p>")
    refused(
        "report", out, "--to", "mine.html", says=("mine.html: exists and was not written by evenhand", "another name")
    )
    refused("report", out, "--to", "fine.csv", says="a report is named .html or .md")
    (tmp_path / "folder.html").mkdir()
    refused("report", out, "--to", "folder.html", says="a folder")


# --- demo ---


def test_demo(command, tmp_path):
    ending = command("demo")
    assert ending.code == 0
    assert ending.out.rstrip().endswith(f"The report: {tmp_path / 'evenhand-demo' / 'report.html'}")
    assert command("show", "evenhand-demo", "kr20/judge").code in (0, 2)
    kappa = command("show", "evenhand-demo", "cohen_kappa/judge").out.split("\t")[1]
    assert math.isclose(float(kappa), 0.903640, abs_tol=1e-6)


def test_demo_touches_nothing_foreign(refused, write):
    write("evenhand-demo/mine.txt", "mine")
    refused("demo", says=('"mine.txt"', "another --out"))


# --- as a process ---


def test_as_a_process(tmp_path, write):
    write("fine.csv", FINE)
    script = "import sys; from evenhand.cli.main import main; sys.argv = ['evenhand', *sys.argv[1:]]; main()"

    def ran(*arguments):
        return subprocess.run(
            [sys.executable, "-c", script, *arguments], capture_output=True, text=True, cwd=tmp_path, check=False
        )

    assert ran("audit", "fine.csv", "--out", "out").returncode == 0
    assert ran("audit", "feni.csv", "--out", "out2").returncode == 2
    assert ran("check", "out", "--require", "error_rate/judge < 0").returncode == 1
    with subprocess.Popen(
        [sys.executable, "-c", script, "show", "out"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as piped:
        piped.stdout.close()
        assert (piped.stderr.read(), piped.wait()) == (b"", 141)
    bare = ran()
    assert (bare.returncode, bare.stdout) == (2, "")
    assert "Usage" in bare.stderr


def test_a_file_that_may_not_be_read(refused, write):
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    write("secret.csv", FINE).chmod(0)
    refused("audit", "secret.csv", "--out", "out", says="secret.csv: cannot be read")
