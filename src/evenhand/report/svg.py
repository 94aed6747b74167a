"""Drawings as frozen descriptions, and the SVG text of one: themed by CSS classes, no colour of its own."""

from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from evenhand.errors import printable


@dataclass(frozen=True, slots=True)
class Rect:
    """A bar or a cell."""

    x: float
    y: float
    width: float
    height: float
    role: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Circle:
    """A point or a bubble."""

    x: float
    y: float
    r: float
    role: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A segment."""

    x1: float
    y1: float
    x2: float
    y2: float
    role: str


@dataclass(frozen=True, slots=True)
class Label:
    """Words at a place.

    Attributes:
        anchor: start, middle or end.
        turn: degrees about the place.
    """

    x: float
    y: float
    text: str
    anchor: str = "start"
    role: str = "soft"
    turn: float = 0


Mark = Rect | Circle | Line | Label


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is drawn, in a box of its own units.

    Attributes:
        name: of letters and hyphens; ids in the page are built from it.
        title: one line a reader hears first.
        description: what the drawing shows, in a sentence or two.
    """

    name: str
    title: str
    description: str
    width: float
    height: float
    marks: tuple[Mark, ...] = field(default=())

    def of(self, kind: type[Mark], role: str = "") -> list[Mark]:
        """Marks of a kind, and of a role where one is given."""
        return [mark for mark in self.marks if isinstance(mark, kind) and (not role or mark.role == role)]


def _at(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _text(text: str) -> str:
    return escape(printable(text))


def _open(tag: str, role: str, **places: float) -> str:
    shown = "".join(f' {name}="{_at(number)}"' for name, number in places.items())
    return f"<{tag} class={quoteattr(role)}{shown}"


def _closed(start: str, tag: str, title: str) -> str:
    return f"{start}><title>{_text(title)}</title></{tag}>" if title else f"{start}/>"


def _svg_mark(mark: Mark) -> str:
    match mark:
        case Rect(x, y, width, height, role, title):
            return _closed(_open("rect", role, x=x, y=y, width=width, height=height), "rect", title)
        case Circle(x, y, r, role, title):
            return _closed(_open("circle", role, cx=x, cy=y, r=r), "circle", title)
        case Line(x1, y1, x2, y2, role):
            return _open("line", role, x1=x1, y1=y1, x2=x2, y2=y2) + "/>"
        case Label(x, y, text, anchor, role, turn):
            turned = f' transform="rotate({_at(turn)} {_at(x)} {_at(y)})"' if turn else ""
            return f'{_open("text", role, x=x, y=y)} text-anchor="{anchor}"{turned}>{_text(text)}</text>'


def svg(drawing: Drawing) -> str:
    """The drawing as an inline SVG element, named for screen readers; every text in it is escaped."""
    title, description = f"{drawing.name}-title", f"{drawing.name}-desc"
    return (
        f'<svg role="img" viewBox="0 0 {_at(drawing.width)} {_at(drawing.height)}" aria-labelledby="{title} {description}">'
        f'<title id="{title}">{_text(drawing.title)}</title><desc id="{description}">{_text(drawing.description)}</desc>'
        + "".join(_svg_mark(mark) for mark in drawing.marks)
        + "</svg>"
    )
