"""The forms of reply that ``--parse`` names, each a parser over the scale that a spec declares."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.errors import RequestError, did_you_mean, printable
from evenhand.verdicts.parsing.chains import Chain, Refusal
from evenhand.verdicts.parsing.labels import Labels
from evenhand.verdicts.parsing.marked import Bracketed, Labelled
from evenhand.verdicts.parsing.numbers import Numbers
from evenhand.verdicts.parsing.objects import JsonObject
from evenhand.verdicts.parsing.parsed import Admissible, Outcome, Parsed, Parser, Span, missing, unparsed
from evenhand.verdicts.parsing.presets import CANNOT_ASSESS, grade_spellings, labelled_grade
from evenhand.verdicts.parsing.tokens import TokenChoice, TokenMean
from evenhand.verdicts.parsing.words import Leading, Whole
from evenhand.verdicts.spec import Spec

FORMS = {
    "grade": "GRADE: C, the last such line; letters by --levels",
    "labelled:WORD": "WORD: value",
    "rating": "[[7]], the last one, within --range",
    "rating:WORD": "WORD: [[7]], the same",
    "bracketed": "[[value]], the last one",
    "pairwise": "[[A]], [[B]] or for a tie [[C]], the last one",
    "json:KEY": 'an object with the verdict under a key, as {"reason": "...", "score": 4}',
    "yes-no": "yes or no at the beginning",
    "met-unmet": "met, unmet or cannot assess at the beginning",
    "leading": "the reply begins with the value",
    "whole": "the reply is the value and nothing else",
    "tokens": "JSON of token log-probabilities, the likeliest value",
    "token-mean": "the same, the mean of the numbers of --range",
}
"""How a form is written and what it reads; values come from --levels or --range where nothing else is said."""
Build = Callable[[Spec, str | None], Parser]


@dataclass(frozen=True)
class Form:
    """A declared form of reply.

    Attributes:
        name: as it was declared.
        parser: reads a reply.
        scale: values that occur → fields of the spec, where the form itself says how they are ordered.
    """

    name: str
    parser: Parser
    scale: Callable[[frozenset[str]], Mapping[str, Any]] = field(repr=False)


def declared_form(spec: Spec) -> Form | None:
    """The form that a spec declares; None where its verdicts are no replies.

    Raises:
        RequestError: an unknown form, one without its key or its scale, or phrases of refusal without a form.
    """
    if spec.parse is None:
        if spec.refusal:
            raise RequestError("--refusal names beginnings of replies, and replies are parsed with --parse FORM")
        return None
    name, _, key = spec.parse.partition(":")
    known = {shape.partition(":")[0]: shape for shape in FORMS}
    if name not in _BUILDERS:
        raise RequestError(
            f'--parse "{printable(spec.parse)}": no such form; there are {", ".join(FORMS)}'
            + did_you_mean(name, list(known))
        )
    if bool(key.strip()) < (f"{name}:" in known[name] and name != "rating"):
        raise RequestError(f"--parse {name} needs a word after a colon: {known[name]} reads {FORMS[known[name]]}")
    if key.strip() and not any(shape.startswith(f"{name}:") for shape in FORMS):
        raise RequestError(f"--parse {name} takes no word after a colon: it reads {FORMS[name]}")
    parser = _BUILDERS[name](spec, key.strip() or None)
    if spec.refusal:
        parser = Chain((Refusal(spec.refusal), parser))
    return Form(spec.parse, parser, _SCALES.get(name, _no_scale))


def letter_scale(values: frozenset[str]) -> Mapping[str, Any]:
    """The order of the letters that stand for correct, partially correct and incorrect."""
    if values and values <= {"C", "I"}:
        return {"levels": ("I", "C"), "positive": "C"}
    if values and values <= {"C", "P", "I"}:
        return {"levels": ("I", "P", "C"), "scale": "ordinal"}
    return {}


def pair_scale(values: frozenset[str]) -> Mapping[str, Any]:
    """Two sides, the first one's wins being counted."""
    pairs = {"scale": "pairwise", "levels": ("B", "A"), "positive": "A"}
    return pairs if values and values <= {"A", "B"} else {}


def _no_scale(_values: frozenset[str]) -> Mapping[str, Any]:
    return {}


_SCALES = {"grade": letter_scale, "pairwise": pair_scale}


# --- scales ---


@dataclass(frozen=True)
class _Either:
    """Numbers, and beside them words that say tie or abstention."""

    numbers: Numbers
    words: Labels

    def admit(self, text: str) -> Outcome:
        """What the text stands for, as a word first."""
        outcome = self.words.admit(text)
        return outcome if outcome.decided else self.numbers.admit(text)

    def lead(self, text: str) -> int | None:
        """Where a word or number at the start ends."""
        ends = [end for end in (self.words.lead(text), self.numbers.lead(text)) if end is not None]
        return max(ends, default=None)

    def mentions(self, text: str) -> Iterator[Span]:
        """Words and numbers, in the order of their places."""
        return iter(sorted([*self.words.mentions(text), *self.numbers.mentions(text)]))


