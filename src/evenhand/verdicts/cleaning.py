"""Texts as the user asked to have them read, as SQL: ids cleaned, marks with a decimal comma or as fractions.

Nothing is changed that was not asked for. Ids are never read as numbers; labels are cleaned where they are compared (see
``label_texts``).
"""

from evenhand.errors import ScaleError, printable
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec

INVISIBLE = "\u200b-\u200f\u2060\ufeff\u00ad"
"""Characters that take no room, as a class of a regular expression."""
SPACES = " \t\r\n\u00a0\u2007\u202f\u3000"
"""Characters that trimming takes off."""
_MARKS = " \u00a0\u202f''’"
"""Between thousands, beside the comma or point; as a text of SQL."""
_FRACTION = r"\s*[+-]?[0-9]+([.][0-9]+)?\s*/\s*[0-9]+([.][0-9]+)?\s*"


def id_text(text: str, spec: Spec) -> str:
    """An id in composed form (NFC), with what ``--clean`` names taken out."""
    text = f"nfc_normalize({text})"
    if "zero-width" in spec.clean:
        text = f"regexp_replace({text}, '[{INVISIBLE}]', '', 'g')"
    if "trim" in spec.clean:
        text = f"trim({text}, '{SPACES}')"
    return f"lower({text})" if "case" in spec.clean else text


def loose_id(text: str) -> str:
    """What is left of an id without case, outer space and characters that cannot be seen."""
    return f"lower(trim(regexp_replace({text}, '[{INVISIBLE}]', '', 'g'), '{SPACES}'))"


def numeric_id(text: str) -> str:
    """What a spreadsheet or a data-frame library makes of an id that looks like a number: its value; else the id."""
    whole = f"coalesce(try_cast({text} AS HUGEINT)::VARCHAR, try_cast({text} AS DOUBLE)::HUGEINT::VARCHAR)"
    hexadecimal = f"try_cast(CASE WHEN regexp_full_match({text}, '0[xX][0-9a-fA-F]{{1,15}}') THEN {text} END AS BIGINT)"
    number = f"try_cast(try_cast({text} AS DOUBLE) AS HUGEINT)::DOUBLE = try_cast({text} AS DOUBLE)"
    return f"CASE WHEN {number} THEN {whole} ELSE coalesce({hexadecimal}::VARCHAR, {text}) END"


def label_text(text: str, spec: Spec) -> str:
    """A mark as a plain number, where it has the declared decimal mark or is a fraction and fractions were asked for."""
    if spec.decimal:
        marks, point = (f".{_MARKS}", ",") if spec.decimal == "," else (f",{_MARKS}", "[.]")
        shape = f"\\s*[+-]?([0-9]{{1,3}}([{marks}][0-9]{{3}})+|[0-9]*)({point}[0-9]+)?\\s*"
        plain = f"replace(regexp_replace({text}, '[{marks}]', '', 'g'), ',', '.')"
        text = f"CASE WHEN regexp_full_match({text}, '{shape}') THEN {plain} ELSE {text} END"
    if spec.fractions:
        over, under = (f"try_cast(split_part({text}, '/', {part}) AS DOUBLE)" for part in (1, 2))
        is_one = f"regexp_full_match({text}, '{_FRACTION}') AND {under} > 0"
        text = f"CASE WHEN {is_one} THEN CAST({over} / {under} AS VARCHAR) ELSE {text} END"
    return text


def check_decimals(engine: Engine, spec: Spec, source: Source, columns: list[str]) -> None:
    """Refuse a decimal point in columns of marks although the comma was declared to be the decimal mark.

    Raises:
        ScaleError: names the first such cell.
    """
    if spec.decimal != ",":
        return
    from evenhand.verdicts.reading import rows_with

    for column in columns:
        text = f"trim({source.column(column, 'the mapping')})"
        test = f"regexp_full_match({text}, '[+-]?[0-9]*[.][0-9]+') AND NOT regexp_full_match({text}, '[+-]?[0-9]{{1,3}}([.][0-9]{{3}})+')"
        if place := rows_with(engine, source, test, limit=1):
            raise ScaleError(
                f'--decimal ,: {place} column "{printable(column)}" holds a number with a decimal point; one file has one '
                "decimal mark: mend the cell, or leave --decimal out"
            )


def check_numbers(engine: Engine, source: Source, columns: list[str], option: str, spec: Spec) -> None:
    """Refuse a cell that is neither blank nor a finite number.

    Raises:
        ScaleError: names the first one.
    """
    from evenhand.verdicts.reading import rows_with

    for column in columns:
        text = label_text(source.column(column, option), spec)
        number = f"try_cast(trim({text}) AS DOUBLE)"
        test = f"trim({text}) <> '' AND ({number} IS NULL OR NOT isfinite({number}))"
        if place := rows_with(engine, source, test, limit=1):
            raise ScaleError(
                f'{option}: {place} column "{printable(column)}" holds no number; leave the cell blank where there is none'
            )
