"""Cases UND-01, MIS-02 and UNC-01 of the list of public bug reports: the inputs are the list's, as rows of short labels."""

import json
from itertools import pairwise

import pytest

from evenhand.results import Audit

TOLERANCE = 5e-5


@pytest.fixture
def case(command, write, tmp_path):
    """Run `evenhand audit CASE.csv ... --out out`; the audit, the terminal text, and audit.json as strict JSON."""

    def ran(name, text, *options):
        write(name, text)
        ending = command("audit", name, *options, "--out", "out")
        assert ending.code == 0

        def refuse(token):
            raise AssertionError(f"{token} is not JSON")

        document = json.loads((tmp_path / "out" / "audit.json").read_bytes(), parse_constant=refuse)
        return Audit.load(tmp_path / "out"), " ".join(ending.out.split()), document

    return ran


@pytest.fixture
def shown(command):
    """`evenhand show out ID` as its five fields."""

    def ran(identity):
        ending = command("show", "out", identity)
        assert ending.code == 0
        return ending.out.rstrip("\n").split("\t")

    return ran


# UND-01: evenhand audit UND-01.csv --levels fail,pass --out out
UND_01 = "item_id,human,judge\n" + "".join(f"u{n},pass,pass\n" for n in range(1, 9))


def test_und_01_only_one_label(case, shown):
    audit, said, document = case("UND-01.csv", UND_01, "--levels", "fail,pass")
    for identity in ("observed_agreement/judge", "gwet_ac1/judge"):
        assert float(shown(identity)[1]) == pytest.approx(1, abs=TOLERANCE)
    for identity in ("cohen_kappa/judge", "scott_pi/judge"):
        assert shown(identity) == [identity, "", "", "", "undefined"]
        (estimate,) = (one for one in document["estimates"] if one["id"] == identity)
        assert (estimate["estimate"], estimate["std_error"], estimate["ci_low"], estimate["ci_high"]) == (None,) * 4
        assert (estimate["status"], estimate["interval_method"]) == ("undefined", "none")
        assert "0/0, no variation in labels" in estimate["reason"]
    assert "undefined" in said
    assert "no variation in labels" in said
    for band in ("almost perfect", "substantial", "moderate", "poor", "slight"):
        assert band not in said.casefold()
    assert audit.declarations.levels == ("fail", "pass")


def test_und_01_without_a_declaration_reads_the_same(case):
    audit, said, _ = case("UND-01.csv", UND_01)
    assert audit["cohen_kappa/judge"].status == "undefined"
    assert audit["gwet_ac1/judge"].estimate == 1
    assert '"fail" negative, which does not occur' in said


def test_und_01_in_the_reports(case, tmp_path):
    case("UND-01.csv", UND_01)
    for name in ("report.md", "report.html"):
        assert "no variation in labels" in (tmp_path / "out" / name).read_text(encoding="utf-8")


# MIS-02: evenhand audit MIS-02.csv --out out
MIS_02 = "item_id,human,judge\n" + "".join(
    f"k{number:02},{pair}\n"
    for number, pair in enumerate(
        ["a,a", "a,a", "a,b", "b,b", "b,b", "c,c", "c,b", "a,a", "b,b", ",", ",", "a,", "c,", ",c"], start=1
    )
)


def test_mis_02_blanks_are_no_agreement(case, shown):
    audit, said, document = case("MIS-02.csv", MIS_02)
    assert float(shown("cohen_kappa/judge")[1]) == pytest.approx(0.653846, abs=TOLERANCE)
    assert float(shown("observed_agreement/judge")[1]) == pytest.approx(0.777778, abs=TOLERANCE)
    assert audit["cohen_kappa/judge"].n_used == 9
    expected = {"judge missing": 2, "judge missing, reference missing": 2, "reference missing": 1}
    assert document["data"]["rows_excluded"] == expected
    assert (document["data"]["rows_read"], document["data"]["rows_used"]) == (14, 9)
    ledger = "14 verdicts = 9 used + 2 judge missing + 2 judge missing, reference missing + 1 reference missing"
    assert ledger in said


def test_mis_02_strict_refuses_with_the_ledger(refused, write):
    write("MIS-02.csv", MIS_02)
    refused(
        "audit", "MIS-02.csv", "--strict", "--out", "out", says="9 used + 2 judge missing + 2 judge missing, reference"
    )


# UNC-01: evenhand audit UNC-01.csv --out out
CLUSTERS = {"k1": "1110", "k2": "00", "k3": "111", "k4": "10001"}
UNC_01 = "cluster,item_id,score\n" + "".join(
    f"{cluster},{cluster}_{n},{score}\n" for cluster, scores in CLUSTERS.items() for n, score in enumerate(scores)
)


@pytest.mark.parametrize(
    ("kind", "std_error"), [("", 0.166365), ("cr1", 0.169113), ("cr2", 0.167284), ("naive", 0.137253)]
)
def test_unc_01_every_standard_error_under_its_name(case, command, kind, std_error):
    case("UNC-01.csv", UNC_01)
    identity = f"judge_positive_rate{f'[se={kind}]' if kind else ''}/judge"
    (line,) = command("show", "out", identity, "--json").out.splitlines()
    estimate = json.loads(line)
    assert estimate["id"] == identity
    assert estimate["estimate"] == pytest.approx(0.571429, abs=TOLERANCE)
    assert estimate["std_error"] == pytest.approx(std_error, abs=TOLERANCE)
    assert estimate["n_clusters"] == 4


def test_unc_01_few_clusters_are_said(case):
    audit, said, _ = case("UNC-01.csv", UNC_01)
    assert "4 clusters" in said
    assert "G = 4" in said
    assert "4 clusters are few" in said
    assert any("4 clusters are few" in warning for warning in audit.warnings)


def test_unc_01_one_cluster_has_no_standard_error(case, shown):
    one = "cluster,item_id,score\n" + "".join(f"k1,q{n},{score}\n" for n, score in enumerate("101101"))
    audit, said, document = case("UNC-01_one_cluster.csv", one)
    assert shown("judge_positive_rate/judge")[1:] == [repr(4 / 6), "", "", "ok"]
    (estimate,) = (one for one in document["estimates"] if one["id"] == "judge_positive_rate/judge")
    assert (estimate["std_error"], estimate["ci_low"], estimate["ci_high"]) == (None, None, None)
    assert estimate["reason"].startswith("one cluster")
    assert "cr1" not in estimate["std_errors"]
    assert "cr2" not in estimate["std_errors"]
    assert "one cluster: standard errors and intervals are undefined" in said
    assert audit["judge_positive_rate/judge"].n_clusters == 1


def test_the_rows_are_the_list_s():
    assert MIS_02.splitlines()[1] == "k01,a,a"
    assert MIS_02.splitlines()[-5:] == ["k10,,", "k11,,", "k12,a,", "k13,c,", "k14,,c"]
    assert [len(scores) for scores in CLUSTERS.values()] == [4, 2, 3, 5]
    assert all(first < second for first, second in pairwise(CLUSTERS))
