"""From a plan to its calls: every prompt that would be sent, in the plan's order, one after the other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from evenhand.design.arms import Block, block_of
from evenhand.design.bank import Bank, Item, read_bank
from evenhand.design.draw import Drawn, draw
from evenhand.design.plan import ArmPart, JudgePart, Plan, SavedPlan, parse_plan
from evenhand.design.request import Json, Message, PlannedCall, Request, digest
from evenhand.design.templates import Template, check_block_place, fenced, in_one_line, read_template
from evenhand.errors import SourceError, printable

Order = tuple[str, ...]


@dataclass(frozen=True)
class Design:
    """A plan with everything it names read: ready to list its calls."""

    saved: SavedPlan
    bank: Bank
    drawn: tuple[Drawn, ...]
    phrasings: Mapping[str, Template]
    blocks: Mapping[str, Template | None]
    system: Template | None
    rubric: str = ""

    @property
    def plan(self) -> Plan:
        """The plan as it was written."""
        return self.saved.plan

    @property
    def n_calls(self) -> int:
        """Calls of the whole plan."""
        plan = self.plan
        lines = len(self.drawn[0].item.criteria) if self.drawn else 0
        conditions = len(plan.judge) * len(plan.phrasing) * len(self.conditions) * plan.facets.occasions
        return len(self.drawn) * lines * conditions * len(self.orders)

    @property
    def orders(self) -> Order:
        """Orders in which answers are shown; one without a name where there is nothing to order."""
        if self.plan.scale.kind != "pairwise":
            return ("",)
        return self.plan.facets.order or ("AB", "BA")

    @property
    def conditions(self) -> tuple[tuple[str, ArmPart, str], ...]:
        """What may be added to a prompt: its name in the verdicts, the arm, and the order of its examples, if any.

        An arm with examples stands once for each order; the others are asked once.
        """
        orders = self.plan.facets.example_order
        found: list[tuple[str, ArmPart, str]] = []
        for arm in self.plan.arm:
            if arm.examples is None:
                found.append((arm.name, arm, ""))
            else:
                found += [(f"{arm.name}, {order}" if len(orders) > 1 else arm.name, arm, order) for order in orders]
        return tuple(found)

    def calls(self) -> Iterator[PlannedCall]:
        """All calls: occasions outermost, then responses, so that an interrupted run holds whole occasions first."""
        place = 0
        for occasion in range(1, self.plan.facets.occasions + 1):
            for drawn in self.drawn:
                for call in self.calls_of(drawn, str(occasion)):
                    yield PlannedCall(place, call.labels, call.request, call.reading, call.block)
                    place += 1

    def calls_of(self, drawn: Drawn, occasion: str = "1") -> Iterator[PlannedCall]:
        """The calls of one response on one occasion, the conditions of one line, wording and order beside each other."""
        blocks = self.blocks_of(drawn)
        for criterion in drawn.item.criteria:
            yield from self._of_line(drawn, criterion, blocks, occasion)

    def blocks_of(self, drawn: Drawn) -> dict[str, Block]:
        """What each condition adds to the prompts of a response."""
        return {
            name: block_of(arm, self.blocks[arm.name], drawn, self.bank, self.plan.scale, order)
            for name, arm, order in self.conditions
        }

    def _of_line(
        self, drawn: Drawn, criterion: str, blocks: Mapping[str, Block], occasion: str
    ) -> Iterator[PlannedCall]:
        for judge in self.plan.judge:
            known = self._labels(drawn, criterion, judge)
            for phrasing, template in self.phrasings.items():
                for order in self.orders:
                    values = self._values(drawn.item, criterion, order)
                    for arm, block in blocks.items():
                        prompt = template.render({**values, "block": block.text})
                        labels = {**known, "phrasing": phrasing, "occasion": occasion, "arm": arm, **block.labels}
                        labels |= {"order": order} if order else {}
                        yield PlannedCall(0, labels, self._request(judge, prompt, values), self._reading, block.text)

    @cached_property
    def _reading(self) -> str:
        return digest(self.plan.spec().model_dump(mode="json", exclude_defaults=True))

    def _values(self, item: Item, criterion: str, order: str) -> dict[str, object]:
        """What a template may name; texts of several lines are fenced."""
        names = list(item.texts)
        values: dict[str, object] = {"criterion": in_one_line(item.criteria[criterion])}
        values["texts"] = {name: fenced(text, "text") for name, text in item.texts.items()}
        values["question"] = in_one_line(item.texts[names[0]]) if len(names) > 1 else ""
        if self.plan.scale.kind == "pairwise":
            first, second = names[-2:] if order == "AB" else names[:-3:-1]
            values["first"], values["second"] = (fenced(item.texts[name], "answer") for name in (first, second))
        elif names:
            values["response"] = fenced(item.texts[names[-1]], "response")
        values["rubric"] = self.rubric
        levels, ends = self.plan.scale.levels, self.plan.scale.range
        values["levels"] = list(levels)
        values["low"], values["high"] = (
            (f"{ends[0]:g}", f"{ends[1]:g}") if ends else (levels[0], levels[-1]) if levels else ("", "")
        )
        return values

    def _request(self, judge: JudgePart, prompt: str, values: Mapping[str, object]) -> Request:
        system = () if self.system is None else (Message("system", self.system.render({**values, "block": ""})),)
        settings: dict[str, Json] = dict(judge.settings)
        return Request(
            judge.base_url or judge.backend, judge.model, (*system, Message("user", prompt)), settings, self._schema()
        )

    def _schema(self) -> dict[str, Json] | None:
        """A structured reply with the verdict under the key that the form reads."""
        if not self.plan.reply.structured:
            return None
        key = self.plan.reply.parse.partition(":")[2] or "verdict"
        levels, ends = self.plan.scale.levels, self.plan.scale.range
        values: dict[str, Json] = (
            {"type": "number", "minimum": ends[0], "maximum": ends[1]} if ends else {"type": "string"}
        )
        if levels:
            values = {"type": "string", "enum": [*levels, *self.plan.scale.tie, *self.plan.scale.abstain]}
        return {"type": "object", "properties": {key: values}, "required": [key], "additionalProperties": False}

    def _labels(self, drawn: Drawn, criterion: str, judge: JudgePart) -> dict[str, str]:
        item = drawn.item
        named: dict[str, str] = {
            "response_id": item.response_id,
            "cluster_id": item.cluster_id,
            "criterion_id": criterion,
            "rater_id": judge.name,
            "model": judge.model,
            "learner_id": item.learner_id,
            "tail": drawn.tail,
            "reference": item.references[criterion],
        }
        named |= {f"group_{name}": text for name, text in item.groups.items()}
        return {name: text for name, text in named.items() if text}


def load_design(path: Path) -> Design:
    """Read a plan and everything it names.

    Raises:
        SourceError: a file cannot be read.
        RequestError: the plan, a template or the bank cannot carry it.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise SourceError(f"{printable(str(path))}: this plan cannot be read ({problem.strerror})") from None
    except UnicodeDecodeError:
        raise SourceError(f"{printable(path.name)}: a plan is UTF-8 text") from None
    plan = parse_plan(text, printable(path.name))
    folder = path.absolute().parent
    phrasings = {one.name: read_template(one.template, folder) for one in plan.phrasing}
    blocks = {arm.name: read_template(arm.block, folder) if arm.block else None for arm in plan.arm}
    system = read_template(plan.system, folder) if plan.system else None
    bank = read_bank(plan.bank, folder, plan.draw.strata)
    named: dict[str, str] = {"bank": bank.sha256}
    named |= {f"phrasing {name}": one.sha256 for name, one in phrasings.items()}
    named |= {f"block of {name}": one.sha256 for name, one in blocks.items() if one is not None}
    named |= {"system": system.sha256} if system is not None else {}
    rubric = read_template(plan.bank.rubric, folder) if plan.bank.rubric else None
    named |= {"rubric": rubric.sha256} if rubric is not None else {}
    saved = SavedPlan(plan=plan, folder=folder, name=path.name, files=named)
    rubric_text = rubric.text if rubric is not None else ""
    design = Design(saved, bank, draw(bank, plan.draw), phrasings, blocks, system, rubric_text)
    _check(design)
    return design


def _check(design: Design) -> None:
    """Every template and every block must render, and with arms every template must have one place for the block."""
    first = design.drawn[0].item
    values: Mapping[str, Any] = design._values(first, next(iter(first.criteria)), design.orders[0])
    adds_blocks = any(block is not None for block in design.blocks.values())
    for template in design.phrasings.values():
        if adds_blocks:
            check_block_place(template, values)
        else:
            template.render({**values, "block": ""})
    if adds_blocks:
        for drawn in design.drawn:
            design.blocks_of(drawn)
