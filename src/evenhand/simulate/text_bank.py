"""A bank of short texts whose gold labels are true by construction, and a judge of known error rates.

Every checklist line owns two sentences: a *claim*, which meets the line, and a *distractor*, which stays on
the sub-topic and does not. A response holds a random part of the claims; where one is absent, its distractor
may stand instead. So a gold label needs no annotator: it says whether the claim was put in.

Both generators draw one uniform number for each event and compare it with a rate. The same seed therefore
gives the same draws whatever the rates, and a larger bank begins with the smaller one.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from evenhand.errors import RequestError, quoted

Verdicts = tuple[int | None, ...]
"""One response's verdicts in checklist order: 1 met, 0 not met, None where the judge's output is blank."""

_JUDGE_STREAM = 1  # keeps a judge's draws apart from those of a bank built with the same seed


@dataclass(frozen=True, slots=True)
class ChecklistLine:
    """One line of a checklist.

    Attributes:
        claim: the sentence that meets the line; also the wording of the criterion.
        distractor: a sentence on the same sub-topic that does not meet it.
    """

    claim: str
    distractor: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its checklist.

    Attributes:
        question_id: the cluster of every response to it.
        question: the question as put to the writer.
        lines: K checklist lines, in order.

    Raises:
        RequestError: no line, an empty sentence, or a sentence used twice (gold would be ambiguous).
    """

    question_id: str
    question: str
    lines: tuple[ChecklistLine, ...]

    def __post_init__(self) -> None:
        sentences = [text for line in self.lines for text in (line.claim, line.distractor)]
        if not sentences or not all(map(str.strip, sentences)):
            raise RequestError(f"question {quoted([self.question_id])} needs lines without empty sentences")
        twice = sorted({text for text in sentences if sentences.count(text) > 1})
        if twice:
            raise RequestError(f"question {quoted([self.question_id])} uses a sentence twice: {quoted(twice)}")


@dataclass(frozen=True, slots=True)
class BuiltResponse:
    """A response put together from the sentences of its question.

    Attributes:
        response_id: ``r1``, ``r2``, ... in the order of the bank.
        cluster_id: the id of its question.
        question: the question it answers.
        text: its sentences in random order, one space apart; empty when no slot was filled.
        gold: K labels, 1 where the claim of the line stands in the text.
        distracted: K labels, 1 where the distractor of the line stands in the text; never 1 beside a gold 1.
    """

    response_id: str
    cluster_id: str
    question: str
    text: str
    gold: tuple[int, ...]
    distracted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TextBank:
    """Responses with the questions that they answer.

    Attributes:
        questions: the questions, all with the same number K of lines.
        responses: the responses; response i answers question i modulo the number of questions.
    """

    questions: tuple[Question, ...]
    responses: tuple[BuiltResponse, ...]


def load_questions() -> tuple[Question, ...]:
    """The package's own text bank: eight everyday questions of ten lines each."""
    raw = tomllib.loads(files("evenhand").joinpath("data", "text_bank.toml").read_text(encoding="utf-8"))
    return tuple(
        Question(entry["id"], entry["question"], tuple(ChecklistLine(**line) for line in entry["lines"]))
        for entry in raw["questions"]
    )


def build_bank(
    questions: Sequence[Question],
    *,
    n_responses: int,
    spread: float,
    distractor_rate: float = 0.65,
    seed: int,
) -> TextBank:
    """Build responses whose gold labels are known.

    Each response draws a presence rate p ~ U(.5 - spread/2, .5 + spread/2) and holds each claim with
    probability p. The slot of an absent claim takes its distractor with probability ``distractor_rate``, else
    it stays empty. Questions take turns, so clusters differ in size by one response at most.

    Args:
        questions: questions with distinct ids and equally long checklists.
        n_responses: number of responses, at least 1.
        spread: width of the range of presence rates, in [0, 1].
        distractor_rate: share of absent slots that hold a distractor, in [0, 1].
        seed: seed of the generator, 0 or more.

    Returns:
        A bank of ``n_responses`` responses.

    Raises:
        RequestError: an argument out of its range, or questions that do not go together.
    """
    chosen = tuple(questions)
    _check_together(chosen)
    _check_whole("n_responses", n_responses, least=1)
    _check_rate("spread", spread)
    _check_rate("distractor_rate", distractor_rate)
    _check_whole("seed", seed, least=0)

    n_lines = len(chosen[0].lines)
    draws = np.random.default_rng(seed).random((n_responses, 1 + 3 * n_lines))
    presence_rate = 0.5 + spread * (draws[:, :1] - 0.5)
    for_presence, for_distractor, for_order = np.split(draws[:, 1:], 3, axis=1)
    present = for_presence < presence_rate
    distracted = ~present & (for_distractor < distractor_rate)
    order = np.argsort(for_order, axis=1, kind="stable")

    responses = []
    for row in range(n_responses):
        question = chosen[row % len(chosen)]
        gold, fillers = present[row].tolist(), distracted[row].tolist()
        sentences = [
            question.lines[slot].claim if gold[slot] else question.lines[slot].distractor
            for slot in order[row].tolist()
            if gold[slot] or fillers[slot]
        ]
        responses.append(
            BuiltResponse(
                response_id=f"r{row + 1}",
                cluster_id=question.question_id,
                question=question.question,
                text=" ".join(sentences),
                gold=tuple(map(int, gold)),
                distracted=tuple(map(int, fillers)),
            )
        )
    return TextBank(chosen, tuple(responses))


