"""Texts that a rater is to read, as far as the user named their columns; columns that would give the judge away are refused."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.errors import RequestError, printable
from evenhand.sampling.sheets import LONGEST
from evenhand.verdicts.attributes import attribute
from evenhand.verdicts.layout import CRITERION, expand
from evenhand.verdicts.reading import Reading
from evenhand.verdicts.spec import FACETS

_OFTEN = 5
"""Responses a different text from which on a column looks like one of names or labels."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What stands beside the codes.

    Attributes:
        of_responses: heading → (n,) texts; headings are numbered, since a column's name may say whose the text is.
        of_criteria: criterion → (n,) texts of the line.
        notes: what the user should know.
    """

    of_responses: Mapping[str, Sequence[str]]
    of_criteria: Mapping[str, Sequence[str]]
    notes: tuple[str, ...]


def texts_of(reading: Reading, named: Sequence[str], responses: Sequence[str]) -> Texts:
    """Texts of responses, in their order, blank where a response has none.

    Args:
        reading: of the sources, in which the texts have no role, so that none of them hides what a column else is.
        named: columns of texts; a pattern names the criteria's.
        responses: (n,) ids.

    Raises:
        RequestError: a column named as text is one of verdicts, models, authors, groups or ids.
        EvenhandError: no such column, or two texts of one response.
    """
    plain = [name for name in named if CRITERION not in name]
    patterns = [name for name in named if CRITERION in name]
    columns = {criterion: column for pattern in patterns for criterion, column in _expanded(reading, pattern).items()}
    for column in (*plain, *columns.values()):
        _must_be_blind(reading, column)
    notes = []
    if reading.spec.explanation in plain:
        notes.append(
            f'"{printable(reading.spec.explanation or "")}" holds the judge\'s own words: raters who read them are no longer blind to it'
        )
    headings = ["text"] if len(plain) == 1 else [f"text {number}" for number in range(1, len(plain) + 1)]
    texts = [_values(reading, column, responses) for column in plain]
    for column, values in zip(plain, texts, strict=True):
        notes += [*_of_length(column, values), *_of_kinds(column, values)]
    return Texts(
        dict(zip(headings, texts, strict=True)),
        {name: _values(reading, columns[name], responses) for name in reading.criteria if name in columns},
        tuple(notes),
    )


def _of_kinds(column: str, values: Sequence[str]) -> Iterator[str]:
    """A column of few different texts, whatever it is called: it may say what raters must not see."""
    kinds, n = len(set(values)), len(values)
    if 1 < kinds <= n / _OFTEN:
        yield (
            f'"{printable(column)}" holds {kinds:,} different texts for {n:,} responses, as verdicts, names of models and groups do: if it is '
            "one of these, draw without it"
        )


def _of_length(column: str, values: Sequence[str]) -> Iterator[str]:
    """What a rater will not see."""
    blank, long = sum(not text.strip() for text in values), sum(len(text) > LONGEST for text in values)
    if blank:
        yield f'"{printable(column)}" is blank for {blank:,} of the drawn responses: their raters see a code only'
    if long:
        yield (
            f'"{printable(column)}" is longer than {LONGEST:,} characters for {long:,} of the drawn responses, and is cut off there: a '
            "spreadsheet's cell takes no more"
        )


def _expanded(reading: Reading, pattern: str) -> Mapping[str, str]:
    found = {name: column for source in reading.sources for name, column in expand(pattern, source.columns).items()}
    if not found.keys() & set(reading.criteria):
        raise RequestError(f'--text "{printable(pattern)}": no column fits this pattern for any criterion')
    return found


def _must_be_blind(reading: Reading, column: str) -> None:
    spec = reading.spec
    judged = (column for pairs in reading.places.values() for _, column in pairs)
    telling: dict[str, set[str | None]] = {
        "a verdict or a label": {*judged, spec.verdict, spec.reference, spec.status, spec.reason, spec.confidence},
        "who judged": {spec.rater, spec.rater_kind},
        "an id": set(spec.response),
        "who wrote it": {name for name in spec.author if name not in spec.length},
        "a group of people": set(spec.group),
        "how the judge was asked": {
            *(getattr(spec, role) for role in FACETS),
            spec.label_shown,
            spec.n_prior_shown,
            spec.shown_marks,
        },
    }
    for what, columns in telling.items():
        if column in columns:
            raise RequestError(
                f'--text "{printable(column)}": that column says {what}, and raters must not see it; name the column of the responses\' text'
            )


def _values(reading: Reading, column: str, responses: Sequence[str]) -> Sequence[str]:
    found = dict(reading.engine.rows(f"SELECT response, value FROM {attribute(reading, column, '--text')}"))
    return [str(found.get(one, "")) for one in responses]
