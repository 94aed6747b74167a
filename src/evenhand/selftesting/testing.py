"""A bank in, what an audit of it would catch out: the defects that these data can carry, and why others are left out."""

from collections.abc import Callable
from dataclasses import dataclass

from evenhand.errors import RequestError
from evenhand.report.sheet import Sheet, SheetTable
from evenhand.selftesting import contrasts, marks, verdicts
from evenhand.selftesting.planting import Defect, Planted, Rule, n_worlds, plant
from evenhand.watching.saved import SavedTallies

SCHEMA = "evenhand.selftest/1"
FEWEST_WORLDS, MOST_WORLDS = 20, 10_000
COLUMNS = ("planted", "size", "share of worlds", "from", "to", "verdict", "smallest caught", "shown by", "rule")


@dataclass(frozen=True, slots=True)
class Selftest:
    """What came of it.

    Attributes:
        place: of the bank.
        planted: one a size of a defect.
        worlds, seed: of each.
        said: whom the judge in question is like.
        left_out: defects these data cannot carry, and why.
    """

    place: str
    planted: tuple[Planted, ...]
    worlds: int
    seed: int
    said: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be planted in a bank."""

    place: str
    defects: tuple[Defect, ...]
    said: tuple[str, ...]
    left_out: tuple[str, ...]

    def size(self, worlds: int) -> int:
        """The most worlds that it takes."""
        return n_worlds(self.defects, worlds)


def plan(saved: SavedTallies, source: str, seed: int) -> Plan:
    """Choose the defects that a bank can carry.

    Args:
        saved: the bank, as its audit saved it.
        source: the judge whose bank it is.
        seed: of what is drawn before the worlds.

    Raises:
        RequestError: the data cannot carry any.
    """
    declared = saved.audit.declarations
    if declared.interval_method == "none":
        raise RequestError("selftest needs intervals, by which the audit calls a defect: leave --interval none out")
    rule = Rule(declared.interval_method, declared.confidence_level, declared.resamples, declared.seed, saved.units)
    found: list[Defect] = []
    left: list[str] = []
    said: tuple[str, ...] = ()
    if declared.scale == "binary":
        shape = verdicts.shape_of(saved, source, seed)
        found += verdicts.defects(shape, rule, source, seed)
        said = shape.said
        if shape.n_lines <= verdicts.WORST:
            left.append(
                f"clustered errors: they need more than {verdicts.WORST} checklist lines, there {'is' if shape.n_lines == 1 else 'are'} {shape.n_lines}"
            )
    elif declared.scale in ("ordinal", "continuous"):
        bank = marks.mark_shape(saved, source)
        found += marks.defects(bank, rule, source)
        said = bank.said
    if saved.is_weighted:
        said = (*said, "responses count alike in these worlds: the audit's design weights play no part")
    pairs = list(contrasts.of_positions(saved, source, rule)) if declared.scale == "pairwise" else []
    if not pairs:
        left.append("position bias: it needs pairs shown in both orders, a column --order COL")
    between = list(contrasts.of_contrasts(saved, declared.confidence_level))
    if not between:
        left.append(
            "label effects and group gaps: they need a column --arm COL or --group COL, with an interval of their own"
        )
    found += [*pairs, *between]
    if not found:
        raise RequestError(
            f"selftest has nothing to plant on a {declared.scale} scale with these columns: {'; '.join(left)}"
        )
    return Plan(saved.place, tuple(found), said, tuple(left))


def run_plan(made: Plan, worlds: int, seed: int, step: Callable[[int], None]) -> Selftest:
    """Plant everything; the same seed gives the same worlds.

    Raises:
        RequestError: worlds or a seed out of their range.
    """
    if not FEWEST_WORLDS <= worlds <= MOST_WORLDS:
        raise RequestError(f"--worlds {worlds}: from {FEWEST_WORLDS} to {MOST_WORLDS:,}")
    if seed < 0:
        raise RequestError(f"--seed {seed}: 0 or more")
    return Selftest(made.place, tuple(plant(made.defects, worlds, seed, step)), worlds, seed, made.said, made.left_out)


def sentences(found: Selftest) -> list[str]:
    """What can be said: what is caught, what is missed, and how often nothing is called something."""
    real = [one for one in found.planted if one.defect.false_rate is None]
    said = []
    for verdict, words in (
        ("caught", "would be caught"),
        ("borderline", "are borderline"),
        ("missed", "would be missed"),
    ):
        named = [_named(one) for one in real if one.verdict == verdict]
        if named:
            said.append(f"{words}: {'; '.join(named)}")
    alarms = [f"{one.defect.name} {one.share:.3f}" for one in found.planted if one.defect.false_rate is not None]
    if alarms:
        said.append(f"called without being there: {'; '.join(alarms)}")
    return [*said, *found.said]


def _named(one: Planted) -> str:
    return f"{one.defect.name} {one.size:g}" if one.defect.unit else one.defect.name


def rows(found: Selftest) -> list[list[str]]:
    """One row a size, rounded for reading."""
    return [
        [
            one.defect.name,
            f"{one.size:g}" if one.defect.unit else "",
            f"{one.share:.3f}",
            f"{one.low:.3f}",
            f"{one.high:.3f}",
            one.verdict,
            f"{one.smallest:.2g}" if one.smallest is not None else "",
            one.defect.id,
            one.defect.rule,
        ]
        for one in found.planted
    ]


def document(found: Selftest) -> dict[str, object]:
    """Everything at full precision."""
    return {
        "schema": SCHEMA,
        "bank": found.place,
        "worlds": found.worlds,
        "seed": found.seed,
        "planted": [
            {
                "defect": one.defect.name,
                "size": one.size if one.defect.unit else None,
                "unit": one.defect.unit,
                "id": one.defect.id,
                "rule": one.defect.rule,
                "is_control": one.defect.false_rate is not None,
                "stated_false_rate": one.defect.false_rate,
                "called": one.called,
                "share": one.share,
                "ci_low": one.low,
                "ci_high": one.high,
                "verdict": one.verdict,
                "smallest_caught": one.smallest,
            }
            for one in found.planted
        ],
        "notes": list(found.said),
        "left_out": list(found.left_out),
    }


def sheet(found: Selftest) -> Sheet:
    """The result as a page."""
    note = (
        f"{found.worlds} worlds a size, seed {found.seed}; ends are Wilson's at 95 %; caught: in .80 of worlds or more"
    )
    units = list(dict.fromkeys(f"size of {one.defect.name}: {one.defect.unit}" for one in found.planted if one.defect.unit))  # fmt: skip
    left = [f"not planted: {one}" for one in found.left_out]
    tables = (SheetTable("Planted", COLUMNS, tuple(tuple(row) for row in rows(found)), note),)
    return Sheet(SCHEMA, "What this audit would catch", found.place, tuple(sentences(found)), (*units, *left), tables)
