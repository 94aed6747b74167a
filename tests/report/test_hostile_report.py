"""Names of any kind, everywhere a name can stand: no element, no row, no character that deceives."""

import json
import unicodedata
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report_audits import audit_of, checklist_frame  # type: ignore[import-not-found]

from evenhand.ids import encode
from evenhand.report.render import to_html, to_markdown
from evenhand.results import Audit

NASTY = [
    "<script>alert(1)</script>", "</title><img src=x>", '" onload="x', "a|b\n\nc", "\u202eevil", "{{ 7*7 }}", "{% x %}", "'",
    "&lt;", "]]>", "-->", "\x00\x1b[31m", "`", "[a](b)", "=1+1", "x" * 300,
]  # fmt: skip
HOSTILE = st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
PLACES = ("ZZcriterion", "ZZjudge", "ZZlabel", "ZZfile")


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.names: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.names |= {name for name, _ in attrs}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """A saved audit whose every name is a place to put another."""
    frame = checklist_frame(30, 2, 2)
    frame["criterion"] = frame["criterion"].replace("c2", "ZZcriterion")
    frame["rater"] = frame["rater"].replace("model-1", "ZZjudge")
    for side in ("verdict", "reference"):
        frame[side] = frame[side].map({0: "no", 1: "ZZlabel"})
    audit = audit_of(frame, levels=["no", "ZZlabel"], scale="binary", positive="ZZlabel", cut=[2])
    found: dict[str, Any] = json.loads(audit.to_json())
    found["data"]["sources"][0]["name"] = "ZZfile"
    found["warnings"] = ["about ZZcriterion and ZZjudge"]
    return found


def renamed(value: Any, names: dict[str, str], key: str = "") -> Any:
    if isinstance(value, dict):
        return {renamed(k, names): renamed(v, names, k) for k, v in value.items()}
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    if isinstance(value, str):
        for place, name in names.items():
            value = value.replace(place, encode(name) if key == "id" else name)
    return value


def audit_with(document: dict[str, Any], names: dict[str, str]) -> Audit:
    return Audit.model_validate(renamed(document, names))


@pytest.fixture(scope="module")
def plain(document: dict[str, Any]) -> tuple[Tags, int]:
    """Elements of the page, and lines of the Markdown, under harmless names."""
    audit = audit_with(document, {place: f"N{at}" for at, place in enumerate(PLACES)})
    return Tags(to_html(audit)), len(to_markdown(audit).splitlines())


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.tuples(*[HOSTILE] * len(PLACES)))
def test_names_stay_text(document: dict[str, Any], plain: tuple[Tags, int], names: tuple[str, ...]) -> None:
    hostile = audit_with(document, dict(zip(PLACES, names, strict=True)))
    html = to_html(hostile)
    found, (expected, n_lines) = Tags(html), plain
    assert {tag: n for tag, n in found.tags.items() if tag not in ("br", "li")} == {
        tag: n for tag, n in expected.tags.items() if tag not in ("br", "li")
    }
    assert found.names == expected.names
    markdown = to_markdown(hostile)
    assert len(markdown.splitlines()) == n_lines
    for text in (html, markdown):
        assert not [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
