"""Verdicts from free text: declared forms, unparsed in doubt.

A parser is a frozen declaration with ``parse(text) -> Parsed``. A value comes only from its declared form and is always one of
the declared scale; every other reply keeps its text, a status and a reason from a closed set. Time grows with the length
of a reply and no faster. Blank and absent replies are missing; characters that show nothing change no verdict.
"""

from evenhand.verdicts.parsing.chains import Chain, Refusal, stated
from evenhand.verdicts.parsing.labels import Labels
from evenhand.verdicts.parsing.marked import Bracketed, Labelled
from evenhand.verdicts.parsing.numbers import Numbers
from evenhand.verdicts.parsing.objects import JsonObject
from evenhand.verdicts.parsing.parsed import Admissible, Outcome, Parsed, Parser, Reason, Status
from evenhand.verdicts.parsing.presets import grade, mark, met_unmet, pairwise, rating, yes_no
from evenhand.verdicts.parsing.tokens import LogProbabilities, TokenChoice, TokenMean
from evenhand.verdicts.parsing.words import Leading, Whole

__all__ = [
    "Admissible",
    "Bracketed",
    "Chain",
    "JsonObject",
    "Labelled",
    "Labels",
    "Leading",
    "LogProbabilities",
    "Numbers",
    "Outcome",
    "Parsed",
    "Parser",
    "Reason",
    "Refusal",
    "Status",
    "TokenChoice",
    "TokenMean",
    "Whole",
    "grade",
    "mark",
    "met_unmet",
    "pairwise",
    "rating",
    "stated",
    "yes_no",
]