def simulate_judge(
    bank: TextBank,
    *,
    false_accept_rate: float,
    false_reject_rate: float,
    unparsed_rate: float = 0.0,
    line_error_correlation: float = 0.0,
    seed: int,
) -> tuple[Verdicts, ...]:
    """Verdicts of a judge with known error rates.

    With ``line_error_correlation`` above 0, errors gather on a few lines: every line of every question has a
    draw of its own for each gold label, and a verdict uses it, rather than a fresh one, with probability
    √correlation. Errors on one line in two responses with the same gold label then have exactly this
    correlation, and the expected rates stay as they are. At 0 all errors are independent; at 1 a line is
    misjudged always or never. With few lines, a high correlation can take observed rates far from target.

    Args:
        bank: the bank to judge.
        false_accept_rate: probability of a 1 where gold is 0, in [0, 1].
        false_reject_rate: probability of a 0 where gold is 1, in [0, 1].
        unparsed_rate: probability that a response's whole output is blank, in [0, 1].
        line_error_correlation: correlation of like errors on one line, in [0, 1].
        seed: seed of the generator, 0 or more; may be the seed of the bank, the draws stay independent.

    Returns:
        One tuple of K verdicts a response, in the order of ``bank.responses``; blank verdicts are None.

    Raises:
        RequestError: an argument out of its range, or a bank without responses.
    """
    _check_rate("false_accept_rate", false_accept_rate)
    _check_rate("false_reject_rate", false_reject_rate)
    _check_rate("unparsed_rate", unparsed_rate)
    _check_rate("line_error_correlation", line_error_correlation)
    _check_whole("seed", seed, least=0)
    if not bank.responses:
        raise RequestError("bank holds no responses; it needs at least 1")

    rng = np.random.default_rng([seed, _JUDGE_STREAM])
    gold = np.array([response.gold for response in bank.responses], dtype=np.int64)
    n_responses, n_lines = gold.shape
    place = {question.question_id: index for index, question in enumerate(bank.questions)}
    cluster = np.array([place[response.cluster_id] for response in bank.responses])

    of_line = rng.random((len(bank.questions), n_lines, 2))  # last axis: the gold label
    draws = rng.random((n_responses, 1 + 2 * n_lines))
    unparsed = draws[:, 0] < unparsed_rate
    for_sharing, fresh = np.split(draws[:, 1:], 2, axis=1)
    shared = of_line[cluster[:, None], np.arange(n_lines), gold]
    chance = np.where(for_sharing < np.sqrt(line_error_correlation), shared, fresh)
    wrong = chance < np.where(gold == 1, false_reject_rate, false_accept_rate)
    verdicts = np.where(wrong, 1 - gold, gold).tolist()
    blank: Verdicts = (None,) * n_lines
    return tuple(blank if lost else tuple(row) for row, lost in zip(verdicts, unparsed.tolist(), strict=True))


def _check_together(questions: tuple[Question, ...]) -> None:
    if not questions:
        raise RequestError("questions is empty; it needs at least 1 question")
    ids = [question.question_id for question in questions]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise RequestError(f"questions use an id twice: {quoted(twice)}; each id must be unique")
    lengths = sorted({len(question.lines) for question in questions})
    if len(lengths) > 1:
        raise RequestError(f"questions have {lengths} lines; all checklists must be equally long")


def _check_rate(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise RequestError(f"{name} is {value}; it must lie between 0 and 1")


def _check_whole(name: str, value: int, *, least: int) -> None:
    if not isinstance(value, int | np.integer) or value < least:
        raise RequestError(f"{name} is {value}; it must be a whole number of at least {least}")
