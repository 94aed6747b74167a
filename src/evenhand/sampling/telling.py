"""What is said of a sample: on the terminal, and in the note beside its plan."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from evenhand.errors import printable
from evenhand.sampling.budget_words import plural, weight_range
from evenhand.sampling.made import Drawn
from evenhand.sampling.plan import KEY, SHEETS, SamplePlan

_WIDTH = 8
_FAR = 1.1
"""Ratio of the largest to the smallest weight beyond which numbers without weights are wrong by more than rounding."""
_NO_XLSX = "only CSV sheets were written: XLSX ones need XlsxWriter (pip install 'evenhand[sheets]')"


def said_of(made: Drawn, plan: SamplePlan, out: Path, *, has_xlsx: bool) -> Iterator[str]:
    """What was drawn, where it stands and what is to be done with it."""
    place = printable(str(out))
    spread_over = f", spread over {plan.n_clusters:,} clusters" if "cluster" in plan.by else ""
    yield f"drawn   {plan.n_labels:,} of {plural(plan.n_responses)}{spread_over}, seed {plan.seed}, {plan.allocation} allocation"
    for number, one in enumerate(plan.strata):
        yield (
            f"{'strata' if number == 0 else '':{_WIDTH}}{printable(one.name or 'all responses')}: {one.labels:,} of {one.responses:,}, each with the "
            f"chance {one.inclusion_probability:.4f}, standing for {one.weight:.4g}"
        )
    shared = "all on both" if plan.n_raters == 2 else "all on each"
    overlap = shared if plan.n_shared == plan.n_labels else f"{plan.n_shared:,} on every sheet"
    counts = ", ".join(f"{len(order):,}" for order in made.dealt.sheets)
    kinds = "CSV and XLSX" if has_xlsx else "CSV"
    yield (
        f"sheets  {place}/{SHEETS}: {plan.n_raters} rater{'s' if plan.n_raters > 1 else ''}, {counts} rows"
        + (f" ({overlap})" if plan.n_raters > 1 else "")
        + f", {kinds}; send this folder"
    )
    yield f"key     {place}/{KEY} says what each code is: keep it to yourself"
    folder, first = (printable(shlex.quote(str(path))) for path in (out, out / SHEETS / "rater_1.csv"))
    yield f"next    evenhand sample {folder} --read {first} --read ... --out labels.csv"
    yield from _notes(made, plan, has_xlsx=has_xlsx)


def _notes(made: Drawn, plan: SamplePlan, *, has_xlsx: bool) -> Iterator[str]:
    low, high = weight_range(made.people, made.chosen.sizes)
    if high > _FAR * low:
        yield (
            f"note    weights range from {low:.3g} to {high:.3g}: numbers are about all responses only with --weight weight in the audit"
        )
    if not plan.strata[0].name and plan.by == ("cluster",):
        yield "note    the draw does not look at verdicts: every response has the same chance, and no weights are needed"
    if made.people.n_labelled:
        yield (
            f"note    {plural(made.people.n_labelled)} have a reference label already; they are drawn like all others, so that weights stay true"
        )
    if not made.texts.of_responses:
        yield "note    the sheets hold codes and no texts: name the columns raters are to read with --text COL, or look them up by the key"
    if plan.form.levels and plan.form.kind in ("ordinal", "nominal"):
        yield f"note    allowed labels are {printable(', '.join(plan.form.levels))}; if there are others, say --levels"
    yield from (f"note    {one}" for one in made.texts.notes)
    if not has_xlsx:
        yield f"note    {_NO_XLSX}"


def note_of(plan: SamplePlan, said: Sequence[str]) -> str:
    """The plan in words, beside its JSON."""
    why = {
        "proportional": "Each stratum has its share of the labels, so that every response has the same chance, up to rounding.",
        "equal": "Each stratum has as many labels as the others, so that each can be spoken of by itself.",
        "neyman": "A stratum has labels in proportion to its size and to how unsure its verdicts are (Neyman 1934): the share of wrong "
        "verdicts, and with it the corrected prevalence, is then known best for this number of labels.",
    }[plan.allocation]
    drawn = (
        "Within a stratum responses stand in a row by cluster, and one is taken at a fixed step from a random start, so that every response's "
        "chance is known and clusters share the labels evenly."
        if "cluster" in plan.by
        else "Within a stratum responses are taken at random, each with the same known chance."
    )
    files = "".join(f"- {printable(name)} {digest}\n" for name, digest in plan.sources.items())
    body = "\n".join(said)
    return f"# Sample\n\n```\n{body}\n```\n\n{why} {drawn}\n\nDrawn from (SHA-256):\n\n{files}"
