"""`selftest` through the command line: files and folders, what is printed and written, and what is refused."""

import json
import random

import pytest


def binary():
    rng = random.Random(1)
    lines = ["item,question,gold,judge"]
    for n in range(240):
        gold = rng.randrange(2)
        lines.append(f"r{n},q{n % 8},{gold},{1 - gold if rng.random() < 0.1 else gold}")
    return "\n".join(lines) + "\n"


def graded():
    rng = random.Random(2)
    lines = ["item,question,gold,judge"]
    for n in range(120):
        gold = rng.randrange(11)
        lines.append(f"r{n},q{n % 8},{gold},{min(10, max(0, gold + rng.choice((-1, 0, 0, 1))))}")
    return "\n".join(lines) + "\n"


def rows(ending):
    return {(one["defect"], one["size"]): one for one in json.loads(ending.out)["planted"]}


def test_binary_bank_from_a_file(command, write):
    write("bank.csv", binary())
    ending = command("selftest", "bank.csv", "--cluster", "question", "--worlds", "30")
    assert (ending.code, ending.err) == (0, "")
    assert "would be caught: " in ending.out
    assert "perfect judge (control) 0.000" in ending.out
    assert "leniency[per=verdict]/judge, its interval lies above 0" in ending.out
    assert "not planted: position bias" in ending.out
    assert "not planted: clustered errors: they need more than 5 checklist lines, there is 1" in " ".join(
        ending.out.split()
    )


def test_folder_of_an_audit_gives_the_same(command, write, tmp_path):
    write("bank.csv", binary())
    assert command("audit", "bank.csv", "--cluster", "question", "--out", "out").code == 0
    from_file = command("selftest", "bank.csv", "--cluster", "question", "--worlds", "20", "--json")
    from_folder = command("selftest", "out", "--worlds", "20", "--json", "--out", "tested")
    assert rows(from_file) == rows(from_folder)
    assert sorted(one.name for one in (tmp_path / "tested").iterdir()) == ["report.html", "report.md", "selftest.json"]
    assert json.loads((tmp_path / "tested/selftest.json").read_text()) == json.loads(from_folder.out)


def test_a_larger_defect_is_seen_more_often(command, write):
    write("bank.csv", binary())
    found = rows(command("selftest", "bank.csv", "--cluster", "question", "--worlds", "40", "--json"))
    shares = [found["lenient judge", size]["share"] for size in (0.05, 0.1, 0.2)]
    assert shares == sorted(shares)
    assert found["random judge", None]["verdict"] == "caught"


def test_seed_decides_the_worlds(command, write):
    write("bank.csv", binary())
    asked = ("selftest", "bank.csv", "--cluster", "question", "--worlds", "20", "--json")
    first, again, other = (command(*asked, "--seed", seed).out for seed in (0, 0, 1))
    assert first == again
    assert first != other


@pytest.mark.parametrize("scale", [("--scale", "ordinal"), ("--scale", "continuous", "--range", "0,10")])
def test_marks(command, write, scale):
    write("marks.csv", graded())
    ending = command("selftest", "marks.csv", "--cluster", "question", *scale, "--worlds", "30", "--json")
    found = rows(ending)
    assert found["generous judge", 0.5]["verdict"] == "caught"
    assert found["judge that keeps to the middle", 0.5]["verdict"] == "caught"
    assert found["judge without bias (control)", None]["is_control"]


def test_without_reference_labels_they_are_drawn(command, write):
    write(
        "bank.csv", "\n".join(",".join(line.split(",")[:2] + line.split(",")[3:]) for line in binary().split()) + "\n"
    )
    ending = command(
        "selftest", "bank.csv", "--cluster", "question", "--judge", "judge", "--scale", "binary", "--worlds", "20"
    )
    assert ending.code == 0, ending.said
    assert "no reference labels: they are drawn at the judge's positive rate" in " ".join(ending.out.split())


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (binary(), ("--worlds", "3"), "--worlds 3: from 20 to 10,000"),
        (binary(), ("--of", "nobody"), '--of "nobody": no such judge; there are "judge"'),
        (binary(), ("--interval", "none"), "selftest needs intervals"),
        ("item,gold,judge\na,1,1\nb,1,1\nc,1,0\n", (), "selftest needs both reference labels"),
    ],
)
def test_what_cannot_be_carried_is_refused(refused, write, text, options, words):
    write("bank.csv", text)
    refused("selftest", "bank.csv", *options, says=words)


def test_reading_options_of_an_audit_are_refused(refused, command, write):
    write("bank.csv", binary())
    command("audit", "bank.csv", "--cluster", "question", "--out", "out")
    refused("selftest", "out", "--cluster", "question", says="is an audit that was read already: leave --cluster out")


def test_position_bias_of_pairs_in_both_orders(command, write):
    rng = random.Random(3)
    lines = ["pair,question,order,judge"]
    for n in range(80):
        lines += [f"p{n},q{n % 8},{order},{rng.choice('AB')}" for order in ("A first", "B first")]
    write("pairs.csv", "\n".join(lines) + "\n")
    options = (
        "--response",
        "pair",
        "--cluster",
        "question",
        "--order",
        "order",
        "--scale",
        "pairwise",
        "--judge",
        "judge",
    )
    ending = command("selftest", "pairs.csv", *options, "--worlds", "40", "--json")
    assert ending.code == 0, ending.said
    found = rows(ending)
    assert found["position bias", 0.2]["verdict"] == "caught"
    assert found["judge blind to the order (control)", None]["verdict"] == "fine"


def test_design_weights_are_said_to_play_no_part(command, write):
    lines = binary().splitlines()
    write("bank.csv", "\n".join([lines[0] + ",w", *(f"{row},{1 + n % 2}" for n, row in enumerate(lines[1:]))]) + "\n")
    ending = command("selftest", "bank.csv", "--cluster", "question", "--weight", "w", "--worlds", "20")
    assert ending.code == 0
    assert "the audit's design weights play no part" in " ".join(ending.out.split())
