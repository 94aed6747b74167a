"""Arms: what each block says, what of it stands in the verdicts, and what never reaches a prompt."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.design.arms import _examples, _shown_marks, block_of
from evenhand.design.bank import Item
from evenhand.design.calls import Design
from evenhand.design.plan import ArmPart, ScalePart
from evenhand.design.request import PlannedCall
from evenhand.errors import RequestError

MakeDesign = Callable[..., Design]
SCALE = ScalePart(kind="ordinal", levels=tuple(range(11)))
EXAMPLES = '[[arm]]\nname = "{how}"\nblock = "builtin:block/examples"\nexamples = "{how}"\n'


def with_arms(plan: str, *arms: str) -> str:
    return plan.replace("[draw]", "\n".join([*arms, "[draw]"]))


def by_arm(design: Design, response: int = 0) -> dict[str, PlannedCall]:
    return {call.labels["arm"]: call for call in design.calls_of(design.drawn[response])}


def an_item(mark: float, name: str) -> Item:
    return Item(name, "q", f"s-{name}", {"answer": f"text {name}"}, {"": ""}, {"": f"{mark:g}"})


def test_labels_state_attainment_and_on_how_many_answers_it_rests(design_of: MakeDesign) -> None:
    design = design_of()
    calls = by_arm(design)
    drawn = design.drawn[0]
    assert f"over 5 earlier answers the student's average mark was {drawn.attainment:.1f}" in calls["true"].block
    assert f"average mark was {drawn.partner:.1f} on a scale from 0 to 10" in calls["swapped"].block
    assert calls["swapped"].labels["label_shown"] == f"{drawn.partner:.1f}"
    assert calls["swapped"].labels["n_prior_shown"] == "5"
    assert "label_shown" not in calls["control"].labels
    assert calls["control"].block == ""


def test_the_neutral_block_is_about_as_long_as_the_label_and_says_no_number(design_of: MakeDesign) -> None:
    calls = by_arm(design_of())
    assert len(calls["neutral"].block) == pytest.approx(len(calls["true"].block), rel=0.15)
    assert not re.search(r"\d|average|mark", calls["neutral"].block)


@pytest.mark.parametrize("which", ["low", "high"])
@pytest.mark.parametrize("with_mark", [True, False])
def test_a_prior_attempt_with_and_without_its_mark(
    design_of: MakeDesign, grader: str, which: str, with_mark: bool
) -> None:
    arm = f'[[arm]]\nname = "prior"\nblock = "builtin:block/prior"\nprior = "{which}"\nprior_mark = {str(with_mark).lower()}\n'
    design = design_of(with_arms(grader, arm))
    call, item = by_arm(design)["prior"], design.drawn[0].item
    others = [one for one in design.bank.by_cluster[item.cluster_id] if one.learner_id != item.learner_id]
    mark = (min if which == "low" else max)(one.mark for one in others)
    shown = next(one for one in others if one.texts["answer"] in call.block)
    assert shown.mark == mark
    assert (f"was given the mark {mark:g}" in call.block) == with_mark
    assert call.labels.get("shown_marks") == (f"{mark:g}" if with_mark else None)


def test_examples_with_marks_given_removed_exchanged_and_moved(design_of: MakeDesign, grader: str) -> None:
    arms = [EXAMPLES.format(how=how) for how in ("correct", "unmarked", "shuffled", "up", "down")]
    calls = by_arm(design_of(with_arms(grader, *arms)))
    shown = {how: call.labels.get("shown_marks") for how, call in calls.items() if "example_order" in call.labels}
    correct = [float(mark) for mark in (shown["correct"] or "").split()]
    assert correct == sorted(correct)
    assert len(set(correct)) == 3
    assert shown["unmarked"] is None
    shuffled = [float(mark) for mark in (shown["shuffled"] or "").split()]
    assert sorted(shuffled) == correct
    assert all(one != other for one, other in zip(correct, shuffled, strict=True))
    assert [float(mark) for mark in (shown["up"] or "").split()] == [min(mark + 2, 10) for mark in correct]
    assert [float(mark) for mark in (shown["down"] or "").split()] == [max(mark - 2, 0) for mark in correct]
    texts = {how: re.sub(r"Mark: \d+\n?", "", calls[how].block).strip() for how in shown}
    assert len(set(texts.values())) == 1, "the same answers in the same order, whatever their marks"


def test_every_arm_ends_with_the_same_instruction(design_of: MakeDesign, grader: str) -> None:
    arms = [EXAMPLES.format(how=how) for how in ("correct", "unmarked")]
    endings = {
        call.request.messages[-1].content.splitlines()[-1]
        for call in by_arm(design_of(with_arms(grader, *arms))).values()
    }
    assert len(endings) == 1


def test_the_order_of_examples_is_a_facet(design_of: MakeDesign, grader: str) -> None:
    plan = with_arms(grader, EXAMPLES.format(how="correct"), '[facets]\nexample_order = ["rising", "falling", "mixed"]')
    calls = by_arm(design_of(plan))
    rising, falling = (calls[f"correct, {order}"].labels["shown_marks"].split() for order in ("rising", "falling"))
    assert rising == falling[::-1]
    assert {calls[f"correct, {order}"].labels["example_order"] for order in ("rising", "mixed")} == {"rising", "mixed"}
    assert sorted(calls["correct, mixed"].labels["shown_marks"].split()) == sorted(rising)
    assert "example_order" not in calls["control"].labels


@given(st.lists(st.integers(0, 10), min_size=3, max_size=12))
def test_no_example_keeps_its_own_mark_even_with_ties(marks: list[int]) -> None:
    others = sorted(
        (an_item(mark, f"{place}") for place, mark in enumerate(marks)), key=lambda one: (one.mark, one.response_id)
    )
    arm = ArmPart(name="x", block="b.txt", examples="shuffled")
    if len(set(marks)) == 1:
        with pytest.raises(RequestError, match="cannot be exchanged"):
            _examples(others, arm, others[0])
        return
    chosen = _examples(others, arm, others[0])
    own = [one.mark for one in chosen]
    shown = [float(mark) for mark in _shown_marks(arm, own, SCALE)]
    assert sorted(shown) == sorted(own)
    assert all(one != other for one, other in zip(own, shown, strict=True))
    assert (min(own), max(own)) == (min(marks), max(marks))
    assert len(chosen) == min(3, len(set(marks)))


@given(st.lists(st.floats(0, 10), min_size=3, max_size=3), st.floats(0.5, 4))
def test_moved_marks_stay_on_the_scale(marks: list[float], shift: float) -> None:
    for how in ("up", "down"):
        arm = ArmPart(name="x", block="b.txt", examples=how, shift=shift)
        assert all(0 <= float(mark) <= 10 for mark in _shown_marks(arm, marks, SCALE))


def test_an_arm_says_for_which_response_the_bank_lacks_something(design_of: MakeDesign, grader: str) -> None:
    design = design_of(with_arms(grader, EXAMPLES.format(how="correct")))
    arm, template = design.plan.arm[-1], design.blocks["correct"]
    alone = design.bank.by_cluster["q0"][:1]
    bank = type(design.bank)(alone, "bank", "")
    drawn = type(design.drawn[0])(alone[0])
    with pytest.raises(RequestError, match=r"0 marked answer\(s\) of other learners beside response"):
        block_of(arm, template, drawn, bank, design.plan.scale)


def test_groups_stand_in_the_verdicts_and_never_in_a_prompt(
    design_of: MakeDesign, grader: str, rows: list[tuple[str, ...]]
) -> None:
    marked = [(*row[:3], f"GROUP{number}", *row[4:]) for number, row in enumerate(rows)]
    arm = EXAMPLES.format(how="correct")
    design = design_of(with_arms(grader, arm).replace("text =", 'group = "gender"\ntext ='), rows=marked)
    for call in design.calls():
        assert call.labels["group_gender"].startswith("GROUP")
        assert "GROUP" not in "".join(message.content for message in call.request.messages)


def test_every_template_can_be_replaced(design_of: MakeDesign, grader: str) -> None:
    plan = grader.replace("builtin:grader/plain", "mine.txt").replace("builtin:block/neutral", "quiet.txt")
    plan = plan.replace("[[judge]]", "[[judge]]", 1).replace("[bank]", 'system = "voice.txt"\n[bank]', 1)
    design = design_of(
        plan, mine="Mine: {{ response }}\n{{ block }}\nEnd", quiet="Nothing of note.", voice="You are brief."
    )
    call = by_arm(design)["neutral"]
    assert [message.role for message in call.request.messages] == ["system", "user"]
    assert call.request.messages[0].content == "You are brief."
    assert call.request.messages[1].content.endswith("\nNothing of note.\nEnd")
