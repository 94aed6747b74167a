"""``evenhand sample``: which responses to have labelled, the sheets for it, and what comes back."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from evenhand.cli.options import given, spec_options


@click.command("sample", short_help="Which responses to have labelled by people: sheets out, labels back in.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--n", type=click.IntRange(1), metavar="N", help="Responses to be labelled.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A new folder for the sample; with --read the CSV file of labels.",
)
@click.option(
    "--plan", "is_plan", is_flag=True, help="Print what labels could show and how to divide them; draw nothing."
)
@click.option(
    "--read",
    "returned",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="SHEET",
    help="A filled sheet; repeat it. SOURCE is then the sample's folder. The first sheet's labels are the reference.",
)
@click.option(
    "--by",
    default="verdict,cluster",
    show_default=True,
    metavar="A,B",
    help="What the draw is spread over: verdict, cluster.",
)
@click.option(
    "--raters",
    type=click.IntRange(1, 20),
    default=2,
    show_default=True,
    metavar="R",
    help="Sheets, each in an order of its own.",
)
@click.option("--overlap", default="all", show_default=True, metavar="all|K", help="Responses that every rater labels.")
@click.option(
    "--allocation",
    type=click.Choice(["proportional", "equal", "neyman"]),
    default="proportional",
    show_default=True,
    help="Of labels to strata; neyman: more where verdicts are unsure.",
)
@click.option(
    "--expect",
    metavar="P,P,...",
    help="Share of wrong verdicts expected in each stratum, in the order --plan prints, for neyman.",
)
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Reference labels there are already, joined on the response id.",
)
@click.option(
    "--spec", type=click.Path(path_type=Path), metavar="FILE.toml", help="A saved mapping; options override it."
)
@spec_options
def command(
    sources: tuple[str, ...],
    n: int | None,
    out: Path | None,
    is_plan: bool,
    returned: tuple[Path, ...],
    labels: Path | None,
    spec: Path | None,
    **options: Any,
) -> None:
    """Draw responses for people to label, by what the judge said of them and spread over clusters, each with a known chance.

    The sheets show codes, the texts you name and a column a criterion: no verdict, no model, no author. The key stays with you;
    the labels come back with design weights, so that an audit speaks of all responses.

    \b
      evenhand sample judge.csv --plan
      evenhand sample judge.csv --n 200 --text answer --out sample
      evenhand sample sample --read anna.xlsx --read ben.csv --out labels.csv
      evenhand audit judge.csv --labels labels.csv --weight weight --out audit
    """
    from evenhand.api import complete_spec
    from evenhand.errors import RequestError
    from evenhand.sampling.made import Wish
    from evenhand.sampling.making import look, make
    from evenhand.sampling.reading import read_back

    drawing = {name: options.pop(name) for name in ("by", "raters", "overlap", "allocation", "expect")}
    if returned:
        folder, place = _reading(sources, out)
        how = {name: options[name] for name in ("encoding", "sheet", "decimal")}
        click.echo(read_back(folder, returned, place, **how))
        return
    chosen = complete_spec(spec, given(options))
    wish = Wish(
        n,
        tuple(part.strip() for part in drawing["by"].split(",") if part.strip()),
        drawing["raters"],
        _overlap(drawing["overlap"]),
        drawing["allocation"],
        _shares(drawing["expect"]),
    )
    if is_plan:
        if out is not None:
            raise RequestError("--plan draws nothing: leave --out out, or leave --plan out to draw")
        click.echo(look(sources, chosen, labels, wish))
        return
    if out is None:
        raise RequestError("say where the sample goes: --out DIR (or --plan to see only what labels could show)")
    click.echo(make(sources, chosen, labels, wish, out))


_OF_READING = ("sources", "returned", "out", "encoding", "sheet", "decimal")


def _reading(sources: tuple[str, ...], out: Path | None) -> tuple[Path, Path]:
    """The sample's folder and the place of its labels; no option of a draw stands beside --read."""
    from evenhand.errors import RequestError

    context = click.get_current_context()
    given_ = (name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE)
    others = [f"--{name.removeprefix('is_').replace('_', '-')}" for name in given_ if name not in _OF_READING]
    if len(sources) != 1 or others:
        raise RequestError(
            "--read takes the folder of one sample and its sheets, as evenhand sample DIR --read SHEET --read SHEET --out labels.csv"
            + (f"; leave out {', '.join(others)}" if others else "")
        )
    if out is None or out.suffix.casefold() != ".csv":
        raise RequestError("say where the labels go: --out labels.csv")
    return Path(sources[0]), out


def _overlap(text: str) -> int | None:
    from evenhand.errors import RequestError, printable

    if text == "all":
        return None
    if not (text.isascii() and text.isdigit()):
        raise RequestError(f'--overlap "{printable(text)}": write all, or a number of responses')
    return int(text)


def _shares(text: str | None) -> tuple[float, ...]:
    from evenhand.errors import RequestError, printable

    try:
        return tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise RequestError(f'--expect "{printable(text or "")}": write one share a stratum, such as 0.2,0.05') from None
