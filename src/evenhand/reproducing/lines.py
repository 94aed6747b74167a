"""One line of a reproduction: what is published, what comes out here, and what is to be made of the two."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from evenhand.errors import UnmetRequirementError, printable

Verdict = Literal["exact", "within Monte-Carlo error", "differs", "not determined", "needs --bank"]
"""The last two make no claim: the source does not fix the number, or the data that do are not at hand."""
_NUMBER = re.compile(r"[-−]?\d*\.?\d+")
_FUZZ = 1e-9
MOST_Z = 4.0
"""Monte-Carlo standard errors within which a simulated number counts as the published one."""


@dataclass(frozen=True, slots=True)
class Line:
    """A published number or identity, and ours.

    Attributes:
        place: where in the source: section, equation, table.
        quantity: what it is, in words of our own.
        published: the number as printed; for an identity, its formula.
        recomputed: the number to the printed digits, or how far the identity is off.
        verdict: what is to be made of the two.
        note: why they differ, or what the reader should know; required for `differs`.
        is_slip: the source is mistaken here, as the note shows: the difference is the expected outcome.
    """

    place: str
    quantity: str
    published: str
    recomputed: str
    verdict: Verdict
    note: str = ""
    is_slip: bool = False

    @property
    def fails(self) -> bool:
        """Whether the line should have matched and does not."""
        return self.verdict == "differs" and not self.is_slip

    @property
    def said(self) -> str:
        """The verdict as a reader sees it, with its reason."""
        return f"{self.verdict}: {self.note}" if self.verdict == "differs" else self.verdict


def printed(value: float, published: str) -> str:
    """A value with as many decimals as the published text has, in its unit (percent where it says %).

    >>> printed(0.0472222, "4.72%")
    '4.72%'
    """
    digits, unit, factor = _form(published)
    return f"{value * factor:.{digits}f}{unit}" if math.isfinite(value) else "undefined"


def held_exactly(place: str, quantity: str, published: str, value: float, note: str = "") -> Line:
    """A number that the source prints and its definitions fix: exact, or it differs.

    It is exact where it lies within half a unit of the last printed digit; at exactly half a unit either rounding
    counts, so that .8125 matches .812 and .813.
    """
    digits, _, factor = _form(published)
    near = math.isfinite(value) and abs(value * factor - _value(published)) <= 0.5 * 10**-digits + _FUZZ
    shown = published if near else printed(value, published)
    return Line(place, quantity, published, shown, *_verdict(near, "beyond the rounding of the printed digits", note))


def numbers(
    place: str, quantity: str, published: Sequence[str], values: Iterable[float], note: str = ""
) -> tuple[Line, ...]:
    """Several numbers of one kind, a line each."""
    return tuple(
        held_exactly(place, quantity, text, value, note) for text, value in zip(published, values, strict=True)
    )


def simulated(place: str, quantity: str, published: str, mean: float, std_error: float, note: str = "") -> Line:
    """A number that the source took from a simulation whose stream is not known: near the truth, or it differs.

    Args:
        place: as in `Line`.
        quantity: as in `Line`.
        published: the number as printed.
        mean: what the simulation aims at.
        std_error: Monte-Carlo standard error of the published number.
        note: as in `Line`.
    """
    _, _, factor = _form(published)
    off = abs(mean * factor - _value(published)) / (std_error * factor) if std_error > 0 else math.inf
    near = math.isfinite(off) and off < MOST_Z
    verdict, said = _verdict(near, f"{off:.1f} Monte-Carlo standard errors away", note)
    return Line(
        place, quantity, published, printed(mean, published), "within Monte-Carlo error" if near else verdict, said
    )


def identity(
    place: str, quantity: str, published: str, deviation: float, cases: int, tolerance: float = 1e-12, note: str = ""
) -> Line:
    """Something that must hold in every case: exact where the largest deviation is rounding."""
    holds = math.isfinite(deviation) and deviation <= tolerance
    shown = f"holds in {cases:,} of {cases:,}" if holds else f"off by {deviation:.3g}"
    return Line(
        place,
        quantity,
        published,
        shown,
        *_verdict(holds, f"the largest of {cases:,} deviations is not rounding", note),
    )


def statement(place: str, quantity: str, published: str, recomputed: str, *, holds: bool, note: str = "") -> Line:
    """A statement that is true or not in an example."""
    return Line(place, quantity, published, recomputed, *_verdict(holds, "the statement fails", note))


def slip(place: str, quantity: str, published: str, recomputed: str, why: str, *, confirmed: bool) -> Line:
    """A mistake of the source, shown by numbers; if they do not show it, the line fails."""
    if confirmed:
        return Line(place, quantity, published, recomputed, "differs", why, is_slip=True)
    return Line(
        place, quantity, published, recomputed, "differs", f"expected to differ, and the numbers do not show it ({why})"
    )


def not_computed(place: str, quantity: str, published: str, verdict: Verdict, why: str) -> Line:
    """A number that is printed, or lost, and that cannot be computed: the source or the data at hand do not fix it."""
    return Line(place, quantity, published, "–", verdict, why)


def text(lines: Sequence[Line]) -> str:
    """The lines as text, grouped by place, with what does not match in words beneath."""
    found: list[str] = []
    widths = [max(len(getattr(line, name)) for line in lines) for name in ("quantity", "published", "recomputed")]
    place = ""
    for line in lines:
        if line.place != place:
            place = line.place
            found += [*([""] if found else []), printable(place)]
        cells = map(printable, (line.quantity, line.published, line.recomputed))
        row = "  ".join(cell.ljust(min(width, 58)) for cell, width in zip(cells, widths, strict=True))
        found.append(f"  {row}  {line.verdict}")
        if line.note:
            found.append(f"      {printable(line.note)}")
    return "\n".join([*found, "", summary(lines)])


def summary(lines: Sequence[Line]) -> str:
    """How many lines came out how."""
    counts: dict[str, int] = {}
    for line in lines:
        name = "differs as the source is mistaken" if line.is_slip else line.verdict
        counts[name] = counts.get(name, 0) + 1
    return f"{len(lines)} lines: " + ", ".join(f"{n} {name}" for name, n in counts.items())


def as_json(source: str, lines: Sequence[Line]) -> dict[str, Any]:
    """The lines as a document."""
    return {
        "schema": "evenhand.reproduction/1",
        "source": source,
        "lines": [{**asdict(line), "fails": line.fails} for line in lines],
        "n_failed": sum(line.fails for line in lines),
    }


def require(lines: Sequence[Line]) -> None:
    """End with exit code 1 where a line that should match does not.

    Raises:
        UnmetRequirementError: names the lines.
    """
    failed = [line for line in lines if line.fails]
    if failed:
        named = "; ".join(
            f"{line.place}, {line.quantity}: {line.published} came out as {line.recomputed}" for line in failed
        )
        raise UnmetRequirementError(f"{len(failed)} of {len(lines)} lines should match and do not: {named}")


def _verdict(holds: bool, why: str, note: str) -> tuple[Verdict, str]:
    if holds:
        return "exact", note
    return "differs", f"{why}; {note}" if note else why


def _form(published: str) -> tuple[int, str, float]:
    """Decimals, unit and factor of a printed number."""
    found = _NUMBER.search(published)
    digits = len(found.group().partition(".")[2]) if found else 0
    is_percent = "%" in published
    return digits, "%" if is_percent else "", 100.0 if is_percent else 1.0


def _value(published: str) -> float:
    found = _NUMBER.search(published)
    return float(found.group().replace("−", "-")) if found else math.nan
