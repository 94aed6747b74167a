"""The demo's banks with texts, as rows of tables: built responses, gold by construction, and a judge simulated or yet to come."""

from collections.abc import Iterator
from dataclasses import replace

from evenhand.simulate.text_bank import build_bank, load_questions, simulate_judge

N_RESPONSES = 160
N_TO_JUDGE, LINES_TO_JUDGE = 8, 3
"""Of the bank that a model is to judge within two minutes."""
SEED = 11


def text_bank_rows() -> Iterator[tuple[str, ...]]:
    """A header and one row a response: ids, texts, gold and judge verdicts (blank where unparsed), and the lines' claims."""
    questions = load_questions()
    bank = build_bank(questions, n_responses=N_RESPONSES, spread=0.9, seed=SEED)
    verdicts = simulate_judge(
        bank, false_accept_rate=0.12, false_reject_rate=0.03, unparsed_rate=0.04, line_error_correlation=0.4, seed=SEED
    )
    lines = {question.question_id: question.lines for question in questions}
    size = len(questions[0].lines)
    numbers = range(1, size + 1)
    kinds = ("gold", "judge", "claim")
    yield (
        "response_id",
        "question_id",
        "question",
        "answer",
        *(f"{kind}_{number}" for kind in kinds for number in numbers),
    )
    for response, judged in zip(bank.responses, verdicts, strict=True):
        yield (
            response.response_id,
            response.cluster_id,
            response.question,
            response.text,
            *(str(label) for label in response.gold),
            *("" if verdict is None else str(verdict) for verdict in judged),
            *(line.claim for line in lines[response.cluster_id]),
        )


def bank_to_judge_rows() -> Iterator[tuple[str, ...]]:
    """A header and one row a response for a judge that is yet to come: short answers, gold as yes and no, and the lines' claims."""
    questions = tuple(replace(one, lines=one.lines[:LINES_TO_JUDGE]) for one in load_questions())
    claims = {one.question_id: [line.claim for line in one.lines] for one in questions}
    numbers = range(1, LINES_TO_JUDGE + 1)
    yield (
        *("response_id", "question_id", "question", "answer"),
        *(f"{kind}_{number}" for kind in ("gold", "claim") for number in numbers),
    )
    built = build_bank(questions, n_responses=2 * N_TO_JUDGE, spread=0.9, seed=SEED)
    for one in [response for response in built.responses if response.text][:N_TO_JUDGE]:
        gold = ("yes" if label else "no" for label in one.gold)
        yield one.response_id, one.cluster_id, one.question, one.text, *gold, *claims[one.cluster_id]
