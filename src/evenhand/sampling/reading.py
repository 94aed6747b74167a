"""From filled sheets to the file of labels: checked, accounted for, and written whole or not at all."""

import math
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from evenhand.errors import SourceError, printable, quoted
from evenhand.output import check_file, write_text
from evenhand.sampling.labels import Agreement, agreements, is_labels, labels_csv, n_without_label, weights_of
from evenhand.sampling.plan import load
from evenhand.sampling.returned import read_sheets


def read_back(
    folder: Path,
    sheets: Sequence[Path],
    out: Path,
    *,
    encoding: str | None = None,
    sheet: str | None = None,
    decimal: str | None = None,
) -> str:
    """Read filled sheets of a sample, write their labels, and say what became of every row.

    Args:
        folder: of the sample.
        sheets: CSV or XLSX files, the one whose labels are the reference first.
        out: the CSV file of labels.
        encoding: of CSV sheets; UTF-8, or UTF-16 with its mark, when None.
        sheet: of workbooks with several.
        decimal: mark of marks; a point when None.

    Raises:
        EvenhandError: no sample, a sheet that does not fit, or a place that cannot be written; nothing is written then.
    """
    sample = load(folder)
    check_file(out, is_labels, sheets)
    returned = read_sheets(sheets, sample, encoding=encoding, sheet=sheet, decimal=decimal)
    if not any(one.labels for one in returned):
        raise SourceError("the sheets hold no label: fill the label columns, save, and read them again")
    lines = [
        f"{'read' if number == 0 else '':8}{printable(one.rater)}: {one.account}" for number, one in enumerate(returned)
    ]
    lines += _agreement_lines(list(agreements(returned, sample)))
    missing = n_without_label(returned, sample.key)
    write_text(out, labels_csv(returned, sample))
    lines.append(
        f"wrote   {printable(str(out))}: {len(sample.key) - missing:,} of {len(sample.key):,} drawn responses have labels"
    )
    if len(returned) > 1:
        lines.append(
            f"        where raters differ the label is that of the first sheet that has one, {printable(returned[0].rater)} first"
        )
    bare = sorted({one.name for one in sample.plan.strata} - weights_of(returned, sample).labelled.keys())
    if bare:
        lines.append(f"note    no label at all in {quoted(bare)}: numbers speak of the other responses only")
    if missing:
        lines.append(
            f"note    {missing:,} of the drawn responses {'has' if missing == 1 else 'have'} no label; weights make up for that within their "
            "stratum, as if labels were missing by chance: have them labelled, or say so"
        )
    lines.append(
        f"next    evenhand audit VERDICTS --labels {printable(shlex.quote(str(out)))} --weight weight --out audit"
    )
    return "\n".join(lines)


def _agreement_lines(found: Sequence[Agreement]) -> Iterator[str]:
    for number, one in enumerate(found):
        who = " and ".join(printable(name) for name in one.raters)
        value = (
            f"{one.name} {one.kappa:.3f}"
            if math.isfinite(one.kappa)
            else f"{one.name} undefined (no variation in labels)"
        )
        said = (
            f"{'agree' if number == 0 else '':8}{who}: {value}, {100 * one.same:.1f} % the same, n = {one.n:,} labels"
        )
        said += f" on {one.n_responses:,} responses" if one.n != one.n_responses else ""
        if math.isfinite(one.weighted) and abs(one.weighted - one.kappa) >= 0.0005:
            said += f"; over all responses, by weights, {one.name} {one.weighted:.3f}"
        yield said
