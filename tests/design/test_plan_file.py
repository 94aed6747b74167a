"""Plans: faults are named with their line, and the hash is that of what can change a verdict."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.design.calls import Design, load_design
from evenhand.design.plan import parse_plan
from evenhand.errors import EvenhandError, RequestError, SourceError

MakeDesign = Callable[..., Design]


def line_of(text: str, beginning: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.startswith(beginning))


@pytest.mark.parametrize(
    ("old", "new", "at", "says"),
    [
        ('parse = "bracketed"', 'pars = "bracketed"', "[reply]", "[reply] parse: is missing"),
        ('learner = "student"', 'learner = "student"\nlerner = 1', "lerner", 'unknown name; did you mean "learner"'),
        ("seed = 7", "seed = -1", "seed", "[draw] seed"),
        ('kind = "ordinal"', 'kind = "ordnal"', "kind", "[scale] kind"),
        ('label = "own"', 'label = "mine"', 'label = "mine"', "[[arm]] number 2 label"),
        ('name = "true"', 'name = "control"', 'name = "control"', 'two of [[arm]] are called "control"'),
        ('[[judge]]\nname = "loop"', "[[judge]]", "[[judge]]", "[[judge]] number 1 name: is missing"),
        ("tails = { high", "tails = { hihg", "tails", 'did you mean "high"'),
        ('model = "small"', 'model = "small"\nkey = "sk-123"', "key", "environment variable"),
        ('model = "small"', 'model = "small"\nsettings = { model = "x" }', "settings", "model is not a setting"),
        ('model = "small"', 'model = "small"\nsettings = { day = 2020-01-01 }', "settings", "sent as JSON"),
        ('model = "small"', 'model = "small"\nsettings = { top_p = nan }', "settings", "sent as JSON"),
        ('block = "builtin:block/attainment"\nlabel = "own"', 'label = "own"', "[[arm]]", "it needs block ="),
        ('cluster = "question"', 'cluster = "question"\ngroup = "answer"', "[bank]", "groups never reach a prompt"),
        ("[draw]", '[read]\nprimary = "phrasing"\n[draw]', "primary", "phrasing needs two [[phrasing]]"),
        ("[draw]", '[read]\narms = ["true", "contrl"]\n[draw]', "arms", 'did you mean "control"'),
        ("[draw]", "[floor]\neffect = 0\n[draw]", "effect", "[floor] effect"),
        ("[draw]", '[facets]\nexample_order = ["rising", "rising"]\n[draw]', "example_order", "an order stands twice"),
    ],
)
def test_a_fault_is_named_with_its_line(grader: str, old: str, new: str, at: str, says: str) -> None:
    assert old in grader
    text = grader.replace(old, new, 1)
    with pytest.raises(RequestError) as caught:
        parse_plan(text, "plan.toml")
    said = str(caught.value)
    assert says in said
    found = re.match(r"plan\.toml line (\d+): ", said)
    assert found
    assert text.splitlines()[int(found[1]) - 1].startswith(at)


def test_the_second_of_two_names_has_the_line(grader: str) -> None:
    text = grader.replace('name = "true"', 'name = "control"')
    second = [number for number, line in enumerate(text.splitlines(), 1) if line == 'name = "control"'][1]
    with pytest.raises(RequestError, match=f"line {second}: "):
        parse_plan(text, "plan.toml")


def test_a_table_with_a_header_of_its_own_is_found(grader: str) -> None:
    text = grader.replace("tails = { high = 6, low = 4, n = 20 }\nseed = 7", "[draw.tails]\nhigh = 6\nn = 1")
    with pytest.raises(RequestError, match=rf"line {line_of(text, 'n = 1')}: \[draw\] tails n"):
        parse_plan(text, "plan.toml")


@pytest.mark.parametrize("text", ["[bank", "bank = 1", "", "\x00"])
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(EvenhandError, match=r"plan\.toml"):
        parse_plan(text, "plan.toml")


def test_bytes_that_are_no_text_are_refused(folder: Path) -> None:
    (folder / "plan.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SourceError, match="UTF-8"):
        load_design(folder / "plan.toml")


@pytest.mark.parametrize(
    "more",
    [
        "[budget]\ncalls = 10\nmoney = 3.5",
        "[run]\nin_flight = 2\nattempts = 9",
        "# a comment",
    ],
)
def test_neither_budget_nor_pace_changes_the_hash(design_of: MakeDesign, grader: str, more: str) -> None:
    assert design_of(grader).saved.hash == design_of(f"{grader}\n{more}\n").saved.hash


@pytest.mark.parametrize("line", ["timeout = 5.0", 'key = "ANOTHER_KEY"'])
def test_how_a_provider_is_waited_for_changes_nothing(design_of: MakeDesign, grader: str, line: str) -> None:
    changed = grader.replace('model = "small"', f'model = "small"\n{line}')
    assert design_of(grader).saved.hash == design_of(changed).saved.hash


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed = 7", "seed = 8"),
        ('model = "small"', 'model = "large"'),
        ('model = "small"', 'model = "small"\nsettings = { temperature = 0 }'),
        ("high = 6", "high = 6.5"),
        ('name = "neutral"', 'name = "other"'),
        ("[draw]", "[facets]\noccasions = 2\n[draw]"),
        ("[draw]", "[floor]\neffect = 0.2\n[draw]"),
    ],
)
def test_whatever_can_change_a_verdict_or_its_reading_changes_the_hash(
    design_of: MakeDesign, grader: str, old: str, new: str
) -> None:
    assert design_of(grader).saved.hash != design_of(grader.replace(old, new, 1)).saved.hash


def test_every_byte_of_a_template_changes_the_hash(design_of: MakeDesign, grader: str) -> None:
    plan = grader.replace("builtin:grader/plain", "own.txt")
    text = "Mark this.\n{{ block }}\n{{ response }}\nEnd.\n"
    hashes = {design_of(plan, own=text[:at] + " " + text[at:]).saved.hash for at in (0, 5, 11, len(text))}
    assert len(hashes | {design_of(plan, own=text).saved.hash}) == 5


def test_a_changed_bank_changes_the_hash_and_no_call_that_stays_the_same(
    design_of: MakeDesign, grader: str, rows: list[tuple[str, ...]]
) -> None:
    before = design_of(grader)
    group = [(*row[:3], "undisclosed", *row[4:]) for row in rows]
    after = design_of(grader, rows=group)
    assert before.saved.hash != after.saved.hash
    assert [call.key for call in before.calls()] == [call.key for call in after.calls()]


def test_the_number_of_calls_is_told_without_rendering(design_of: MakeDesign, grader: str) -> None:
    plan = grader.replace("[draw]", '[facets]\noccasions = 3\nexample_order = ["rising", "mixed"]\n[draw]')
    plan = plan.replace(
        "[facets]", '[[arm]]\nname = "shown"\nblock = "builtin:block/examples"\nexamples = "correct"\n[facets]'
    )
    design = design_of(plan)
    calls = list(design.calls())
    assert design.n_calls == len(calls) == 20 * 3 * 6
    assert [call.place for call in calls] == list(range(len(calls)))
    assert len({call.key for call in calls}) == len(calls)
    assert {call.labels["arm"] for call in calls} >= {"shown, rising", "shown, mixed", "control"}
