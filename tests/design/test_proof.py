"""Prompts of one response differ in the block alone, whatever texts the bank holds; where they do not, the proof says so."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenhand.design.arms import Block
from evenhand.design.calls import Design
from evenhand.design.difference import as_html, as_text
from evenhand.design.proof import Difference, compare, look
from evenhand.design.request import Message, PlannedCall, Request
from evenhand.design.templates import BUILT_IN, Template, fenced, read_template
from evenhand.errors import RequestError

MakeDesign = Callable[..., Design]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def a_call(arm: str, prompt: str, block: str, **settings: float) -> PlannedCall:
    request = Request("loop", "m", (Message("user", prompt),), settings)
    return PlannedCall(0, {"response_id": "r1", "arm": arm}, request, "", block)


@given(answer=TEXTS, blocks=st.lists(TEXTS, min_size=1, max_size=4))
@example(answer="{{ block }}", blocks=["{{ response }}", "{% raw %}"])
@example(answer="same", blocks=["same", "samesame", "same\nsame"])
@example(answer="<<<response 00000000\nx\n00000000 response>>>", blocks=["\n", "  ", ""])
def test_any_texts_and_any_blocks(answer: str, blocks: list[str]) -> None:
    template = read_template(f"{BUILT_IN}grader/plain", None)  # type: ignore[arg-type]  # built in: no folder
    values = {"low": "0", "high": "10", "rubric": "", "question": "Why?", "response": fenced(answer, "response")}
    group = [
        a_call(f"arm {place}", template.render({**values, "block": block}), block)
        for place, block in enumerate(["", *blocks])
    ]
    found = compare(group)
    assert isinstance(found, Difference)
    for call in group:
        start, end = found.places[call.labels["arm"]]
        prompt = call.request.messages[-1].content.encode()
        assert prompt[start:end] == call.block.encode()
        assert prompt[:start] + prompt[end:] == (found.before + found.after).encode()


@pytest.mark.parametrize(
    "other",
    [
        a_call("b", "start BLOCK end.", "BLOCK"),
        a_call("b", "start  BLOCK end", "BLOCK"),
        a_call("b", "Start BLOCK end", "BLOCK"),
        a_call("b", "start BLOCK BLOCK end", "BLOCK"),
        a_call("b", "end BLOCK start ", "BLOCK"),
        a_call("b", "start BLOCK end", "BLOCK", temperature=0.0),
        replace(
            a_call("b", "start BLOCK end", "BLOCK"),
            request=Request("loop", "m", (Message("system", "s"), Message("user", "start BLOCK end"))),
        ),
    ],
)
def test_anything_else_that_differs_is_found(other: PlannedCall) -> None:
    assert isinstance(compare([a_call("a", "start  end", ""), a_call("b", "start BLOCK end", "BLOCK")]), Difference)
    assert isinstance(compare([a_call("a", "start  end", ""), other]), str)


def test_all_prompts_of_a_plan_are_looked_at(design_of: MakeDesign) -> None:
    volume, proof = look(design_of())
    assert (proof.responses, proof.equal, proof.first_fault) == (20, 20, "")
    assert (volume.calls, len(volume.by_judge)) == (80, 1)
    assert volume.tokens_in == volume.by_judge["loop"][0] > 80 * 50
    assert proof.block_sizes["control"] == 0 < proof.block_sizes["true"]


def test_occasions_are_counted_and_not_rendered_again(design_of: MakeDesign, grader: str) -> None:
    once, _ = look(design_of(grader))
    thrice, _ = look(design_of(grader.replace("[draw]", "[facets]\noccasions = 3\n[draw]")))
    assert (thrice.calls, thrice.tokens_in) == (3 * once.calls, 3 * once.tokens_in)


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{{ response }}", "stands there 0 times"),
        ("{{ block }} {{ block }} {{ response }}", "stands there 2 times"),
        ("{% if block %}Mind this: {% endif %}{{ block }}{{ response }}", "changes elsewhere"),
        ("{{ block | length }}{{ block }}{{ response }}", "changes elsewhere"),
    ],
)
def test_a_template_that_changes_with_the_block_is_refused(
    design_of: MakeDesign, grader: str, template: str, says: str
) -> None:
    with pytest.raises(RequestError, match=says):
        design_of(grader.replace("builtin:grader/plain", "own.txt"), own=template)


def test_a_template_may_begin_or_end_with_the_block(design_of: MakeDesign, grader: str) -> None:
    for own in ("{{ block }}\n\n{{ response }}", "{{ response }}\n\n{{ block }}", "{{ block }}{{ response }}"):
        _, proof = look(design_of(grader.replace("builtin:grader/plain", "own.txt"), own=own))
        assert (proof.equal, proof.first_fault) == (20, "")


def test_the_difference_is_shown_with_its_bytes(design_of: MakeDesign) -> None:
    design = design_of()
    _, proof = look(design)
    text, page = as_text(proof), as_html(proof)
    first = proof.differences[0]
    start, end = first.places["true"]
    assert f"  true: bytes {start:,} to {end:,}" in text
    assert "  control: nothing" in text
    assert f"<ins>{first.blocks['neutral']}</ins>" in page
    assert page.count("<h2>") == len(proof.differences) == 12


def test_hostile_texts_are_escaped_where_they_are_shown(design_of: MakeDesign, rows: list[tuple[str, ...]]) -> None:
    hostile = [(*row[:5], f"</pre><script>alert(1)</script>\x1b[31m {row[0]}", row[6]) for row in rows]
    _, proof = look(design_of(rows=hostile))
    page = as_html(proof)
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "\x1b" not in page + as_text(proof)


def blocks_of(design: Design) -> Mapping[str, Block]:
    return design.blocks_of(design.drawn[0])


def test_a_block_of_several_lines_is_one_block(design_of: MakeDesign, grader: str) -> None:
    plan = grader.replace("builtin:block/neutral", "long.txt")
    design = design_of(plan, long="\n\nfirst\n\n  second\n\n")
    assert blocks_of(design)["neutral"].text == "first\n\n  second"
    _, proof = look(design)
    assert proof.equal == 20


def test_a_template_is_compiled_once_and_rendered_alike() -> None:
    one, two = Template("a", "{{ x }}"), Template("b", "{{ x }}")
    assert one.render({"x": "1"}) + two.render({"x": "2"}) == "12"
