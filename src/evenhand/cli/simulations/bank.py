"""``evenhand simulate bank``: a file of verdicts whose truth lies beside it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from evenhand.cli.simulating import csv_text, seed_option
from evenhand.errors import RequestError, printable

SCHEMA = "evenhand.bank/1"


@click.command("bank", short_help="A bank of verdicts with planted error rates, and its truth in a file beside it.")
@click.option(
    "--texts", is_flag=True, help="Answers to eight everyday questions, gold by construction, instead of numbers alone."
)
@click.option("--responses", type=int, default=210, show_default=True, metavar="N", help="Responses.")
@click.option("--criteria", type=int, metavar="K", help="Criteria of a response (default 10; the texts have ten).")
@click.option(
    "--clusters", type=int, metavar="G", help="Clusters (default 15, or as many as responses; the texts have eight)."
)
@click.option(
    "--spread", type=float, default=0.6, show_default=True, help="Width of the range of presence rates, 0 to 1."
)
@click.option("--error-rate", type=float, metavar="E", help="Errors both ways at one rate.")
@click.option("--false-accept-rate", type=float, metavar="P", help="Of criteria not met (default .1).")
@click.option("--false-reject-rate", type=float, metavar="P", help="Of criteria met (default .02).")
@click.option(
    "--unparsed-rate", type=float, metavar="P", help="Responses without any verdict; for --texts (default 0)."
)
@click.option(
    "--errors-within",
    type=click.Choice(["none", "response", "cluster"]),
    help="Where errors gather (default none; with --texts they gather on a line).",
)
@click.option(
    "--error-correlation", type=float, metavar="R", help="Of two like errors where they gather (default .3 there)."
)
@seed_option(0)
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder for bank.csv and truth.json."
)
def command(texts: bool, out: Path, **options: Any) -> None:
    """Write a bank and a judge's verdicts on it, with the rates that were planted in a file beside it.

    The file reads without a mapping, and what an audit says of it can be held against truth.json. Errors that gather in
    clusters come rarely and then together: with few clusters the intervals of an audit are too short for them.

    \b
      evenhand simulate bank --out bank
      evenhand simulate bank --error-rate 0.05 --errors-within response --error-correlation 0.4 --out bank
      evenhand simulate bank --texts --responses 400 --out bank
      evenhand audit bank/bank.csv --out report
    """
    from evenhand.output import Kind, check_place, new_folder

    kind = Kind("simulated bank", ("bank.csv", "truth.json"), "truth.json", SCHEMA.partition("/")[0])
    check_place(out, kind=kind)
    rates = _rates(options)
    rows, truth = _text_bank(options, rates) if texts else _verdict_bank(options, rates)
    with new_folder(out, kind=kind) as draft:
        (draft / "bank.csv").write_text(csv_text(rows), encoding="utf-8", newline="")
        text = json.dumps({"schema": SCHEMA, **truth}, indent=1, ensure_ascii=False, allow_nan=False)
        (draft / "truth.json").write_text(text + "\n", encoding="utf-8", newline="\n")
    n, place = len(rows) - 1, printable(str(out / "bank.csv"))
    click.echo(
        f"wrote   {place}: {n:,} responses; planted: false accept rate {rates['false_accept_rate']:g}, false reject rate "
        f"{rates['false_reject_rate']:g}\nread it evenhand audit {place} --blank unparsed --out report"
    )


def _rates(options: dict[str, Any]) -> dict[str, float]:
    both, accept, reject = options["error_rate"], options["false_accept_rate"], options["false_reject_rate"]
    if both is not None and (accept is not None or reject is not None):
        raise RequestError(
            "--error-rate sets both rates: leave --false-accept-rate and --false-reject-rate out, or leave it out"
        )
    if both is not None:
        return {"false_accept_rate": both, "false_reject_rate": both}
    return {
        "false_accept_rate": 0.1 if accept is None else accept,
        "false_reject_rate": 0.02 if reject is None else reject,
    }


def _verdict_bank(
    options: dict[str, Any], rates: dict[str, float]
) -> tuple[list[tuple[str | int, ...]], dict[str, Any]]:
    from dataclasses import asdict

    from evenhand.simulate.population import population_kr20
    from evenhand.simulate.verdict_bank import BankDesign, Within, draw_bank

    if options["unparsed_rate"] is not None:
        raise RequestError("--unparsed-rate belongs to --texts: a bank of numbers has a verdict everywhere")
    n, correlation = options["responses"], options["error_correlation"]
    within: Within = options["errors_within"] or "none"
    design = BankDesign(
        n_responses=n,
        n_criteria=10 if options["criteria"] is None else options["criteria"],
        n_clusters=min(15, max(n, 1)) if options["clusters"] is None else options["clusters"],
        spread=options["spread"],
        **rates,
        errors_within=within,
        error_correlation=(0.0 if within == "none" else 0.3) if correlation is None else correlation,
        seed=options["seed"],
    )
    bank = draw_bank(design)
    endless: dict[str, float] = {}
    if design.n_criteria > 1:
        endless["kr20_reference"] = population_kr20(design.spread, n_criteria=design.n_criteria)
        if within == "none":
            endless["kr20_judge"] = population_kr20(design.spread, **rates, n_criteria=design.n_criteria)
    return list(bank.rows()), {
        "kind": "verdicts",
        "planted": asdict(design),
        "drawn": bank.counts(),
        "endless_bank": endless,
    }


def _text_bank(options: dict[str, Any], rates: dict[str, float]) -> tuple[list[tuple[str | int, ...]], dict[str, Any]]:
    from evenhand.simulate.text_bank import build_bank, load_questions, simulate_judge

    for name in ("criteria", "clusters", "errors_within"):
        if options[name] is not None:
            raise RequestError(
                f"--{name.replace('_', '-')} does not go with --texts, whose eight questions have ten lines each and whose errors "
                "gather on a line"
            )
    planted = {
        **rates,
        "unparsed_rate": options["unparsed_rate"] or 0.0,
        "line_error_correlation": options["error_correlation"] or 0.0,
    }
    drawn = {"n_responses": options["responses"], "spread": options["spread"], "seed": options["seed"]}
    bank = build_bank(load_questions(), **drawn)
    verdicts = simulate_judge(bank, **planted, seed=options["seed"])
    pairs = [
        (gold, verdict)
        for response, judged in zip(bank.responses, verdicts, strict=True)
        for gold, verdict in zip(response.gold, judged, strict=True)
        if verdict is not None
    ]
    counts = {
        "n_absent": sum(gold == 0 for gold, _ in pairs),
        "false_accepts": sum(gold == 0 and verdict == 1 for gold, verdict in pairs),
        "n_present": sum(gold == 1 for gold, _ in pairs),
        "false_rejects": sum(gold == 1 and verdict == 0 for gold, verdict in pairs),
        "n_unparsed_responses": sum(judged[0] is None for judged in verdicts),
    }
    return list(_text_rows(bank, verdicts)), {"kind": "texts", "planted": {**drawn, **planted}, "drawn": counts}


def _text_rows(bank: Any, verdicts: Any) -> Iterator[tuple[str | int, ...]]:
    numbers = range(1, len(bank.questions[0].lines) + 1)
    claims = {question.question_id: [line.claim for line in question.lines] for question in bank.questions}
    kinds = ("gold", "judge", "claim")
    yield ("response_id", "question_id", "question", "answer", *(f"{kind}_{j}" for kind in kinds for j in numbers))
    for response, judged in zip(bank.responses, verdicts, strict=True):
        yield (
            *(response.response_id, response.cluster_id, response.question, response.text),
            *response.gold,
            *("" if verdict is None else verdict for verdict in judged),
            *claims[response.cluster_id],
        )
