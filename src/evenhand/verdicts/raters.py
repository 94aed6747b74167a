"""Who is judge and who is reference in a long file, where each row is one rater's verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evenhand.errors import MappingError, printable, quoted
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.order import natural
from evenhand.verdicts.sides import Side
from evenhand.verdicts.spec import Spec

_REFERENCE_KINDS = ("reference", "gold")
_REFERENCE_RATERS = ("reference", "gold", "human", "ground_truth", "truth", "expert", "teacher")


@dataclass(frozen=True, slots=True)
class Raters:
    """Who is who in a long file.

    Attributes:
        judges: in natural order; the humans where there is nobody else to audit.
        reference: the rater whose labels are the reference, None where no single rater is.
        humans: raters of kind human beside the judges, the reference among them where it is one; in natural order.
        notes: what the user should know.
    """

    judges: tuple[str, ...]
    reference: str | None
    humans: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def audited(self) -> tuple[str, ...]:
        """The judges and the reference."""
        return self.judges if self.reference is None else (*self.judges, self.reference)

    @property
    def everyone(self) -> tuple[str, ...]:
        """All whose verdicts an audit uses."""
        return tuple(dict.fromkeys((*self.audited, *self.humans)))


def find_raters(engine: Engine, spec: Spec, side: Side, rater: str, *, has_labels: bool) -> Raters:
    """Judges, the reference rater if there is one, and human raters.

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
    humans = sorted((name for name, of in kinds.items() if of == "human"), key=natural)
    judges = sorted(
        (name for name, of in kinds.items() if name != reference and of not in ("human", *_REFERENCE_KINDS)),
        key=natural,
    )
    if judges:
        return Raters(tuple(judges), reference, tuple(humans), tuple(_about_humans(humans, reference, has_labels)))
    others = tuple(name for name in humans if name != reference)
    if len(others) > 1:
        note = f"no rater is a judge: the {len(others)} humans ({quoted(others, 6)}) are audited as judges are"
        return Raters(others, reference, (), (note,))
    raise MappingError(
        f"no judge among the raters {_listed(list(kinds))}: every one is a reference or a human. "
        "Name the column of raters with --rater, or their kinds with --rater-kind"
    )


def _about_humans(humans: Sequence[str], reference: str | None, has_labels: bool) -> Iterator[str]:
    if len(humans) > 1 and reference is None and not has_labels:
        yield (
            f"{len(humans)} human raters ({quoted(humans, 6)}) and none of them the reference: the judge is compared with "
            "each of them; --reference RATER names one to audit against"
        )


def _reference(spec: Spec, kinds: dict[str, str]) -> str | None:
    if spec.reference is not None:
        if spec.reference not in kinds:
            raise MappingError(
                f'no rater and no column is called "{printable(spec.reference)}" (--reference); '
                f"raters are {_listed(list(kinds))}"
            )
        return spec.reference
    standards = [name for name, of in kinds.items() if of in _REFERENCE_KINDS]
    humans = [name for name, of in kinds.items() if of == "human"]
    if not standards and len(humans) == 1:
        standards = humans
    if not standards and not spec.rater_kind:
        standards = [name for name in kinds if name.casefold() in _REFERENCE_RATERS]
    if len(standards) > 1:
        raise MappingError(
            f"several raters could be the reference: {_listed(standards)}; choose one with --reference RATER"
        )
    return standards[0] if standards else None


def _listed(names: Sequence[str]) -> str:
    return quoted(sorted(names, key=natural), 20)
