"""Looking at a plan from the command line: volume, cost, proof, floor and registration, in words."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from evenhand.design.calls import Design, load_design
from evenhand.design.difference import as_html, as_text, headline
from evenhand.design.examples import BANK, EXAMPLES, PLAN, example_plan, write_example
from evenhand.design.floor import MOST_FALSE_CALLS, Chance, Floor, floor_of
from evenhand.design.precision import Precision, precision_of
from evenhand.design.proof import Volume, look
from evenhand.design.registration import register as write_registration
from evenhand.errors import OutputError, printable
from evenhand.output import write_text
from evenhand.run.backend import Usage
from evenhand.run.prices import prices_of

_LOCAL = ("embedded", "callable", "replay")
"""Backends that no provider is paid for."""
_WIDTH = 8
_PATIENCE = 10_000_000
"""Simulated verdicts from which a user is told what is going on."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What there is to say of a plan, and why it is refused, if it is."""

    text: str
    refusal: str


def show_example(kind: str, out: Path | None) -> str:
    """An example plan as text; or what was written, with a folder.

    Raises:
        OutputError: the folder is taken.
    """
    example = next(one for one in EXAMPLES if one == kind)
    if out is None:
        return example_plan(example)
    write_example(example, out)
    place = printable(str(out / PLAN))
    return f"wrote {place} and {BANK} beside it; look at it: evenhand plan {place}"


def look_at(
    path: Path, *, worlds: int, seed: int, diff: Path | None = None, register: Path | None = None, deviation: str = ""
) -> Looked:
    """Everything a plan can be asked before it runs; the registration is written last, and not where the plan is refused.

    Raises:
        EvenhandError: the plan cannot be carried out, or a file cannot be written.
    """
    design = load_design(path)
    volume, proof = look(design)
    if diff is not None:
        if diff.exists() and not _is_difference(diff):
            raise OutputError(f"{printable(str(diff))}: exists and is no such difference; choose another name")
        write_text(diff, as_html(proof) if diff.suffix.lower() in (".html", ".htm") else as_text(proof))
    if worlds * len(design.drawn) * len(design.drawn[0].item.criteria) > _PATIENCE:
        click.echo(f"simulating {worlds:,} worlds of this draw; --worlds 400 is faster and coarser ...", err=True)
    floor = floor_of(design, worlds=worlds, seed=seed)
    precision = precision_of(design, worlds=worlds, seed=seed) if floor is None else None
    lines = [f"plan    {printable(path.name)} {design.saved.hash[:12]}: {_judged(design)}"]
    lines += [*_judge_lines(design), *volume_lines(design, volume)]
    if len(design.plan.arm) > 1:
        lines.append(
            f"arms    {headline(proof)}"
            + (f"; see {printable(str(diff))}" if diff else "; --diff FILE.html shows them")
        )
        sizes = ", ".join(f"{printable(arm)} {size:.0f}" for arm, size in proof.block_sizes.items())
        lines.append(f"{'':{_WIDTH}}characters that each adds on average: {sizes}")
    lines += (
        _floor_lines(floor)
        if floor
        else _precision_lines(precision)
        if precision
        else ["floor   none: the plan reads nothing"]
    )
    refusal = proof.first_fault or _refusal(floor or precision)
    if register is not None and not refusal:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        held = write_registration(register, design.saved.hash, now, _saved(floor or precision, worlds, seed), deviation)
        said = f"registered {printable(str(register))}: plan {held.plan[:12]} since {held.entries[-1].date[:10]}"
        lines.append(said + (f", {len(held.entries) - 1} deviation(s)" if len(held.entries) > 1 else ""))
    return Looked("\n".join(lines), refusal + ("; nothing was registered" if refusal and register else ""))


def _judged(design: Design) -> str:
    plan, n = design.plan, len(design.drawn)
    parts = [f"{n:,} of {len(design.bank.items):,} responses"]
    tails = [one.tail for one in design.drawn if one.tail]
    if tails:
        parts.append(", ".join(f"{tails.count(name):,} in the {name} tail" for name in sorted(set(tails))))
    for number, what in (
        (len(design.drawn[0].item.criteria), "lines"),
        (len(plan.judge), "judges"),
        (len(plan.phrasing), "wordings"),
        (len(design.conditions), "arms"),
        (len(design.orders), "orders"),
        (plan.facets.occasions, "occasions"),
    ):
        parts += [f"{number} {what}"] if number > 1 else []
    return " × ".join(parts) if not tails else f"{parts[0]} ({parts[1]})" + "".join(f" × {one}" for one in parts[2:])


def _judge_lines(design: Design) -> list[str]:
    """What is sent to each judge beside the prompt; what is not named is the provider's default."""
    lines = []
    for judge in design.plan.judge:
        sent = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in judge.settings.items())
        lines.append(
            printable(
                f"judge   {judge.name}: {judge.model}, sends {sent or 'no settings'}; the rest is the provider's default"
            )
        )
    return lines


