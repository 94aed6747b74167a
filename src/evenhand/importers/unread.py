"""Files of known tools that hold no verdicts, or are not read in this version: told by name, with the way out.

Without this they would pass for tables whose columns are not understood.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.errors import SourceError, printable
from evenhand.importers.records import Head
from evenhand.importers.values import as_dict, as_list


class _Unread(NamedTuple):
    """A kind of file by the beginning of its document, and what is said of it."""

    is_one: Callable[[Any], bool]
    said: str


def _first(document: Any) -> Any:
    """The document, of a list its first member."""
    return as_dict((as_list(document) or [document])[0])


def _holds(*names: str) -> Callable[[Any], bool]:
    return lambda document: set(names) <= _first(document).keys()


_HELM = (
    "HELM's runs are not read by this version, their statistics mixing marks, counts and times in one list; write instance_id, "
    "the one statistic that is a verdict and its reference as CSV"
)
_KINDS = (
    _Unread(_holds("instance_id", "train_trial_index", "stats"), f"a per_instance_stats.json of HELM: {_HELM}"),
    _Unread(_holds("adapter_spec", "request_states"), f"a scenario_state.json of HELM: {_HELM}"),
    _Unread(_holds("scenario_spec", "adapter_spec"), f"a run_spec.json of HELM, which holds no verdicts: {_HELM}"),
    _Unread(_holds("definition_path", "tags"), f"a scenario.json of HELM, which holds no verdicts: {_HELM}"),
    _Unread(
        lambda document: isinstance(_first(document).get("name"), dict) and _holds("sum_squared", "count")(document),
        f"a stats.json of HELM, which holds means over a run and no verdicts: {_HELM}",
    ),
    _Unread(
        lambda document: isinstance(as_dict(document).get("results"), dict) and _holds("config", "versions")(document),
        "a results file of lm-evaluation-harness, which holds means over documents and no verdicts; give the samples_*.jsonl "
        "beside it (written with --log_samples)",
    ),
    _Unread(
        lambda document: any(
            "criterion_reports" in as_dict(as_dict(one).get("report"))
            for one in (_first(document), *_first(document).values())
        ),
        "a file of autorubric, which is not read by this version; write item, criterion, judge, verdict and error of its "
        "criterion_reports as CSV, one row a judge's vote",
    ),
)


def refuse_unread(path: Path) -> None:
    """Refuse a file of a known tool that no importer reads.

    Raises:
        SourceError: says what the file is and what to give in its place.
    """
    if path.suffix.casefold() not in (".json", ".jsonl") or not path.is_file():
        return
    document = Head.of(path).document
    for kind in _KINDS:
        if kind.is_one(document):
            raise SourceError(
                f"{printable(path.name)}: {kind.said}. To read it as plain rows, say --format json or jsonl"
            )
