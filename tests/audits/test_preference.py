"""Errors by length and author: differences at a fixed reference label, by hand and with planted preferences."""

import csv
import io
from collections.abc import Iterable

import numpy as np
import pytest

import evenhand

Rows = Iterable[Iterable[object]]


def text_of(header: str, rows: Rows) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([header.split(","), *rows])
    return text.getvalue()


def simulated(seed: int = 1, *, own: float = 0.0, by_length: float = 0.0, n: int = 40, m: int = 12) -> str:
    """Two judges on n questions of m responses; each accepts more of its own model's unmet work, and of longer work.

    Longer responses and a model's own are more often right, so that raw rates of a fair judge differ.
    """
    rng, rows = np.random.default_rng(seed), []
    for q in range(n):
        for r in range(m):
            length, author = int(rng.integers(20, 400)), rng.choice(["Alpha", "beta ", "gamma"])
            reference = int(rng.random() < 0.3 + length / 800 + 0.1 * (author == "Alpha"))
            for judge in ("alpha", "beta"):
                is_own = author.strip().casefold() == judge
                accept = 0.9 if reference else 0.1 + own * is_own + by_length * (length > 210)
                rows.append(
                    (f"r{q}.{r}", f"q{q}", judge, int(rng.random() < accept), reference, length, "x" * length, author)
                )
    return text_of("id,question,rater,verdict,reference,length,words,author", rows)


ROLES = {"cluster": "question", "rater": "rater", "verdict": "verdict", "reference": "reference"}


def audited(write, rows: str, **options) -> evenhand.AuditResult:
    return evenhand.audit(write("v.csv", rows), **{**ROLES, **options})


def test_by_hand(write) -> None:
    # false accepts: own 2 of 4, others 1 of 8; false rejects: own 1 of 4, others 2 of 4
    cells = [
        ("m", 0, 1, 2),
        ("m", 0, 0, 2),
        ("o", 0, 1, 1),
        ("o", 0, 0, 7),
        ("m", 1, 0, 1),
        ("m", 1, 1, 3),
        ("o", 1, 0, 2),
        ("o", 1, 1, 2),
    ]
    rows = [(author, reference, judge) for author, reference, judge, n in cells for _ in range(n)]
    table = [(f"r{at}", f"q{at % 5}", author, judge, reference) for at, (author, reference, judge) in enumerate(rows)]
    found = evenhand.audit(
        write("v.csv", text_of("id,question,author,m,reference", table)),
        cluster="question",
        judge="m",
        reference="reference",
        author="author",
    )
    assert found["false_accept_rate[by=author,group=own]/judge"].estimate == 2 / 4
    assert found["false_accept_rate[by=author,group=others]/judge"].estimate == 1 / 8
    assert found["false_accept_rate[by=author]/judge"].estimate == pytest.approx(2 / 4 - 1 / 8)
    assert found["false_reject_rate[by=author]/judge"].estimate == pytest.approx(1 / 4 - 2 / 4)
    # 12 verdicts have reference 0 and 8 reference 1
    assert found["leniency[by=author,per=verdict]/judge"].estimate == pytest.approx(
        (12 * (2 / 4 - 1 / 8) + 8 * (3 / 4 - 2 / 4)) / 20
    )
    assert found["error_rate[by=author]/judge"].estimate == pytest.approx(
        (12 * (2 / 4 - 1 / 8) + 8 * (1 / 4 - 2 / 4)) / 20
    )
    one = found["false_accept_rate[by=author]/judge"]
    assert (one.n_used, one.n_excluded, one.describes) == (12, 8, "judge")
    assert one.family == "errors of each direction by length and author, tested against 0; 2 in all"
    assert "responses that its own model wrote minus on responses of other authors" in one.estimand
    assert found.audit.tables["by/judge"].rows[0] == ("author", "written by others", "0", 8, 1)


def test_a_planted_self_preference_is_found_and_fairness_is_not(write) -> None:
    found = audited(write, simulated(own=0.25), author="author", length="length")
    for judge in ("alpha", "beta"):
        one = found[f"false_accept_rate[by=author]/{judge}"]
        assert one.ci_low < 0.25 < one.ci_high
        assert one.p_values["holm"] < 0.01
        assert found[f"leniency[by=author,per=verdict]/{judge}"].p_values["raw"] < 0.05
        null = found[f"false_accept_rate[by=length]/{judge}"]
        assert null.ci_low < 0 < null.ci_high
        assert 0 < null.detectable < 0.5
        assert null.family.endswith("8 in all")  # two directions, two traits, two judges