def _numbers(spec: Spec) -> Numbers:
    if spec.range is None:
        raise RequestError(f"--parse {spec.parse} needs the scale of its numbers: --range LO,HI")
    return Numbers(*spec.range, decimal_comma=spec.decimal == ",")


def _labels(spec: Spec, values: Sequence[str], spellings: Sequence[tuple[str, str]] = ()) -> Labels:
    """Labels with the user's words of tie and abstention, as far as these are no labels themselves."""
    words = {value.casefold() for value in values}
    tie = tuple(word for word in spec.tie if word.casefold() not in words)
    abstain = dict.fromkeys((*spec.abstain, *CANNOT_ASSESS))
    abstain = dict.fromkeys(word for word in abstain if word.casefold() not in {*words, *map(str.casefold, tie)})
    return Labels(tuple(values), tuple(spellings), tie, tuple(abstain))


def _admissible(spec: Spec) -> Admissible:
    if spec.levels:
        return _labels(spec, spec.levels)
    if spec.range is None:
        raise RequestError(f"--parse {spec.parse} needs the scale of its values: --levels A,B,C or --range LO,HI")
    stands = _numbers(spec)
    # A word's outcome is a status; the lowest number is there because labels are never empty.
    return _Either(stands, _labels(spec, (f"{stands.low:g}",)))


# --- builders ---


def _grade(spec: Spec, _key: str | None) -> Parser:
    letters = spec.levels or ("C", "P", "I")
    return labelled_grade(_labels(spec, letters, grade_spellings(letters)))


def _labelled(spec: Spec, key: str | None) -> Parser:
    return Labelled(_admissible(spec), key or "")


def _rating(spec: Spec, key: str | None) -> Parser:
    return Bracketed(_numbers(spec), key, last_wins=True, noun="rating")


def _bracketed(spec: Spec, _key: str | None) -> Parser:
    return Bracketed(_admissible(spec), last_wins=True)


def _pairwise(spec: Spec, _key: str | None) -> Parser:
    return Bracketed(Labels(("A", "B"), tie=("C", *(one for one in spec.tie if one.casefold() != "c"))), last_wins=True)


def _json(spec: Spec, key: str | None) -> Parser:
    return JsonObject(key or "", _admissible(spec))


def _yes_no(spec: Spec, _key: str | None) -> Parser:
    return Leading(_labels(spec, ("no", "yes")))


def _met_unmet(spec: Spec, _key: str | None) -> Parser:
    return Leading(_labels(spec, ("unmet", "met"), (("not met", "unmet"),)))


_BUILDERS: dict[str, Build] = {
    "grade": _grade,
    "labelled": _labelled,
    "rating": _rating,
    "bracketed": _bracketed,
    "pairwise": _pairwise,
    "json": _json,
    "yes-no": _yes_no,
    "met-unmet": _met_unmet,
    "leading": lambda spec, _key: Leading(_admissible(spec)),
    "whole": lambda spec, _key: Whole(_admissible(spec)),
    "tokens": lambda spec, _key: _Tokens(TokenChoice(_admissible(spec))),
    "token-mean": lambda spec, _key: _Tokens(TokenMean(_numbers(spec))),
}


# --- token probabilities in a column ---


@dataclass(frozen=True)
class _Tokens:
    """Token log-probabilities as JSON: {"A": -0.1}, or [{"token": "A", "logprob": -0.1}] as model servers write them."""

    reader: TokenChoice | TokenMean

    def parse(self, text: str | None) -> Parsed:
        """Read a cell."""
        if text is None or not text.strip():
            return missing(text)
        try:
            found = json.loads(text, object_pairs_hook=list)
        except (ValueError, RecursionError):
            return unparsed(text, "malformed", "not JSON")
        pairs = [pair for one in found if (pair := _pair(one))] if isinstance(found, list) else []
        if not pairs or len(pairs) < len(found):
            return unparsed(text, "malformed", "not a list of tokens with their log-probabilities")
        return self.reader.parse_tokens(pairs, text)


def _pair(one: Any) -> tuple[str, float] | None:
    """A token with its log-probability; an object is a list of its members here."""
    if isinstance(one, list) and all(isinstance(member, tuple) for member in one):
        members = dict(one)
        one = (members.get("token"), members.get("logprob"))
    if not isinstance(one, tuple | list) or len(one) != 2:
        return None
    token, logarithm = one
    is_number = isinstance(logarithm, int | float) and not isinstance(logarithm, bool)
    try:
        return (token, float(logarithm)) if isinstance(token, str) and is_number else None
    except OverflowError:
        return None
