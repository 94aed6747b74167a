"""Who is judge and who is reference in a long file, where each row is one rater's verdict."""

from collections.abc import Sequence

from evenhand.errors import MappingError, printable, quoted
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.order import natural
from evenhand.verdicts.sides import Side
from evenhand.verdicts.spec import Spec

_REFERENCE_KINDS = ("reference", "gold")
_REFERENCE_RATERS = ("reference", "gold", "human", "ground_truth", "truth", "expert", "teacher")


def find_raters(
    engine: Engine, spec: Spec, side: Side, rater: str, *, has_labels: bool
) -> tuple[list[str], str | None]:
    """Judge raters in natural order, and the reference rater if one of them is.

    Args:
        engine: holds the rows.
        spec: names the rater kind's column and perhaps the reference rater.
        side: the long file's.
        rater: its column of raters.
        has_labels: the reference labels come from elsewhere: a column, or another file.

    Raises:
        MappingError: an unknown reference rater, several that could be it, or no judge.
    """
    source = side.source
    kind = source.column(spec.rater_kind, "--rater-kind") if spec.rater_kind else "''"
    found = engine.rows(
        f"SELECT DISTINCT {source.column(rater, '--rater')}, lower(trim({kind})) "
        f"FROM {source.relation}{side.where} ORDER BY ALL"
    )
    kinds = {str(name): str(of) for name, of in found}
    reference = None if has_labels else _reference(spec, kinds)
    judges = sorted(
        (name for name, of in kinds.items() if name != reference and of not in ("human", *_REFERENCE_KINDS)),
        key=natural,
    )
    if not judges:
        raise MappingError(
            f"no judge among the raters {_listed(list(kinds))}: every one is a reference or a human. "
            "Name the column of raters with --rater, or their kinds with --rater-kind"
        )
    return judges, reference


def _reference(spec: Spec, kinds: dict[str, str]) -> str | None:
    if spec.reference is not None:
        if spec.reference not in kinds:
            raise MappingError(
                f'no rater and no column is called "{printable(spec.reference)}" (--reference); '
                f"raters are {_listed(list(kinds))}"
            )
        return spec.reference
    standards = [name for name, of in kinds.items() if of in _REFERENCE_KINDS]
    standards = standards or [name for name, of in kinds.items() if of == "human"]
    if not standards and not spec.rater_kind:
        standards = [name for name in kinds if name.casefold() in _REFERENCE_RATERS]
    if len(standards) > 1:
        raise MappingError(
            f"several raters could be the reference: {_listed(standards)}; choose one with --reference RATER"
        )
    return standards[0] if standards else None


def _listed(names: Sequence[str]) -> str:
    return quoted(sorted(names, key=natural), 20)
