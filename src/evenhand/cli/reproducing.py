"""What the reproductions share on the command line: printing lines, saving them, and the exit code."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.output import check_file, write_text
from evenhand.reproducing.lines import Line, as_json, require, text

if TYPE_CHECKING:
    from evenhand.report.svg import Drawing

_MARK = "figures.json"


def finish(source: str, lines: Sequence[Line], *, as_document: bool, out: Path | None) -> None:
    """Print the lines, write them where asked, and end with exit code 1 if one that should match does not.

    Raises:
        UnmetRequirementError: names the lines that should match.
        OutputError: the file cannot be written; then nothing is printed.
    """
    document = json.dumps(as_json(source, lines), indent=1, ensure_ascii=False, allow_nan=False)
    if out is not None:
        check_file(out, _is_ours)
        write_text(out, document + "\n")
    click.echo(document if as_document else text(lines))
    require(lines)


def write_figures(drawings: "Sequence[Drawing]", place: Path) -> None:
    """Drawings as SVG files in a folder of their own, whole or not at all.

    Raises:
        OutputError: the place holds something foreign, or cannot be written.
    """
    from evenhand.output import Kind, new_folder
    from evenhand.report.standalone import svg_file

    names = tuple(f"{drawing.name}.svg" for drawing in drawings)
    with new_folder(place, kind=Kind("reproduction", (*names, _MARK), _MARK, "evenhand.figures")) as draft:
        for drawing in drawings:
            (draft / f"{drawing.name}.svg").write_text(svg_file(drawing), encoding="utf-8", newline="\n")
        listed = {"schema": "evenhand.figures/1", "figures": {one.name: one.description for one in drawings}}
        (draft / _MARK).write_text(json.dumps(listed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _is_ours(path: Path) -> bool:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and str(found.get("schema", "")).startswith("evenhand.reproduction")
