"""From the verdicts that occur in a reply to the verdict of the reply."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.errors import quoted
from evenhand.verdicts.parsing.parsed import Admissible, Outcome, Parsed, from_outcome, missing, unparsed
from evenhand.verdicts.parsing.quotation import quoted_parts
from evenhand.verdicts.parsing.views import View

OPENING = "*_`\"'“‘„«([ \t"
CLOSING = "*_`\"'”’“»)]"
_PLACEHOLDERS = frozenset(
    {
        "letter",
        "grade",
        "rating",
        "score",
        "number",
        "verdict",
        "value",
        "label",
        "n",
        "x",
        "xx",
        "your rating",
        "your grade",
    }
)
_CONDITIONAL = re.compile(r"[\"'”’*_`)]{0,4}[ \t]{0,4}(?:if|when|means|for a tie)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")
_CLAUSE = re.compile(r"[.,;:!?\n]")
_WORD = re.compile(r"[\w'’]+")
_NEGATIONS = frozenset({"not", "never", "neither", "nor", "no", "cannot", "without", "than"})
_JOINT = re.compile(r"[\s*_`\"'”’,]{0,6}(?:or|and|to|/|-|–|\||vs\.?)[\s*_`\"'“‘]{0,6}", re.IGNORECASE)
_WINDOW = 48


@dataclass(frozen=True, slots=True)
class Candidate:
    """One place of a reply, in the folded view, that has the form of a verdict."""

    start: int
    end: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Rule:
    """How several verdicts in one reply are decided, and what they are called in notes."""

    last_wins: bool
    quoted_counts: bool
    noun: str


def is_placeholder(content: str) -> bool:
    """Whether a text is the slot of a template rather than something to fill it."""
    stripped = content.strip().strip(OPENING + CLOSING + ".…")
    return not stripped or stripped[0] in "$<{" or stripped.casefold() in _PLACEHOLDERS


def is_conditional(folded: str, end: int) -> bool:
    """Whether what follows a verdict makes it part of an instruction, as in: [[A]] if the first is better."""
    return _CONDITIONAL.match(folded, end, end + _WINDOW) is not None


def is_negated(folded: str, start: int) -> bool:
    """Whether one of the three words before, in the same clause, denies what follows."""
    clause = _CLAUSE.split(folded[max(0, start - _WINDOW) : start])[-1]
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(clause)[-3:]]
    return any(word in _NEGATIONS or word.endswith("n't") for word in words)


def read_lead(admits: Admissible, line: str, loose: bool = False) -> tuple[Outcome, int]:
    """The verdict at the start of a line, with its end in the line; what follows must leave no doubt.

    Args:
        admits: the scale.
        line: folded text that begins where the verdict should.
        loose: whether any word may follow; otherwise only punctuation or the end may.
    """
    start = len(line) - len(line.lstrip(OPENING))
    length = admits.lead(line[start:])
    if length is None:
        return admits.admit(line[start:].rstrip(CLOSING + " \t.,;!")), len(line)
    end = start + length
    outcome = admits.admit(line[start:end])
    if outcome.decided and _is_doubtful(admits, outcome, line[end:], loose):
        detail = f"{quoted([line.strip()[:60]])} does not settle on one"
        return Outcome(None, "unparsed", "undecided", detail), end
    return outcome, end


def _is_doubtful(admits: Admissible, outcome: Outcome, tail: str, loose: bool) -> bool:
    bare = tail.lstrip(CLOSING)
    spaced = bare.lstrip(" \t")
    if not spaced or (bare[0] in ".!" and not bare[1:2].strip(CLOSING + " \t\n")):
        return False
    if not (_goes_on(bare, spaced) or (loose and tail[0] in " \t")):
        return True
    ended = _SENTENCE_END.search(spaced)
    sentence = spaced[: ended.start()] if ended else spaced
    return any(admits.admit(sentence[slice(*place)]) != outcome for place in admits.mentions(sentence))


def _goes_on(bare: str, spaced: str) -> bool:
    """Whether punctuation parts the verdict from what follows: a comma, a bracket, a dash with space around it."""
    if spaced[0] in ",;:":
        return not spaced[1:2].isdigit()
    if spaced[0] in "(—\n":
        return True
    return spaced[0] in "-–" and bare != spaced and spaced[1:2].isspace()


def decide(view: View, candidates: Sequence[Candidate], rule: Rule) -> Parsed:
    """The verdict of a reply from its candidates in order."""
    if view.blank:
        return missing(view.text)
    if not candidates:
        return unparsed(view.text, "no verdict", f"no {rule.noun} in the declared form")
    parts = quoted_parts(view.folded)
    own = [candidate for candidate in candidates if not parts.cover(candidate.start)]
    seen = list(dict.fromkeys(candidate.outcome.name for candidate in candidates if candidate.outcome.decided))
    notes = (f"several {rule.noun}s seen: {', '.join(seen)}",) if len(seen) > 1 else ()
    if not own and not rule.quoted_counts:
        last = candidates[-1]
        place = view.original(last.start, last.end)
        return unparsed(view.text, "quoted", f"the {rule.noun} stands in a quotation only", place, notes)
    return _settled(view, own or candidates, rule, notes)


def _is_joined(folded: str, pair: Sequence[Candidate]) -> bool:
    """Whether the last two verdicts differ and are offered together, as in: [[7]] or [[8]]."""
    if len(pair) < 2 or pair[0].outcome == pair[1].outcome:
        return False
    return _JOINT.fullmatch(folded, pair[0].end, pair[1].start) is not None


def _settled(view: View, standing: Sequence[Candidate], rule: Rule, notes: tuple[str, ...]) -> Parsed:
    last = standing[-1]
    place = view.original(last.start, last.end)
    considered = standing[-1:] if rule.last_wins else standing
    if any(is_negated(view.folded, candidate.start) for candidate in considered):
        return unparsed(view.text, "negated", f"the {rule.noun} stands in a negation", place, notes)
    if rule.last_wins and _is_joined(view.folded, standing[-2:]):
        return unparsed(view.text, "undecided", f"two {rule.noun}s side by side", place, notes)
    if any(candidate.outcome != last.outcome for candidate in considered):
        names = ", ".join(dict.fromkeys(candidate.outcome.name for candidate in considered))
        return unparsed(view.text, "several verdicts", f"more than one {rule.noun}: {names}", place, notes)
    return from_outcome(view.text, last.outcome, place, notes)
