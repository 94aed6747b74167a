import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import RequestError
from evenhand.simulate.text_bank import (
    ChecklistLine,
    Question,
    TextBank,
    build_bank,
    load_questions,
    simulate_judge,
)

QUESTIONS = load_questions()
PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "zhu_bank" / "judge_item_bank.csv"

rates = st.floats(0, 1)
seeds = st.integers(0, 2**40)
sizes = st.integers(1, 30)


def small_question(question_id: str = "a", n_lines: int = 2) -> Question:
    lines = tuple(ChecklistLine(f"Claim {i}.", f"Distractor {i}.") for i in range(1, n_lines + 1))
    return Question(question_id, "Why?", lines)


def gold_of(bank: TextBank) -> np.ndarray:
    return np.array([response.gold for response in bank.responses])


def sentences() -> list[str]:
    return [text for question in QUESTIONS for line in question.lines for text in (line.claim, line.distractor)]


def words(text: str) -> int:
    return len(text.split())


def folded(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()


# the texts


def test_the_bank_has_eight_questions_of_ten_lines() -> None:
    assert [question.question_id for question in QUESTIONS] == [f"q{i}" for i in range(1, 9)]
    assert {len(question.lines) for question in QUESTIONS} == {10}


def test_no_sentence_occurs_twice_or_inside_another() -> None:
    texts = [folded(text) for text in sentences()]
    assert len(set(texts)) == len(texts) == 160
    assert not [(a, b) for a in texts for b in texts if a != b and a in b]


def test_every_sentence_is_one_sentence_of_8_to_22_words() -> None:
    for text in sentences():
        assert 8 <= words(text) <= 22, text
        assert text[0].isupper(), text
        assert text.endswith("."), text
        assert not re.search(r"[.?!] ", text), text


def test_claims_and_distractors_are_equally_long() -> None:
    for measure in (words, len):
        claims = [measure(line.claim) for question in QUESTIONS for line in question.lines]
        distractors = [measure(line.distractor) for question in QUESTIONS for line in question.lines]
        pairs = np.array(distractors) / np.array(claims)
        assert np.mean(distractors) / np.mean(claims) == pytest.approx(1, abs=0.05)
        assert np.mean(pairs) == pytest.approx(1, abs=0.05)
        assert np.all((pairs > 0.7) & (pairs < 1.4))


def test_no_sentence_or_question_comes_from_the_published_bank() -> None:
    if not PUBLISHED.exists():
        pytest.skip("the published bank is not beside this repository (../shared)")
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    published = {folded(row[name]) for row in rows for name in row if name.startswith("element_")}
    published |= {folded(part) for row in rows for part in re.split(r"(?<=[.?!])\s+", row["answer"])}
    published |= {folded(row["question"]) for row in rows}
    assert len(published) > 200
    assert not published & {folded(text) for text in [*sentences(), *(q.question for q in QUESTIONS)]}


# the builder


def test_hand_case_full_and_empty_slots() -> None:
    """With spread 1 the presence rate is the first draw itself, and each slot follows from its own draws."""
    draws = np.random.default_rng(3).random((4, 7))
    bank = build_bank([small_question("a"), small_question("b")], n_responses=4, spread=1, seed=3)
    for response, (rate, present_1, present_2, filler_1, filler_2, order_1, order_2) in zip(
        bank.responses, draws, strict=True
    ):
        slots = []
        for i, present, filler, order in (
            (1, present_1, filler_1, order_1),
            (2, present_2, filler_2, order_2),
        ):
            if present < rate:
                slots.append((order, f"Claim {i}."))
            elif filler < 0.65:
                slots.append((order, f"Distractor {i}."))
        assert response.text == " ".join(text for _, text in sorted(slots))
        assert response.gold == (int(present_1 < rate), int(present_2 < rate))
    assert [response.response_id for response in bank.responses] == ["r1", "r2", "r3", "r4"]
    assert [response.cluster_id for response in bank.responses] == ["a", "b", "a", "b"]


@given(n=sizes, spread=rates, distractor_rate=rates, seed=seeds)
def test_gold_says_which_claims_stand_in_the_text(n: int, spread: float, distractor_rate: float, seed: int) -> None:
    bank = build_bank(QUESTIONS, n_responses=n, spread=spread, distractor_rate=distractor_rate, seed=seed)
    by_id = {question.question_id: question for question in bank.questions}
    assert len(bank.responses) == n
    for response in bank.responses:
        lines = by_id[response.cluster_id].lines
        assert response.gold == tuple(int(line.claim in response.text) for line in lines)
        assert response.distracted == tuple(int(line.distractor in response.text) for line in lines)
        assert not any(g and d for g, d in zip(response.gold, response.distracted, strict=True))
        held = [line.claim for line, g in zip(lines, response.gold, strict=True) if g]
        held += [line.distractor for line, d in zip(lines, response.distracted, strict=True) if d]
        assert len(response.text) == sum(map(len, held)) + max(len(held) - 1, 0)


@given(n=sizes, more=sizes, spread=rates, seed=seeds)
def test_same_seed_same_bank_and_a_larger_bank_begins_with_the_smaller(
    n: int, more: int, spread: float, seed: int
) -> None:
    bank = build_bank(QUESTIONS, n_responses=n, spread=spread, seed=seed)
    assert build_bank(QUESTIONS, n_responses=n, spread=spread, seed=seed) == bank
    assert build_bank(QUESTIONS, n_responses=n + more, spread=spread, seed=seed).responses[:n] == bank.responses


def test_another_seed_gives_another_bank_and_no_global_state_matters() -> None:
    first = build_bank(QUESTIONS, n_responses=20, spread=0.6, seed=1)
    assert build_bank(QUESTIONS, n_responses=20, spread=0.6, seed=2) != first
    np.random.seed(0)  # noqa: NPY002 - the legacy global state must have no effect
    assert build_bank(QUESTIONS, n_responses=20, spread=0.6, seed=1) == first


@pytest.mark.parametrize("spread", [0.0, 0.4, 0.8])
def test_rates_and_spread_of_totals_are_near_their_targets(spread: float) -> None:
    """Var(total) = K/4 + K(K-1) spread²/12, from p of variance spread²/12 and conditional independence."""
    bank = build_bank(QUESTIONS, n_responses=8_000, spread=spread, seed=7)
    gold = gold_of(bank)
    distracted = np.array([response.distracted for response in bank.responses])
    assert gold.mean() == pytest.approx(0.5, abs=0.01)
    assert distracted[gold == 0].mean() == pytest.approx(0.65, abs=0.01)
    assert gold.sum(axis=1).var() == pytest.approx(2.5 + 90 * spread**2 / 12, rel=0.06)


def test_sentences_stand_in_random_order() -> None:
    bank = build_bank(QUESTIONS[:1], n_responses=4_000, spread=0, distractor_rate=0, seed=5)
    first, last = QUESTIONS[0].lines[0].claim, QUESTIONS[0].lines[-1].claim
    both = [r.text for r in bank.responses if first in r.text and last in r.text]
    assert np.mean([text.index(first) < text.index(last) for text in both]) == pytest.approx(0.5, abs=0.06)


def test_degenerate_settings() -> None:
    one = build_bank([small_question(n_lines=1)], n_responses=1, spread=0, seed=0)
    assert len(one.responses) == 1
    bare = build_bank([small_question()], n_responses=200, spread=1, distractor_rate=0, seed=0)
    assert not any("Distractor" in response.text for response in bare.responses)
    assert {response.text for response in bare.responses if not any(response.gold)} == {""}
    full = build_bank([small_question()], n_responses=200, spread=1, distractor_rate=1, seed=0)
    assert {response.text.count(".") for response in full.responses} == {2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_responses": 0}, "n_responses is 0; it must be a whole number of at least 1"),
        ({"n_responses": 2.5}, "n_responses is 2.5"),
        ({"n_responses": float("nan")}, "n_responses is nan"),
        ({"spread": 1.01}, "spread is 1.01; it must lie between 0 and 1"),
        ({"spread": float("nan")}, "spread is nan"),
        ({"distractor_rate": -0.1}, "distractor_rate is -0.1"),
        ({"seed": -1}, "seed is -1; it must be a whole number of at least 0"),
        ({"seed": None}, "seed is None"),
        ({"questions": []}, "questions is empty"),
        ({"questions": [small_question(), small_question()]}, 'an id twice: "a"'),
        ({"questions": [small_question(), small_question("b", 3)]}, r"\[2, 3\] lines"),
    ],
)
def test_bad_bank_arguments_are_named(change: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {
        "questions": QUESTIONS,
        "n_responses": 5,
        "spread": 0.5,
        "seed": 1,
    } | change
    questions = arguments.pop("questions")
    with pytest.raises(RequestError, match=message):
        build_bank(questions, **arguments)  # type: ignore[arg-type]


def test_a_question_without_clear_sentences_is_refused() -> None:
    with pytest.raises(RequestError, match='question "x" needs lines'):
        Question("x", "Why?", ())
    with pytest.raises(RequestError, match="empty sentences"):
        Question("x", "Why?", (ChecklistLine("A.", " "),))
    with pytest.raises(RequestError, match=r'uses a sentence twice: "A\."'):
        Question("x", "Why?", (ChecklistLine("A.", "B."), ChecklistLine("C.", "A.")))


# the judge


@given(n=sizes, seed=seeds, correlation=rates)
def test_a_judge_without_errors_returns_gold_and_one_with_only_errors_its_opposite(
    n: int, seed: int, correlation: float
) -> None:
    bank = build_bank(QUESTIONS, n_responses=n, spread=0.6, seed=seed)
    gold = tuple(response.gold for response in bank.responses)
    right = simulate_judge(
        bank, false_accept_rate=0, false_reject_rate=0, line_error_correlation=correlation, seed=seed
    )
    wrong = simulate_judge(
        bank, false_accept_rate=1, false_reject_rate=1, line_error_correlation=correlation, seed=seed
    )
    assert right == gold
    assert wrong == tuple(tuple(1 - label for label in row) for row in gold)


@given(n=sizes, seed=seeds, accept=rates, reject=rates, unparsed=rates, correlation=rates)
def test_verdicts_have_the_shape_of_gold_and_blank_whole_responses(
    n: int, seed: int, accept: float, reject: float, unparsed: float, correlation: float
) -> None:
    bank = build_bank(QUESTIONS, n_responses=n, spread=0.6, seed=seed)
    settings = {
        "false_accept_rate": accept,
        "false_reject_rate": reject,
        "unparsed_rate": unparsed,
        "line_error_correlation": correlation,
    }
    verdicts = simulate_judge(bank, **settings, seed=seed)
    assert verdicts == simulate_judge(bank, **settings, seed=seed)
    assert [len(row) for row in verdicts] == [10] * n
    for row in verdicts:
        assert set(row) == {None} or set(row) <= {0, 1}
        assert all(value is None or type(value) is int for value in row)


@pytest.mark.parametrize("correlation", [0.0, 0.3])
def test_error_rates_and_their_correlation_are_near_their_targets(correlation: float) -> None:
    """Two like errors on one line correlate as asked; 600 questions give lines enough to see it."""
    questions = [small_question(f"a{i}", 10) for i in range(600)]
    bank = build_bank(questions, n_responses=6_000, spread=0.2, seed=11)
    gold = gold_of(bank)
    verdicts = np.array(
        simulate_judge(
            bank,
            false_accept_rate=0.1,
            false_reject_rate=0.02,
            line_error_correlation=correlation,
            seed=11,
        )
    )
    accepted = (verdicts == 1)[gold == 0]
    assert accepted.mean() == pytest.approx(0.1, abs=0.012)
    assert (verdicts == 0)[gold == 1].mean() == pytest.approx(0.02, abs=0.008)
    first, second = slice(0, 600), slice(600, 1200)  # responses to the same questions
    both_absent = (gold[first] == 0) & (gold[second] == 0)
    pair = np.corrcoef(verdicts[first][both_absent], verdicts[second][both_absent])
    assert pair[0, 1] == pytest.approx(correlation, abs=0.12)


def test_a_line_is_always_or_never_misjudged_at_correlation_one() -> None:
    bank = build_bank(QUESTIONS, n_responses=80, spread=0.4, seed=2)
    verdicts = np.array(
        simulate_judge(bank, false_accept_rate=0.3, false_reject_rate=0.3, line_error_correlation=1, seed=4)
    )
    wrong, gold = verdicts != gold_of(bank), gold_of(bank)
    seen = set()
    for first in range(8):
        for line in range(10):
            for label in (0, 1):
                errors = set(wrong[first::8, line][gold[first::8, line] == label].tolist())
                assert len(errors) <= 1
                seen |= errors
    assert seen == {True, False}


def test_unparsed_rate_is_near_its_target() -> None:
    bank = build_bank(QUESTIONS, n_responses=8_000, spread=0.8, seed=9)
    verdicts = simulate_judge(bank, false_accept_rate=0.1, false_reject_rate=0.1, unparsed_rate=0.2, seed=9)
    blank = np.array([row[0] is None for row in verdicts])
    assert blank.mean() == pytest.approx(0.2, abs=0.02)


def test_bank_and_judge_of_one_seed_stay_independent() -> None:
    """On a shared stream the draw that made this line present would also decide that it is rejected."""
    rejected = []
    for seed in range(600):
        bank = build_bank([small_question(n_lines=1)], n_responses=1, spread=0, seed=seed)
        (verdict,) = simulate_judge(
            bank, false_accept_rate=0, false_reject_rate=0.5, line_error_correlation=1, seed=seed
        )
        if bank.responses[0].gold == (1,):
            rejected.append(verdict == (0,))
    assert np.mean(rejected) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("name", ["false_accept_rate", "false_reject_rate", "unparsed_rate", "line_error_correlation"])
@pytest.mark.parametrize("value", [-0.01, 1.5, float("nan"), float("inf")])
def test_bad_judge_rates_are_named(name: str, value: float) -> None:
    bank = build_bank(QUESTIONS, n_responses=2, spread=0.5, seed=1)
    settings = {"false_accept_rate": 0.1, "false_reject_rate": 0.1, name: value}
    with pytest.raises(RequestError, match=f"{name} is {value}; it must lie between 0 and 1"):
        simulate_judge(bank, **settings, seed=1)


def test_an_empty_bank_or_a_negative_seed_is_refused() -> None:
    bank = build_bank(QUESTIONS, n_responses=2, spread=0.5, seed=1)
    with pytest.raises(RequestError, match="bank holds no responses"):
        simulate_judge(replace(bank, responses=()), false_accept_rate=0, false_reject_rate=0, seed=1)
    with pytest.raises(RequestError, match="seed is -3"):
        simulate_judge(bank, false_accept_rate=0, false_reject_rate=0, seed=-3)