def test_a_planted_length_bias_is_found(write) -> None:
    found = audited(write, simulated(by_length=0.25), length="length")
    one = found["false_accept_rate[by=length]/alpha"]
    assert one.ci_low < 0.25 < one.ci_high
    assert "parted at 2" in one.estimand
    assert " length)" in one.estimand
    assert found["false_reject_rate[by=length]/alpha"].p_values["holm"] > 0.05


def test_texts_are_measured_in_characters(write) -> None:
    text = simulated(by_length=0.25)
    by_number, by_words, by_text = (audited(write, text, **{option: column}) for option, column in
                                    (("length", "length"), ("length", "words"), ("text", "words")))  # fmt: skip
    name = "false_accept_rate[by=length]/alpha"
    assert by_number[name].estimate == by_words[name].estimate == by_text[name].estimate
    assert "characters)" in by_words[name].estimand
    assert by_number.audit.tables["by/alpha"].rows[0][1].endswith(" length")


def test_a_fair_judge_differs_by_raw_rates_alone(write) -> None:
    # longer work is better by construction: the raw positive rate differs, at a fixed label it does not
    found = audited(write, simulated(n=80), length="length")
    one = found["leniency[by=length,per=verdict]/alpha"]
    assert one.ci_low < 0 < one.ci_high
    assert abs(one.estimate) < 0.08


def test_the_model_column_names_the_judge(write) -> None:
    rows = [
        (f"r{at}", f"q{at % 6}", model, author, int(rng < 0.5 + 0.4 * (model == author)), 0)
        for at, (author, rng) in enumerate(zip("ab" * 60, np.random.default_rng(0).random(120), strict=True))
        for model in "ab"
    ]
    text = text_of("id,question,model,author,judge,reference", rows)
    found = evenhand.audit(
        write("v.csv", text), cluster="question", model="model", author="author", judge="judge", reference="reference"
    )
    one = found["false_accept_rate[by=author]/judge"]
    held = {own: [int(row[4]) for row in rows if (row[2] == row[3]) == own] for own in (True, False)}
    assert one.estimate == pytest.approx(np.mean(held[True]) - np.mean(held[False]))


def test_no_author_is_the_judge(write) -> None:
    found = audited(write, simulated().replace("alpha", "delta"), author="author")
    one = found["leniency[by=author,per=verdict]/delta"]
    assert (one.status, one.estimate) == ("undefined", None)
    assert 'no author is the judge\'s model: authors are "Alpha"' in one.reason
    assert '"delta"' in one.reason
    assert found["leniency[by=author,per=verdict]/beta"].status == "ok"


def test_pairs_by_the_length_and_author_of_either_side(write) -> None:
    rng, rows = np.random.default_rng(0), []
    for at in range(300):
        longer = bool(rng.random() < 0.5)
        reference = rng.choice(["A", "B"])
        # the judge follows the reference, but takes the longer side in three of ten
        judge = ("A" if longer else "B") if rng.random() < 0.3 else reference
        rows.append(
            (
                f"r{at}",
                f"q{at % 20}",
                judge,
                reference,
                9 if longer else 5,
                7,
                *(("m", "o") if rng.random() < 0.5 else ("o", "m")),
            )
        )
    text = text_of("id,question,judge,reference,length_a,length_b,model_a,model_b", rows)
    options = {"cluster": "question", "judge": "judge", "reference": "reference", "scale": "pairwise"}
    path = write("v.csv", text.replace(",judge,", ",m,", 1))
    found = evenhand.audit(
        path, **{**options, "judge": "m"}, length=("length_a", "length_b"), author=("model_a", "model_b")
    )
    one = found["win_rate[by=length]/judge"]
    assert one.ci_low < 0.3 < one.ci_high
    assert "the side whose wins are counted is the longer one" in one.estimand
    assert found["win_rate[by=author]/judge"].ci_low < 0 < found["win_rate[by=author]/judge"].ci_high
    swapped = evenhand.audit(path, **{**options, "judge": "m"}, length=("length_b", "length_a"))
    assert swapped["win_rate[by=length]/judge"].estimate == pytest.approx(-one.estimate)