def volume_lines(design: Design, volume: Volume) -> list[str]:
    """Calls, tokens and cost."""
    said = f"calls   {volume.calls:,}, about {_tokens(volume.tokens_in)} tokens in, {_tokens(volume.tokens_out)} out"
    if not volume.bounded:
        said += " (no max_tokens is set: replies may be longer)"
    prices = prices_of(design.plan.prices, design.saved.folder)
    total, unknown, paid = 0.0, [], False
    for judge in design.plan.judge:
        if judge.backend in _LOCAL:
            continue
        paid = True
        tokens_in, tokens_out = volume.by_judge.get(judge.name, (0, 0))
        cost = prices.cost(judge.model, Usage(tokens_in, 0, tokens_out))
        if cost is None:
            unknown.append(judge.model)
        total += cost or 0.0
    lines = [said]
    if not paid:
        return [*lines, "cost    no provider is paid: every judge runs here or is replayed"]
    named = printable(design.plan.prices or "prices.toml")
    if len(unknown) < len(design.plan.judge):
        lines.append(
            f"cost    {total:,.2f} {printable(prices.currency)} at prices of {printable(prices.date) or 'no date'} ({named})"
        )
    if unknown:
        models = ", ".join(f'"{printable(one)}"' for one in dict.fromkeys(unknown))
        lines.append(
            f'cost    unknown for {models}: no price is known; prices = "prices.toml" in the plan names a table of yours'
        )
    return lines


def _tokens(count: int) -> str:
    return f"{count / 1e6:.1f} M" if count >= 1_000_000 else f"{count / 1e3:.0f} k" if count >= 10_000 else f"{count:,}"


def _floor_lines(floor: Floor) -> list[str]:
    lines = [f"reads   {printable(floor.reads)}, of each judge and wording by itself; intervals over {_units(floor)}"]
    if floor.false_calls is not None:
        seen = ", ".join(_seen(chance) for chance in floor.chances)
        none = floor.false_calls
        lines.append(f"floor   detects an effect of {seen}")
        lines.append(f"{'':{_WIDTH}}false call {100 * none.share:.1f} % of {none.worlds:,} worlds without an effect")
        hidden = [one for one in floor.chances if abs(one.estimate - one.effect) > 0.1 * one.effect]
        if hidden:
            one = hidden[0]
            lines.append(
                f"{'':{_WIDTH}}{one.effect:g} shows as {one.estimate:.2g}: the ends of the scale hide the rest"
            )
    lines.append(f"{'':{_WIDTH}}{_verdict(floor)}")
    return [*lines, *_assumed(floor.assumptions)]


def _seen(chance: Chance) -> str:
    return f"{chance.effect:g} in {100 * chance.share:.1f} % of {chance.worlds:,} planted worlds"


def _verdict(floor: Floor) -> str:
    above = f" at {floor.smallest:g} and above" if floor.smallest is not None else ""
    if floor.verdict == "pass":
        return f"PASS{above}: {floor.target:g} is asked for"
    if floor.verdict == "open":
        return f"passes{above}; {floor.reason}"
    return f"{floor.verdict.upper()}: {floor.reason}" + (f"; passes{above}" if above else "")


def _precision_lines(found: Precision) -> list[str]:
    lines = [
        f"reads   agreement with the reference, of each judge and wording by itself; intervals over {_units(found)}"
    ]
    for number, one in enumerate(found.widths):
        lead = "floor" if number == 0 else ""
        lines.append(
            f"{lead:{_WIDTH}}{one.statistic}: half-width {one.middle:.3f} in the median of {one.worlds:,} worlds, at most "
            f"{one.in_most:.3f} in 80 %" + (f"; none in {one.withheld:,}" if one.withheld else "")
        )
    if found.verdict == "pass":
        lines.append(f"{'':{_WIDTH}}PASS: a half-width of {found.target:g} is asked for")
    else:
        lines.append(
            f"{'':{_WIDTH}}{found.verdict.upper() if found.verdict != 'open' else 'no verdict'}: {found.reason}"
        )
    return [*lines, *_assumed(found.assumptions)]


def _units(found: Floor | Precision) -> str:
    return f"{found.n_units:,} {found.unit}s"


def _assumed(words: tuple[str, ...]) -> list[str]:
    return [f"assumed {words[0]}", *(f"{'':{_WIDTH}}{one}" for one in words[1:])] if words else []


def _refusal(found: Floor | Precision | None) -> str:
    if found is None or found.verdict != "refused":
        return ""
    if found.would_do is not None:
        size = f"about {found.would_do.responses:,} responses of {found.would_do.units:,} {found.unit}s would do"
    elif isinstance(found, Floor) and found.false_calls and found.false_calls.ends[0] > MOST_FALSE_CALLS:
        size = f"a draw with more {found.unit}s in its smaller tail would do better"
    else:
        size = "no size up to 60,000 verdicts would do" if found.target else f"draw more {found.unit}s"
    return f"the floor refuses this plan: {found.reason}; {size}, or ask for less in [floor]"


def _saved(found: Floor | Precision | None, worlds: int, seed: int) -> Mapping[str, object]:
    """What a registration keeps of a floor."""
    if found is None:
        return {"verdict": "none"}
    content: dict[str, object] = {
        "verdict": found.verdict,
        "target": found.target,
        "unit": found.unit,
        "n_units": found.n_units,
    }
    content |= {"worlds": worlds, "seed": seed, "assumptions": list(found.assumptions)}
    if isinstance(found, Floor):
        chances = [*found.chances, *([found.false_calls] if found.false_calls else [])]
        content |= {"reads": found.reads, "smallest": found.smallest}
        content["chances"] = [{"effect": one.effect, "called": one.called, "worlds": one.worlds} for one in chances]
    else:
        content["half_widths"] = {one.statistic: one.middle for one in found.widths if one.halves}
    return content


def _is_difference(path: Path) -> bool:
    try:
        head = path.read_bytes()[:200]
    except OSError:
        return False
    return not head or b"Arms of a plan" in head or head.startswith(b"prompts of one response differ")
