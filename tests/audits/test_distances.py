"""Distances between classes: presets and files, kappa and alpha by hand, the absent scalar, refusals, properties."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand
from evenhand.errors import EvenhandError
from evenhand.stats.ensembles import coincidences_of_tables, krippendorff_alpha
from evenhand.stats.weighted_agreement import weighted_kappa
from evenhand.tally.weighted_scores import label_shares
from evenhand.verdicts.scale import Scale

PAIRS = ["MM", "MM", "UU", "UM", "CM", "CC", "UC", "MU", "UU", "MC", "MM", "UU"]
WORDS = {"M": "MET", "U": "UNMET", "C": "CANNOT_ASSESS"}
HALFWAY = np.array([[0, 1, 0.5], [1, 0, 0.5], [0.5, 0.5, 0]])


def text(pairs=PAIRS):
    return "item_id,human,judge\n" + "".join(f"i{n},{WORDS[a]},{WORDS[b]}\n" for n, (a, b) in enumerate(pairs))


def table(pairs=PAIRS, order="UMC"):
    found = np.zeros((3, 3))
    for reference, judge in pairs:
        found[order.index(reference), order.index(judge)] += 1
    return found


@pytest.fixture
def audited(tmp_path):
    def ran(content, **options):
        path = tmp_path / "v.csv"
        path.write_text(content, encoding="utf-8")
        return evenhand.audit(path, **options)

    return ran


def by_hand(matrix):
    counts = table()
    n = counts.sum()
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    return 1 - (counts * matrix).sum() / (expected * matrix).sum()


def test_halfway(audited):
    found = audited(text(), distances="halfway")
    kappa = found["weighted_kappa[mode=category,weights=halfway]/judge"]
    assert kappa.estimate == pytest.approx(by_hand(HALFWAY), abs=1e-12)
    assert (kappa.n_used, kappa.n_excluded) == (12, 0)
    assert kappa.ci_low < kappa.estimate < kappa.ci_high
    assert "UNMET–MET 1, UNMET–abstained 0.5" in kappa.estimand
    alpha = found["krippendorff_alpha[metric=halfway,mode=category]/raters"]
    expected = krippendorff_alpha(coincidences_of_tables(table()), HALFWAY, np.arange(3))
    assert alpha.estimate == pytest.approx(float(expected), abs=1e-12)


def test_nominal_distances_are_unweighted_kappa(audited):
    found = audited(text(), distances="nominal")
    mine, known = (
        found["weighted_kappa[mode=category,weights=nominal]/judge"],
        found["cohen_kappa[mode=category]/judge"],
    )
    assert mine.estimate == pytest.approx(known.estimate, abs=1e-12)
    assert mine.ci_low == pytest.approx(known.ci_low, abs=1e-9)


def test_squares_of_halfway_are_the_quadratic_weights_of_three_steps(audited):
    found = audited(text(), distances="halfway-squared")
    order = [0, 2, 1]
    steps = np.square(np.arange(3)[:, None] - np.arange(3)) / 4
    quadratic = weighted_kappa(table()[np.ix_(order, order)], 1 - steps)
    assert found["weighted_kappa[mode=category,weights=halfway-squared]/judge"].estimate == pytest.approx(
        float(quadratic), abs=1e-12
    )


@pytest.mark.parametrize("kind", ["csv", "json", "toml"])
def test_a_file_of_distances(command, write, tmp_path, kind):
    matrix = {"MET": {"UNMET": 2, "CANNOT_ASSESS": 0.5}, "UNMET": {"CANNOT_ASSESS": 1.5}}
    write("v.csv", text())
    content = {
        "csv": "class,MET,UNMET,CANNOT_ASSESS\nMET,0,2,0.5\nUNMET,2,0,1.5\nCANNOT_ASSESS,0.5,1.5,0\n",
        "json": json.dumps(matrix),
        "toml": "[MET]\nUNMET = 2\nCANNOT_ASSESS = 0.5\n[UNMET]\nCANNOT_ASSESS = 1.5\n",
    }[kind]
    write(f"d.{kind}", content)
    ending = command("audit", "v.csv", "--distances", f"d.{kind}", "--write-spec", "s.toml", "--out", "out")
    assert ending.code == 0, ending.err
    expected = by_hand(np.array([[0, 2, 1.5], [2, 0, 0.5], [1.5, 0.5, 0]]))
    identity = "weighted_kappa[mode=category,weights=custom]/judge"
    assert float(command("show", "out", identity).out.split("\t")[1]) == pytest.approx(expected, abs=1e-12)
    assert command("audit", "v.csv", "--spec", "s.toml", "--out", "again").code == 0
    assert command("show", "again", identity).out == command("show", "out", identity).out


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("class,MET,UNMET\nMET,0,1\nUNMET,2,0\n", "not the same both ways"),
        ("class,MET,UNMET\nMET,0,-1\nUNMET,-1,0\n", "is below 0"),
        ("class,MET,UNMET\nMET,1,1\nUNMET,1,0\n", "is not 0"),
        ("class,MET,UNMET\nMET,0,0\nUNMET,0,0\n", "is not given"),
        ("class,MET,MAYBE\nMET,0,1\nMAYBE,1,0\n", '"MAYBE" is no class'),
        ("class,MET\nMET,far\n", "which is no number"),
        ("class,MET\n", "a header and rows"),
    ],
)
def test_matrices_that_are_no_distances(refused, write, content, says):
    write("v.csv", text())
    write("d.csv", content)
    refused("audit", "v.csv", "--distances", "d.csv", "--out", "out", says=says)


def test_neither_a_preset_nor_a_file(refused, write):
    write("v.csv", text())
    refused("audit", "v.csv", "--distances", "linear", "--out", "out", says=("nominal, halfway", "neither a file"))


def test_marks_have_their_own_distances(audited):
    with pytest.raises(EvenhandError, match="marks without levels"):
        audited("item_id,human,judge\na,1.5,2.5\nb,2,3\n", scale="continuous", distances="nominal")


def test_three_classes_without_distances_have_no_scalar(audited):
    found = audited(text())
    absent = found["weighted_kappa[mode=category,weights=custom]/judge"]
    assert absent.status == "not_assessed"
    assert "no single scalar" in absent.reason
    assert any("no single scalar" in words for words in found.audit.warnings)
    assert found["mcc_multiclass[mode=category]/judge"].status == "ok"
    levels = {(row["reference"], row["judge"]): row["n"] for row in found.audit.tables["levels/judge"].records()}
    assert levels["MET", "abstained"] == 1
    assert levels["abstained", "abstained"] == 1


def test_two_labels_without_abstention_ask_for_nothing(audited):
    found = audited(text([pair for pair in PAIRS if "C" not in pair]))
    assert not [one.id for one in found.audit if one.statistic == "weighted_kappa"]


def test_labels_of_their_own(audited):
    rows = "item_id,human,judge\n" + "".join(
        f"i{n},{a},{b}\n" for n, (a, b) in enumerate(["xx", "xy", "yy", "zz", "zx", "yz"])
    )
    found = audited(rows)
    assert found["weighted_kappa[weights=custom]/judge"].status == "not_assessed"
    assert found["mcc_multiclass/judge"].estimate == pytest.approx(0.25, abs=1e-12)
    given_ = audited(rows, distances={"x": {"y": 1, "z": 3}, "y": {"z": 2}})
    assert given_["weighted_kappa[weights=custom]/judge"].status == "ok"


def test_several_judges_with_abstentions(audited):
    rows = ["MMC", "UUU", "MUM", "CCU", "MMM", "UCU"]
    content = "item_id,r1,r2,r3\n" + "".join(f"i{n},{','.join(WORDS[c] for c in row)}\n" for n, row in enumerate(rows))
    found = audited(content, judge=("r1", "r2", "r3"), distances="halfway")[
        "krippendorff_alpha[metric=halfway,mode=category]/raters"
    ]
    values = [["UMC".index(c) for c in row] for row in rows]
    observed = np.mean(
        [HALFWAY[a, b] for row in values for i, a in enumerate(row) for j, b in enumerate(row) if i != j]
    )
    flat = [value for row in values for value in row]
    expected = np.mean([HALFWAY[a, b] for i, a in enumerate(flat) for j, b in enumerate(flat) if i != j])
    assert found.estimate == pytest.approx(1 - observed / expected, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=9, max_size=9), st.floats(0.1, 50))
def test_the_unit_of_a_distance_does_not_matter(cells, unit):
    counts = np.array(cells, dtype=float).reshape(3, 3)
    one, other = (weighted_kappa(counts, 1 - d / d.max()) for d in (HALFWAY, unit * HALFWAY))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_shares_of_labels():
    def scale(kind, levels, limits=None):
        return Scale(kind, levels, "", {}, {}, limits)

    assert label_shares(scale("binary", ("no", "yes"))).tolist() == [0, 1]
    assert label_shares(scale("ordinal", ("1", "2", "5"))).tolist() == [0, 0.25, 1]
    assert label_shares(scale("ordinal", ("low", "mid", "high"))).tolist() == [0, 0.5, 1]
    assert label_shares(scale("continuous", ("2", "4"), (0.0, 8.0))).tolist() == [0.25, 0.5]
    with pytest.raises(EvenhandError, match="--range LO,HI"):
        label_shares(scale("continuous", ("2", "4")))
    with pytest.raises(EvenhandError, match="no value to weigh"):
        label_shares(scale("nominal", ("a", "b", "c")))
