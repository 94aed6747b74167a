"""Who is judge, reference and human in a long file."""

import pytest

from evenhand.errors import MappingError
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.raters import find_raters
from evenhand.verdicts.sides import read_side
from evenhand.verdicts.sources import Source
from evenhand.verdicts.spec import Spec


def found(raters, *, has_labels=False, **options):
    with Engine() as engine:
        columns = ("item", "rater", "kind", "verdict")
        rows = [(f"i{n}", name, kind, "1") for n, (name, kind) in enumerate(raters.items())]
        source = Source("tiny", engine.table("tiny", dict.fromkeys(columns, "VARCHAR"), rows), columns, "")
        spec = Spec.of(response="item", verdict="verdict", **options)
        side = read_side(engine, spec, source, ["item"], ["verdict"], [source], "rater")
        return find_raters(engine, spec, side, "rater", has_labels=has_labels)


KINDS = {"rater_kind": "kind"}


def test_kinds_say_who_is_who():
    raters = {"m2": "judge", "m10": "judge", "gold": "Reference", "bob": " human ", "ann": "human"}
    one = found(raters, **KINDS)
    assert (one.judges, one.reference, one.humans, one.notes) == (("m2", "m10"), "gold", ("ann", "bob"), ())
    assert one.everyone == ("m2", "m10", "gold", "ann", "bob")


def test_a_single_human_is_the_reference():
    one = found({"m": "judge", "ann": "human"}, **KINDS)
    assert (one.reference, one.humans, one.everyone) == ("ann", ("ann",), ("m", "ann"))


def test_several_humans_are_none_of_them_the_reference():
    raters = {"m": "judge", "ann": "human", "bob": "human"}
    one = found(raters, **KINDS)
    assert (one.reference, one.humans) == (None, ("ann", "bob"))
    assert "--reference RATER" in one.notes[0]
    named = found(raters, reference="bob", **KINDS)
    assert (named.judges, named.reference, named.humans, named.notes) == (("m",), "bob", ("ann", "bob"), ())
    elsewhere = found(raters, has_labels=True, **KINDS)
    assert (elsewhere.reference, elsewhere.humans, elsewhere.notes) == (None, ("ann", "bob"), ())


def test_humans_alone_are_audited():
    one = found({"ann": "human", "bob": "human"}, **KINDS)
    assert (one.judges, one.humans) == (("ann", "bob"), ())
    with_gold = found({"ann": "human", "bob": "human", "gold": "gold"}, **KINDS)
    assert (with_gold.judges, with_gold.reference) == (("ann", "bob"), "gold")


@pytest.mark.parametrize(
    ("raters", "options", "said"),
    [
        ({"ann": "human"}, KINDS, "no judge among the raters"),
        ({"x": "gold", "y": "reference", "m": "judge"}, KINDS, 'several raters could be the reference: "x", "y"'),
        ({"human": "", "gold": "", "m": ""}, {}, "several raters could be the reference"),
        ({"m": "judge"}, {"reference": "ann", **KINDS}, 'no rater and no column is called "ann"'),
    ],
)
def test_refusals(raters, options, said):
    with pytest.raises(MappingError, match=said):
        found(raters, **options)
