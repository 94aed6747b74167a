"""Options that several commands share, and how their values become a spec."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from evenhand.errors import RequestError, printable

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
_LISTS = ("response", "levels", "abstain", "tie", "na", "cut", "text", "clean", "length", "author", "group")

_COLUMNS = {
    "response": ("COL[,COL]", "identifies a response"),
    "cluster": (
        "COL[,COL]",
        "what responses share: question, prompt, student; intervals resample it; a second one crosses it",
    ),
    "criterion": ("COL", "the checklist line of a row"),
    "rater": ("COL", "who gave the verdict of a row (long files)"),
    "rater-kind": ("COL", "judge, human or reference"),
    "verdict": ("COL", "the verdict of a row (long files)"),
    "status": ("COL", "scored, abstained, tied, unparsed, refused, error or missing (or why: excused, absent)"),
    "model": ("COL", "the judge's model, a condition"),
    "setting": ("COL", "the judge's setting, a condition"),
    "phrasing": ("COL", "the wording of the instruction, a condition"),
    "occasion": ("COL", "the repeat, a condition"),
    "arm": ("COL", "what the judge was additionally told, a condition"),
    "order": ("COL", "the order of the answers, a condition"),
    "learner": ("COL", "whose work a response is; what a label or an earlier attempt says is about the learner"),
    "tail": ("COL", "the tail of attainment that a response's learner belongs to (high, low)"),
    "label-shown": ("COL", "the attainment that an arm states to the judge"),
    "n-prior-shown": ("COL", "from how many earlier answers that attainment is said to come"),
    "shown-marks": ("COL", "the marks of the examples, or of the earlier attempt, that an arm shows"),
    "length": (
        "COL[,COL]",
        "a response's length, or its text to be measured in characters; of pairs, one of each side",
    ),
    "author": (
        "COL[,COL]",
        "the model that wrote a response: models are ranked by both sides, the judge's own held apart; of pairs, one a side",
    ),
    "group": (
        "COL",
        "groups of people whose gaps are to be measured; repeat it for several axes; never told to a judge",
    ),
    "weight": (
        "COL",
        "a design weight, 1 / (chance of being sampled): rates, means and agreement then speak of the population",
    ),
    "confidence": ("COL|PATTERN", "how sure the judge is of each verdict; see --confidence-of"),
    "explanation": ("COL", "the judge's words about a verdict, carried along by convert"),
    "strata": ("COL", "fixed strata, such as tasks; every interval resamples within them"),
    "count": ("COL|COL/COL", "how many verdicts a row stands for; or of POSITIVE/ALL, as correct/n"),
}


def _once(*names: str, **more: Any) -> Decorator:
    """An option of one value; giving it twice is refused, where a command line would silently take the last."""
    return click.option(*names, multiple=True, callback=_only_value, **more)


def _only_value(_ctx: click.Context, option: click.Parameter, values: tuple[Any, ...]) -> Any:
    if len(values) > 1:
        name = f"--{(option.name or '').replace('_', '-')}"
        raise RequestError(
            f"{name} is given {len(values)} times ({', '.join(printable(str(v)) for v in values)}): it takes one value"
        )
    return values[0] if values else None


def spec_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """All options that a spec holds."""
    decorators: list[Decorator] = [
        _once(
            "--reference",
            metavar="COL|PATTERN",
            help="Reference labels; PATTERN holds {criterion}, as gold_e{criterion}.",
        ),
        click.option(
            "--judge", multiple=True, metavar="COL|PATTERN", help="A judge's verdicts; repeat it for several judges."
        ),
        *(
            (click.option(f"--{name}", multiple=True, metavar=metavar, help=f"Column: {words}."))
            if name in ("response", "cluster", "length", "author", "group")
            else _once(f"--{name}", metavar=metavar, help=f"Column: {words}.")
            for name, (metavar, words) in _COLUMNS.items()
        ),
        _once("--control", metavar="ARM", help="The arm that tells nothing, where it is not called control or none."),
        _once(
            "--scale",
            type=click.Choice(["binary", "ordinal", "continuous", "nominal", "pairwise"]),
            help="Inferred and printed when left out.",
        ),
        click.option(
            "--levels", multiple=True, metavar="A,B,C", help="The labels in order; for two, the last is positive."
        ),
        _once("--range", metavar="LO,HI", help="The lowest and highest mark of a scale of marks."),
        _once("--positive", metavar="VALUE", help="The positive label of a binary scale."),
        click.option("--abstain", multiple=True, metavar="VALUE", help="A label that says the rater abstained."),
        click.option("--tie", multiple=True, metavar="VALUE", help="A label that says tie."),
        click.option("--na", multiple=True, metavar="VALUE", help="A label that means no verdict."),
        _once(
            "--parse",
            metavar="FORM",
            help="The verdicts are a judge's replies: how they are read. grade, labelled:WORD, rating[:WORD], bracketed, "
            "pairwise, json:KEY, yes-no, met-unmet, leading, whole, tokens or token-mean; values by --levels or --range.",
        ),
        click.option(
            "--refusal", multiple=True, metavar="PHRASE", help="With --parse: a reply that begins so is a refusal."
        ),
        _once(
            "--blank",
            type=click.Choice(["missing", "unparsed", "abstained"]),
            help="What a blank judge cell means (default missing).",
        ),
        _once(
            "--criteria",
            type=click.Choice(["shared", "per-cluster"]),
            help="per-cluster: each cluster has its own checklist.",
        ),
        click.option(
            "--cut",
            multiple=True,
            metavar="C[,C]",
            help="Pass mark: criteria met; of marks the mark, or its total over several criteria.",
        ),
        _once(
            "--reliability",
            type=float,
            metavar="R",
            help="Reliability of the scores, between 0 and 1, for the procedure of Livingston and Lewis.",
        ),
        _once(
            "--confidence-of",
            type=click.Choice(["verdict", "positive"]),
            help="What a confidence is of: the verdict given (default), or the positive label (a probability).",
        ),
        _once(
            "--items",
            type=click.Choice(["rows", "columns"]),
            help="A matrix of raters: which side of the table the items are.",
        ),
        _once("--quorum", type=int, metavar="N", help="Votes a panel of judges needs to decide a unit."),
        _once(
            "--criterion-weights",
            metavar="FILE",
            help="CSV of criterion,weight, JSON or TOML: a weighted score a response; --cut is then on the weighted sum.",
        ),
        _once(
            "--distances",
            metavar="FILE|PRESET",
            help="How far classes lie apart: a square CSV, JSON or TOML; or nominal, halfway, halfway-squared.",
        ),
        click.option(
            "--trust-key", is_flag=True, default=None, help="Do not look for verdicts given twice or torn responses."
        ),
        _once(
            "--format",
            metavar="NAME",
            help="csv, jsonl, json, parquet, arrow, xlsx, or the tool of a log; found out when left out.",
        ),
        _once("--sheet", metavar="NAME", help="Of a spreadsheet, where several sheets hold data."),
        _once(
            "--decimal",
            type=click.Choice([",", "."]),
            help="The decimal mark of marks, the other one being between thousands; never guessed.",
        ),
        click.option("--fractions", is_flag=True, default=None, help="Read marks such as 7/12 as shares."),
        click.option(
            "--clean", multiple=True, metavar="A,B", help="Make ids and labels equal but for trim, case, zero-width."
        ),
        click.option(
            "--text", multiple=True, metavar="COL|PATTERN", help="A response's text; a PATTERN names the criteria's."
        ),
        _once("--texts", type=click.Choice(["none", "errors"]), help="errors: show the texts behind the worst lines."),
        _once("--encoding", metavar="NAME", help="Of delimited text: utf-8 (default), utf-16, cp1252, ..."),
        _once(
            "--interval",
            metavar="METHOD",
            help="default, percentile, bca, jackknife_t, jackknife_t_scaled, bootstrap_t, cr2_t, korn_graubard, "
            "clopper_pearson, wilson, exact or none.",
        ),
        click.option(
            "--margin",
            multiple=True,
            metavar="METRIC=VALUE",
            help="A difference that would not matter, fixed beforehand: equivalence is tested inside -VALUE to VALUE.",
        ),
        _once("--resamples", type=int, metavar="N", help="Bootstrap resamples (default 2000)."),
        _once("--seed", type=int, metavar="N", help="Of every random draw (default 0)."),
        _once("--confidence-level", type=float, metavar="P", help="Default 0.95."),
    ]
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, lists split at commas, as a spec names them.

    Raises:
        RequestError: a cut that is no number, or a file of weights or distances that holds none.
    """
    from evenhand.importers.small_tables import read_distances, read_weights

    found: dict[str, Any] = {}
    for name, value in values.items():
        if value is None or value == ():
            continue
        if name in _LISTS:
            value = tuple(part for one in value for part in one.split(",") if part)
        found[name] = value
    if "criterion_weights" in found:
        found["criterion_weights"] = read_weights(Path(found["criterion_weights"]))
    if "distances" in found:
        found["distances"] = read_distances(found["distances"])
    if "range" in found:
        found["range"] = tuple(_number(text, "--range 0,10") for text in found["range"].split(","))
    if "margin" in found:
        found["margin"] = dict(_margin(text) for text in found["margin"])
    if "cut" in found:
        found["cut"] = tuple(_number(text, "--cut 4,5,6") for text in found["cut"])
    return found


def _margin(text: str) -> tuple[str, float]:
    metric, equals, value = text.rpartition("=")
    if not equals or not metric.strip():
        raise RequestError(f'--margin "{printable(text)}" is not METRIC=VALUE; write --margin leniency=0.2')
    return metric.strip(), _number(value, "--margin leniency=0.2")


def _number(text: str, example: str) -> float:
    try:
        number = float(text)
        if not math.isfinite(number):
            raise ValueError
    except ValueError:
        option = example.partition(" ")[0]
        raise RequestError(f'{option} "{printable(text)}" is not a number; write {example}') from None
    return number
