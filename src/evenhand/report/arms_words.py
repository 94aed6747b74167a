"""What it was told and how that moved its marks, in words."""

from collections.abc import Iterator

from evenhand.errors import printable
from evenhand.report.lookups import is_of_arms, ok
from evenhand.report.tables import NAMES, param_text, range_text, value_text
from evenhand.results import Audit, Estimate

_MOST_SAID = 3
_CONTROL = "-control"
_NO_RANKING = "not shown to rank better"


def of_judge(audit: Audit, judge: str) -> list[Estimate]:
    """What was estimated of one judge's arms."""
    end = f":{judge}"
    return [one for one in audit.estimates if is_of_arms(one) and (judge == "judge" or one.source.endswith(end))]


def is_repeat(one: Estimate) -> bool:
    """Whether a number compares the control with itself."""
    return named_arms(one) == "control-control"


def named_arms(one: Estimate) -> str:
    """The arms of a number, without the judge that several judges append; an arm's own name may hold a colon."""
    head, control, _ = one.source.rpartition(_CONTROL)
    return head + control if control else one.source.split(":")[0]


def contrast(one: Estimate) -> str:
    """An arm or a contrast in words: its names, and what run or tail it is of."""
    name = named_arms(one)
    more = [param_text(key, value) for key, value in one.params.items() if key not in ("quantity", "metric")]
    return printable(name + (f" ({', '.join(more)})" if more else ""))


def arm_sentences(audit: Audit, judge: str) -> Iterator[str]:
    """How far what it is told moves the mark of identical work, and gains of agreement that are none of judging."""
    found = of_judge(audit, judge)
    whole = [one for one in found if "tail" not in one.params and one.status == "ok" and not is_repeat(one)]
    effects = [one for one in whole if one.statistic == "label_effect" and _is_of_run(audit, one)]
    moves = (
        effects
        or sorted((one for one in whole if one.statistic == "drift"), key=lambda one: -abs(one.estimate or 0.0))[:1]
    )
    for one in moves[:_MOST_SAID]:
        share = ok(audit, "label_effect_share", one.source, **one.params)
        of_scale = f", {value_text(share)} of the scale" if share is not None else ""
        yield f"On identical work, {contrast(one)}: the mark moves by {_with_ends(one)}{of_scale}."
    yield from _no_gains(audit, whole)


def _no_gains(audit: Audit, whole: list[Estimate]) -> Iterator[str]:
    """Gains of agreement beside which no better ranking is shown, a sentence a statistic."""
    gains = [one for one in whole if one.statistic == "equivalence" and "quantity" not in one.params]
    gains = [one for one in gains if one.reason.startswith("gain") and _NO_RANKING in one.reason]
    for metric in dict.fromkeys(one.params["metric"] for one in gains):
        mine = [one for one in gains if one.params["metric"] == metric]
        said = [
            f"{contrast(one).replace('-control', '', 1)}, {_with_ends(found)}"
            for one in mine[:_MOST_SAID]
            if (found := ok(audit, metric, one.source, **_run(one))) is not None
        ]
        more = f" and {len(mine) - _MOST_SAID} more" if len(mine) > _MOST_SAID else ""
        yield (
            f"Against the control, {NAMES[metric]} is better under {'; '.join(said)}{more}; the work is not shown to be ranked better: marks "
            "land elsewhere, which is no gain in judging."
        )


def _run(one: Estimate) -> dict[str, str]:
    return {name: value for name, value in one.params.items() if name not in ("metric", "quantity")}


def _is_of_run(audit: Audit, one: Estimate) -> bool:
    """Whether a label effect is that of a run, not the difference of two."""
    return ok(audit, "label_effect_share", one.source, **one.params) is not None or not one.params


def _with_ends(one: Estimate) -> str:
    ends = range_text(one)
    return value_text(one) + (f" ({ends})" if ends else "")
