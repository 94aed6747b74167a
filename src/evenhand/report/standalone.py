"""A drawing as an SVG file of its own: the report's colours, light and dark, without its page."""

from dataclasses import replace

from evenhand.report.svg import Drawing, Label, svg

_STYLE = """
svg { --paper: #fcfbf8; --ink: #1f1e1b; --soft: #5d5a53; --hair: #ebe8e1; --fill: #2b7a8c; background: var(--paper); }
@media (prefers-color-scheme: dark) { svg { --paper: #15171a; --ink: #e7e4dd; --soft: #a8a59d; --hair: #282b2f; --fill: #5fa9b9; } }
text { font: 12px -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; font-variant-numeric: lining-nums tabular-nums; fill: var(--soft); }
.ink { fill: var(--ink); } .strong { font-weight: 600; } .small { font-size: 10.5px; fill: var(--ink); }
.grid { stroke: var(--hair); } .axis, .interval { stroke: var(--ink); } .interval { stroke-width: 1.4; }
.curve { stroke: var(--fill); stroke-width: 1.2; } .rest { opacity: .45; }
.point { fill: var(--fill); stroke: var(--paper); stroke-width: 1.2; }
.point-alone { fill: var(--paper); stroke: var(--ink); stroke-width: 1.4; }
.bubble { fill: var(--fill); fill-opacity: .28; stroke: var(--fill); }
"""
_MARGIN, _HEAD = 14, 24


def svg_file(drawing: Drawing) -> str:
    """The text of an SVG file under its title; it names nothing outside itself."""
    titled = replace(drawing, marks=(Label(0, 4 - _HEAD, drawing.title, role="ink strong"), *drawing.marks))
    width, height = drawing.width + 2 * _MARGIN, drawing.height + 2 * _MARGIN + _HEAD
    start, _, rest = svg(titled).partition(">")
    box = f'viewBox="{-_MARGIN} {-_MARGIN - _HEAD} {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    kept = start.partition(" viewBox=")[2].partition('" ')[2]
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {box} {kept}><style>{_STYLE}</style>{rest}\n'
