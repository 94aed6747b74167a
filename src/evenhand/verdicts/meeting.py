"""How the ids of two sides meet: what is alone, shown with examples, and why ids that should be equal are not."""

from evenhand.errors import printable, quoted
from evenhand.verdicts.cleaning import loose_id, numeric_id
from evenhand.verdicts.engine import Engine

_MOST_IDS = 200_000
"""Ids of a side that met nobody up to which it is looked for what keeps them apart."""
_REASONS = (
    (
        numeric_id,
        (
            "as numbers: leading zeros, a decimal point or an exponent were changed where one file was made (a spreadsheet or a "
            "float column does that); make that file again with the ids as text"
        ),
    ),
    (
        loose_id,
        "but for case, outer space or characters that cannot be seen: --clean trim,case,zero-width makes them equal",
    ),
)


class Meeting:
    """Judge rows and reference rows that were joined, and did not all meet."""

    def __init__(self, engine: Engine, mine: str, theirs: str) -> None:
        self.engine = engine
        self.mine, self.theirs = (f"(SELECT DISTINCT response AS id FROM {one})" for one in (mine, theirs))

    def never(self, my_name: str, their_name: str) -> str:
        """The refusal when nothing meets."""
        return (
            f"no response of the judge is in the reference: {printable(my_name)} has {self._examples(self.mine)}, "
            f"{printable(their_name)} has {self._examples(self.theirs)}. Ids are compared as text, so 7, 007 and 7.0 differ: "
            f"give both the same ids, or name the columns with --response{self._hint()}"
        )

    def partly(self, met: int, alone: int, idle: int) -> str:
        """The note when some rows meet nobody."""
        sides = (
            ("the judge", self._alone(self.mine, self.theirs)),
            ("the reference", self._alone(self.theirs, self.mine)),
        )
        said = "; ".join(f"{who} alone has {self._examples(ids)}" for who, ids in sides if self._count(ids))
        return (
            f"of {met + alone:,} judge verdicts {alone:,} meet no reference row; {idle:,} reference rows meet no judge verdict"
            f"{f' ({said})' if said else ''}{self._hint()}"
        )

    def _alone(self, these: str, those: str) -> str:
        return f"(SELECT id FROM {these} ANTI JOIN {those} o USING (id))"

    def _count(self, ids: str) -> int:
        return int(self.engine.one(f"SELECT count(*) FROM {ids}")[0])

    def _examples(self, ids: str) -> str:
        found = self.engine.rows(f"SELECT id FROM {ids} ORDER BY 1 LIMIT 5")
        more = self._count(ids) - len(found)
        return quoted(str(one) for (one,) in found) + (f" and {more:,} more" if more > 0 else "")

    def _hint(self) -> str:
        """Which reading of the ids would let more of them meet."""
        for reading, why in _REASONS:
            count = 0
            for these, those in ((self.mine, self.theirs), (self.theirs, self.mine)):
                alone = f"(SELECT {reading('id')} AS k FROM {self._alone(these, those)} LIMIT {_MOST_IDS})"
                (n,) = self.engine.one(
                    f"SELECT count(*) FROM {alone} SEMI JOIN (SELECT {reading('id')} AS k FROM {those}) USING (k)"
                )
                count += n
            if count:
                return f". {count:,} of these ids equal one of the other side {why}"
        return ""