def test_marks_by_length(write) -> None:
    rng, rows = np.random.default_rng(6), []
    for at in range(400):
        length, mark = int(rng.integers(1, 100)), int(rng.integers(0, 9))
        rows.append((f"r{at}", f"q{at % 20}", mark + int(length > 50), mark, length))
    text = text_of("id,question,judge,reference,length", rows)
    found = evenhand.audit(write("v.csv", text), cluster="question", scale="continuous", length="length")
    one = found["bias[by=length]/judge"]
    assert one.estimate == pytest.approx(1.0, abs=0.05)
    assert one.p_values["raw"] < 1e-6


def test_one_kind_of_response_is_no_comparison(write) -> None:
    rows = [(f"r{at}", f"q{at % 5}", at % 2, at % 3 % 2, 7) for at in range(30)]
    found = evenhand.audit(
        write("v.csv", text_of("id,question,judge,reference,length", rows)), cluster="question", length="length"
    )
    one = found["leniency[by=length,per=verdict]/judge"]
    assert (one.status, one.reason) == ("undefined", "all responses are equally long")


def test_a_label_held_in_one_cluster_is_not_compared(write) -> None:
    rows = [(f"r{at}", f"q{at % 5}", at % 2, 0 if at else 1, at) for at in range(40)]
    found = evenhand.audit(
        write("v.csv", text_of("id,question,judge,reference,length", rows)), cluster="question", length="length"
    )
    one = found["false_reject_rate[by=length]/judge"]
    assert (one.status, one.reason) == (
        "undefined",
        "no reference label whose verdicts of both kinds lie in two clusters",
    )
    assert found["error_rate[by=length]/judge"].n_used == 39


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--length", "nowhere"), 'no column "nowhere"'),
        (("--length", "length,words"), "a response has one column; write --length COL"),
        (("--author", "verdict"), "says two things of one response"),
        (("--length", "a", "--length", "b", "--length", "c"), "takes one column, or for verdicts on pairs two"),
    ],
)
def test_refused_columns(refused, write, options: tuple[str, ...], says: str) -> None:
    write("v.csv", simulated(n=3))
    roles = ("--rater", "rater", "--verdict", "verdict", "--reference", "reference", "--cluster", "question")
    refused("audit", "v.csv", *roles, *options, "--out", "out", says=says)


def test_a_stray_text_among_lengths(refused, write) -> None:
    write(
        "v.csv",
        "id,judge,reference,length\n" + "\n".join(f"r{n},{n % 2},{n % 3 % 2},{n if n else 'long'}" for n in range(12)),
    )
    refused("audit", "v.csv", "--length", "length", "--out", "out", says="holds numbers and texts")


def test_in_the_report_and_the_terminal(command, write) -> None:
    path = write("v.csv", simulated(own=0.25, n=10))
    roles = ("--rater", "rater", "--verdict", "verdict", "--reference", "reference", "--cluster", "question")
    done = command("audit", path, *roles, "--length", "length", "--author", "author", "--out", "out")
    assert "alpha by author: positive rate at a fixed reference label, its own model's work minus others'" in done.out
    report = (path.parent / "out" / "report.md").read_text(encoding="utf-8")
    assert "By length and author, at a fixed reference label" in report
    assert "found with 80 % power from" in report
    assert (path.parent / "out" / "report.html").read_text(encoding="utf-8").count("false accept rate (by author)") >= 2
    card = command("show", "out", "false_accept_rate[by=author]/alpha", "--card").out
    assert "tested     raw p" in card


@pytest.mark.slow
def test_intervals_of_differences_cover() -> None:
    # 13 questions whose errors cluster, own and other work at the same rates: .95 within its 99 % Monte-Carlo band
    from functools import partial

    from evenhand.audits.preference import _standardised
    from evenhand.stats.intervals import METHODS, Sample
    from evenhand.stats.scales import IDENTITY

    rng, hits, n = np.random.default_rng(9), 0, 2_000
    for _ in range(n):
        rate = rng.beta(2, 12, (13, 1, 2))
        trials = rng.integers(4, 12, (13, 2, 2))
        tallies = np.stack([rng.binomial(trials, rate), trials], axis=-1).astype(float)
        weights = trials.sum(axis=(0, 1)) / trials.sum()
        measure = partial(_standardised, weights)
        names = tuple(map(str, range(13)))
        sample = Sample(
            tallies, measure, trials.sum(axis=(1, 2)).astype(float), IDENTITY, names, lambda g: np.ones((1, g))
        )
        found = METHODS["default"](sample, 0.95)
        hits += found.low <= 0 <= found.high
    assert hits / n == pytest.approx(0.95, abs=2.576 * np.sqrt(0.95 * 0.05 / n))
