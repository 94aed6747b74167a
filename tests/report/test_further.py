"""Systems, wordings, confidence and margins where a user meets them: the terminal, ``--explain`` and the report."""

import csv

import numpy as np
import pytest

from evenhand.report.csv_tables import read_table
from evenhand.report.further import families
from evenhand.report.lookups import cut_words, main_cut
from evenhand.results import Audit

NAMES = ("ant", "bee", "cat", "=cmd", "eel")


@pytest.fixture
def marks(tmp_path):
    rng = np.random.default_rng(6)
    with (tmp_path / "marks.csv").open("w", newline="") as stream:
        file = csv.writer(stream)
        file.writerow(["id", "item", "model", "part", "judge", "reference", "prompt"])
        for item in range(12):
            for at, name in enumerate(NAMES):
                for part in ("form", "depth"):
                    truth = int(np.clip(round(2 + 0.5 * at + rng.standard_normal()), 1, 5))
                    for prompt in ("short", "long"):
                        said = int(np.clip(truth + rng.integers(-1, 2), 1, 5)) if prompt == "short" else 3
                        file.writerow([f"{item}-{name}", f"q{item}", name, part, said, truth, prompt])
    return "marks.csv"


ARGUMENTS = (
    *("--response", "id", "--cluster", "item", "--criterion", "part", "--judge", "judge", "--reference", "reference"),
    *("--author", "model", "--phrasing", "prompt", "--scale", "ordinal", "--levels", "1,2,3,4,5", "--cut", "6"),
    *("--margin", "bias=0.5"),
)


@pytest.fixture
def audited(command, marks, tmp_path):
    ending = command("audit", marks, *ARGUMENTS, "--out", "out")
    assert ending.code == 0, ending.said
    return Audit.load(tmp_path / "out"), ending.out


def test_the_terminal_has_a_line_each(audited) -> None:
    _, said = audited
    flat = " ".join(said.split())
    assert "5 systems (model): τ_b of their means by judge and reference" in flat
    assert "over 2 wordings: observed agreement from" in flat
    assert "margin of bias:" in flat
    assert "pass at a total of 6 matches" in flat
    assert 'under phrasing "long" the judge says 3 of everything (120 of 120 scored verdicts)' in flat
    assert "by author: no author is the judge's model" not in flat


def test_explain_lists_what_is_computed(command, marks) -> None:
    ending = command("audit", marks, *ARGUMENTS, "--explain")
    flat = " ".join(ending.out.split())
    for words in (
        "agreement with the reference:", "gate accuracy at a cut", "halo:", "agreement by phrasing",
        "how far totals depend on phrasing", "5 systems behind the responses, and how far judge and reference rank them alike",
        "equivalence inside margins: bias",
    ):  # fmt: skip
        assert words in flat
    assert "confidence" not in flat


def test_explain_without_a_reference_and_with_confidence(command, write) -> None:
    write("plain.csv", "id,judge,sure\n" + "".join(f"{n},{n % 2},0.{n % 9 + 1}\n" for n in range(12)))
    ending = command("audit", "plain.csv", "--response", "id", "--judge", "judge", "--scale", "binary", "--explain")
    assert "counts of verdicts by status" in ending.out
    write("sure.csv", "id,judge,gold,sure\n" + "".join(f"{n},{n % 2},{n % 3 % 2},0.{n % 9 + 1}\n" for n in range(12)))
    options = ("--response", "id", "--judge", "judge", "--reference", "gold", "--confidence", "sure")
    ending = command("audit", "sure.csv", *options, "--explain")
    assert "what the judge's confidence is worth" in ending.out
    ending = command("audit", "sure.csv", *options, "--out", "out")
    assert "confidence: a right verdict has more than a wrong one with chance" in " ".join(ending.out.split())


def test_the_report_has_tables_drawings_and_files(audited, tmp_path) -> None:
    audit, _ = audited
    report = (tmp_path / "out" / "report.md").read_text()
    for words in (
        "### Systems: mean verdict on the responses of each", "### Whether the judge ranks systems as the reference does",
        "### By phrasing", "| all pooled |", "| a total of 6 |", "Systems, the reference's best first", "The same judge by phrasing",
    ):  # fmt: skip
        assert words in report, words
    page = (tmp_path / "out" / "report.html").read_text()
    assert "judge-1-systems" in page
    assert "judge-1-phrasing" in page
    text = (tmp_path / "out" / "tables" / "systems.csv").read_text()
    assert "'=cmd" in text
    assert [row[0] for row in read_table(text).rows] == sorted(NAMES)
    # none of these numbers stands among the further coefficients, too
    further = report.split("### Further coefficients")[1].split("###")[0]
    assert "within items" not in further
    assert "phrasing short" not in further
    assert main_cut(audit) == 6
    assert cut_words(audit, 6) == "a total of 6"


def test_show_and_check_know_the_ids(audited, command) -> None:
    ending = command("show", "out", "kendall_tau[level=system]/judge", "--card")
    assert ending.code == 0
    assert "these 5 systems" in ending.out
    assert command("check", "out", "--require", "pairwise_accuracy[level=system]/judge.estimate > 0.2").code == 0


def test_families_of_pairs(command, write, tmp_path) -> None:
    rows = [
        f"r{n},{a},{b},{'A' if n % 2 else 'B'}" for n in range(12) for a, b in (("xyz"[n % 3], "xyz"[(n + 1) % 3]),)
    ]
    write("pairs.csv", "id,a,b,judge\n" + "\n".join(rows) + "\n")
    options = ("--response", "id", "--judge", "judge", "--scale", "pairwise", "--levels", "B,A", "--author", "a,b")
    ending = command("audit", "pairs.csv", *options, "--out", "out")
    assert ending.code == 0, ending.said
    audit = Audit.load(tmp_path / "out")
    assert any("3 systems behind the responses" in words for words in families(audit))
    assert "### Systems compared: strengths" in (tmp_path / "out" / "report.md").read_text()
    assert "3 systems (" in " ".join(ending.out.split())
