"""The page as text: its parts, their order, and that data stay data."""

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from report_audits import audit_of, checklist_frame  # type: ignore[import-not-found]

import evenhand
from evenhand.report.page import page
from evenhand.report.render import decimal, to_frame, to_html
from evenhand.results import Audit

VOID = {"meta", "br", "input", "img", "link", "hr"}


class Parsed(HTMLParser):
    """Counts elements and checks that they nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids.update(value or "" for name, value in attrs if name == "id")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def test_data_create_no_element(rep_01: Audit, harmless: Audit) -> None:
    hostile, plain = Parsed(to_html(rep_01)), Parsed(to_html(harmless))
    assert hostile.tags["img"] == plain.tags["img"] == 0
    assert hostile.tags["script"] == plain.tags["script"] == 1
    assert hostile.tags - Counter(br=99) == plain.tags - Counter(br=99)
    assert not [name for _, name, _ in hostile.attributes if name.startswith("on")]


def test_text_from_data_is_shown_as_text(rep_01: Audit) -> None:
    html = to_html(rep_01)
    said = Parsed(html).text
    assert "</script><script>alert(2)</script>" in said
    assert "\\x1b[31mred" in said
    assert "\\u202e right-to-left" in said
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert rep_01["cohen_kappa/judge"].estimate == pytest.approx(0.5)


def test_page_asks_for_nothing_and_its_policy_names_its_own_code(demo: Audit) -> None:
    html = to_html(demo)
    parsed = Parsed(html)
    assert "http:" not in html
    assert "https:" not in html
    assert {name for _, name, _ in parsed.attributes} & {"src", "srcset", "action", "style", "data"} == set()
    assert all(value.startswith("#") for _, name, value in parsed.attributes if name == "href")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    assert policy
    for tag in ("style", "script"):
        inner = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        assert inner
        digest = base64.b64encode(hashlib.sha256(inner[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1]
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]


def test_page_is_small_and_in_its_order(demo: Audit) -> None:
    html = to_html(demo)
    assert len(html.encode()) <= 2_000_000
    order = re.findall(r'<section[^>]* id="(\w+)"|<section id="(\w+)"', html)
    assert [first or second for first, second in order] == [
        "said", "cannot", "decisions", "numbers", "errors", "drawings", "checklist", "lines", "rows",
    ]  # fmt: skip


def test_headline_numbers_stand_in_the_page(demo: Audit) -> None:
    said = Parsed(to_html(demo)).text.replace("\N{NO-BREAK SPACE}", " ")
    for words in ("10.4 %", "5.7 to 18.1 %", "84 of 808", "0.904", "92.8 %", "25 of 85 errors", "0.523"):
        assert words in said


def test_every_number_has_one_card_and_every_id_is_unique(demo: Audit) -> None:
    parsed = Parsed(to_html(demo))
    assert [name for name, count in parsed.ids.items() if count > 1] == []
    shown = {e.id for e in demo.estimates if not {"line", "criterion"} & e.params.keys()}
    assert shown - parsed.ids.keys() == set()


def test_a_card_says_what_from_what_and_how_again(demo: Audit) -> None:
    said = Parsed(to_html(demo)).text
    assert "cohen_kappa/judge = 0.9036" in said
    assert "delete-one-cluster jackknife, t(11.98), −log(1−x) scale, design effect 5.70" in said
    assert "1,800 verdicts, 13 clusters; 300 excluded" in said
    assert "evenhand show DIR 'accuracy[cut=5]/judge' --card" in said


def test_tables_have_captions_and_headers_with_scope(demo: Audit) -> None:
    html = to_html(demo)
    parsed = Parsed(html)
    assert parsed.tags["caption"] == parsed.tags["table"]
    assert sum(name == "scope" for tag, name, _ in parsed.attributes if tag == "th") == parsed.tags["th"]
    assert parsed.tags["main"] == parsed.tags["nav"] == parsed.tags["footer"] == 1
    assert (
        sum((name, value) == ("role", "img") for tag, name, value in parsed.attributes if tag == "svg")
        == parsed.tags["svg"]
    )
    assert re.findall(r"<svg[^>]*><title id=", html) != []


def test_words_in_a_cell_wrap_and_a_shortfall_stands_on_its_own_line(demo: Audit) -> None:
    page = to_html(demo)
    assert re.search(r'</span><span class="ends">covers ', page)
    assert '<span class="ends words">no interval: ' in page
    assert "no interval: no interval" not in page


def test_no_bands_no_stars_and_reliability_of_what(demo: Audit) -> None:
    said = Parsed(to_html(demo)).text.casefold()
    assert not re.search(r"almost perfect|substantial|moderate agreement|excellent|\*\*", said)
    for found in re.finditer(r"reliability", said):
        around = said[max(found.start() - 40, 0) : found.end() + 30]
        assert re.search(r"reliability of|own reliability|reference's|judge's|beta.binomial.reliability", around), (
            around
        )


def test_a_notebook_gets_the_page_in_a_frame_of_its_own(rep_01: Audit) -> None:
    parsed = Parsed(to_frame(rep_01))
    assert dict(parsed.tags) == {"iframe": 1}
    assert ("iframe", "srcdoc", to_html(rep_01)) in parsed.attributes


def test_without_a_reference_nothing_is_claimed() -> None:
    frame = pd.DataFrame({"id": range(40), "q": np.arange(40) // 4, "judge": np.arange(40) % 2})
    audit = evenhand.audit(frame, response="id", cluster="q", judge="judge").audit
    said = Parsed(to_html(audit)).text
    assert "No statement about the judge can be made from these data" in said
    assert "Without reference labels these data cannot say" in said
    assert "Judge against reference" not in said


def test_nominal_labels_make_a_square_table() -> None:
    rng = np.random.default_rng(2)
    labels = np.array(["cat", "dog", "bird"])
    reference = labels[rng.integers(0, 3, 60)]
    judge = np.where(rng.random(60) < 0.8, reference, "cat")
    frame = pd.DataFrame({"id": range(60), "q": np.arange(60) // 6, "reference": reference, "judge": judge})
    audit = evenhand.audit(
        frame, response="id", cluster="q", reference="reference", judge="judge", scale="nominal"
    ).audit
    confusion = page(audit).judges[0].confusion
    assert confusion is not None
    assert confusion.is_matrix
    assert len(confusion.rows) == 3 == len(confusion.columns)
    assert sum(int(n) for row in confusion.rows for n in row[1:]) == 60
    Parsed(to_html(audit))


def test_undefined_is_a_word_with_its_reason_and_no_interval() -> None:
    frame = pd.DataFrame({"id": range(30), "q": np.arange(30) // 3, "reference": 1, "judge": 1})
    audit = evenhand.audit(frame, response="id", cluster="q", reference="reference", judge="judge", scale="binary", levels=["0", "1"]).audit  # fmt: skip
    html = to_html(audit)
    said = Parsed(html).text
    assert "undefined: 0/0, no variation in labels" in said
    assert not re.search(r"\bnan\b", said.casefold())
    assert "None" not in said


def test_one_cluster_has_no_interval() -> None:
    frame = checklist_frame(20, 3).assign(question=1)
    said = Parsed(to_html(audit_of(frame))).text
    assert "one cluster: standard errors and intervals are undefined" in said
    assert "no interval" in said


def test_several_judges_stand_side_by_side(several: Audit) -> None:
    described = page(several)
    assert described.side_by_side is not None
    assert [row.name for row in described.side_by_side.rows] == ["model-0", "model-1", "model-2"]
    assert described.comparison is not None
    assert Parsed(to_html(several)).ids.most_common(1)[0][1] == 1


@pytest.mark.parametrize(("n_criteria", "per_cluster"), [(60, False), (40, True)])
def test_long_checklists_are_folded_capped_and_counted(n_criteria: int, per_cluster: bool) -> None:
    frame = checklist_frame(500 if per_cluster else 60, n_criteria, error=0.02)
    audit = audit_of(frame, criteria="per-cluster") if per_cluster else audit_of(frame)
    html = to_html(audit)
    Parsed(html)
    assert len(html.encode()) < 2_000_000
    if per_cluster:
        assert "1,940 more in tables/worst_lines.csv" in html


def test_texts_stand_side_by_side_under_their_lines(rep_01: Audit) -> None:
    parsed = Parsed(to_html(rep_01))
    assert parsed.tags["article"] == 4
    assert "false reject" in parsed.text


@pytest.mark.parametrize(
    ("number", "parts"),
    [("10.4 %", ("10", ".4 %")), ("0.904", ("0", ".904")), ("25", ("25", "")), ("-0.081", ("−0", ".081"))],
)
def test_decimals_align_on_the_point(number: str, parts: tuple[str, str]) -> None:
    assert decimal(number) == f'<span class="w">{parts[0]}</span><span class="f">{parts[1]}</span>'
