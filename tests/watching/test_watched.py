"""Numbers made from saved tallies are those of the audit, on every scale."""

import random

import pytest

from evenhand.errors import SourceError
from evenhand.watching.comparing import compare
from evenhand.watching.saved import load_saved
from evenhand.watching.watched import watched

SCALES = {
    "binary": (("0", "1"), ("--cut", "1,2")),
    "nominal": (("red", "green", "blue"), ()),
    "ordinal": (("1", "2", "3", "4"), ("--scale", "ordinal")),
    "continuous": (("0.5", "1.25", "2", "3.75", "1000000001"), ("--scale", "continuous")),
    "words": (("low", "mid", "high"), ("--levels", "low,mid,high", "--scale", "ordinal")),
}


def wide(labels, seed):
    rng = random.Random(seed)
    lines = ["id,question,gold_a,gold_b,judge_a,judge_b"]
    for n in range(90):
        gold = [rng.choice(labels) for _ in range(2)]
        judge = [one if rng.random() < 0.7 else rng.choice((*labels, "")) for one in gold]
        lines.append(",".join([f"r{n}", f"q{n % 7}", *gold, *judge]))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("scale", SCALES)
def test_tallies_give_the_audit_again(command, write, tmp_path, scale):
    labels, options = SCALES[scale]
    write("bank.csv", wide(labels, 1))
    ending = command("audit", "bank.csv", "--cluster", "question", *options, "--out", "out")
    assert ending.code == 0, ending.said
    saved = load_saved(tmp_path / "out")
    found = watched(saved, "judge")  # holds each number against audit.json
    known = [name for name in found if saved.audit.get(name) is not None]
    assert len(known) >= 5
    assert sum(one.by_default for one in found.values()) >= 2


def test_a_criterion_may_be_watched(command, write, tmp_path):
    for name, seed in (("new", 1), ("old", 2)):
        write(f"{name}.csv", wide(("0", "1"), seed))
        command("audit", f"{name}.csv", "--cluster", "question", "--out", name)
    new, old = (load_saved(tmp_path / name) for name in ("new", "old"))
    (row,) = compare(new, old, ids=["error_rate[criterion=b]/judge"]).rows
    assert row.new == pytest.approx(new.audit["error_rate[criterion=b]/judge"].estimate)
    with pytest.raises(SourceError, match='no criterion "z"'):
        compare(new, old, ids=["error_rate[criterion=z]/judge"])


def test_hostile_names_of_criteria_are_read_back(command, write, tmp_path):
    name = "x,judge=1]"
    lines = ["id;question;line;gold;judge", *(f'r{n // 2};q{n // 2 % 4};{name if n % 2 else "y"};{n % 2};{n % 3 % 2}' for n in range(48))]  # fmt: skip
    write("bank.csv", "\n".join(lines) + "\n")
    ending = command(
        "audit", "bank.csv", "--response", "id", "--criterion", "line", "--judge", "judge", "--reference", "gold", "--out", "out"
    )  # fmt: skip
    assert ending.code == 0, ending.said
    assert set(load_saved(tmp_path / "out").cells("judge").criteria) == {name, "y"}
