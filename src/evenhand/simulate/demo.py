"""The demo's bank with texts, as rows of a table: built responses, gold by construction, a simulated judge."""

from collections.abc import Iterator

from evenhand.simulate.text_bank import build_bank, load_questions, simulate_judge

N_RESPONSES = 160
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
