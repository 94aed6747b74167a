"""How replies are read under a plan, and how an audit is told to read the verdicts."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.design.calls import Design, load_design
from evenhand.design.examples import write_example
from evenhand.design.reading import ReplyReader

MakeDesign = Callable[..., Design]


def test_intervals_resample_the_unit_that_the_plan_names(design_of: MakeDesign, grader: str) -> None:
    assert ReplyReader(design_of(grader).plan).verdict_spec().cluster == "learner_id"
    by_question = grader.replace("[draw]", '[read]\nunit = "cluster"\n[draw]')
    assert ReplyReader(design_of(by_question).plan).verdict_spec().cluster == "cluster_id"


@pytest.mark.parametrize(("order", "expected"), [("AB", "A"), ("BA", "B")])
def test_verdicts_on_the_other_order_are_turned_back(tmp_path: Path, order: str, expected: str) -> None:
    write_example("pairwise", tmp_path / "study")
    design = load_design(tmp_path / "study" / "plan.toml")
    call = next(one for one in design.calls() if one.labels["order"] == order)
    reader = ReplyReader(design.plan)
    assert reader.parse(call, "It is [[A]]").value == expected
    assert reader.parse(call, "It is [[C]]").status == "tied"
    assert reader.parse(call, "It is A").value is None
    item = design.bank.items[0]
    shown_first = item.texts["answer_a" if order == "AB" else "answer_b"]
    prompt = (
        next(one for one in design.calls_of(design.drawn[0]) if one.labels["order"] == order)
        .request.messages[-1]
        .content
    )
    assert prompt.index(shown_first) < prompt.index(item.texts["answer_b" if order == "AB" else "answer_a"])


def test_a_refusal_is_no_verdict(design_of: MakeDesign) -> None:
    design = design_of()
    call = next(design.calls())
    found = ReplyReader(design.plan).parse(call, "", refusal="I cannot mark this")
    assert (found.value, found.status) == (None, "refused")
