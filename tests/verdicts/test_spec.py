import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import RequestError, SourceError
from evenhand.verdicts.spec import FACETS, Spec

names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
specs = st.builds(
    Spec,
    response=st.lists(names, max_size=2).map(tuple),
    judge=st.lists(names, max_size=2).map(tuple),
    cluster=st.none() | names,
    levels=st.lists(names, max_size=3).map(tuple),
    cut=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=2).map(tuple),
    seed=st.integers(0, 2**40),
)


@given(spec=specs)
def test_toml_round_trip(spec, tmp_path_factory):
    path = tmp_path_factory.mktemp("spec") / "s.toml"
    path.write_text(spec.to_toml(), encoding="utf-8", newline="")
    assert Spec.load(path) == spec


def test_one_or_several():
    spec = Spec.of(response="a", judge=["b", "c"], cut=5)
    assert (spec.response, spec.judge, spec.cut) == (("a",), ("b", "c"), (5.0,))


def test_defaults_are_not_written():
    assert Spec().to_toml() == ""
    assert Spec(seed=3, blank="unparsed").to_toml() == 'blank = "unparsed"\nseed = 3\n'


def test_facets_stand_in_a_fixed_order():
    assert Spec(order="o", model="m", phrasing="p").facets == ("m", "p", "o")
    assert set(FACETS) <= Spec.model_fields.keys()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"refrence": "x"}, 'unknown name "refrence"; did you mean "reference"'),
        ({"seed": -1}, r"seed: .*greater than or equal to 0 \(got -1\)"),
        ({"resamples": 99}, "resamples"),
        ({"confidence_level": 1.0}, "confidence_level"),
        ({"confidence_level": math.nan}, "confidence_level"),
        ({"cut": [math.inf]}, "cut"),
        ({"blank": "\x1b[2J"}, r"\\x1b"),
    ],
)
def test_refused(values, words):
    with pytest.raises(RequestError, match=words) as caught:
        Spec.of(**values)
    assert "\x1b" not in str(caught.value)


def test_load_names_the_file(write, tmp_path):
    with pytest.raises(RequestError, match=r's\.toml: unknown name "x"'):
        Spec.load(write("s.toml", "x = 1\n"))
    with pytest.raises(SourceError, match=r"s\.toml: not TOML: .*line 1"):
        Spec.load(write("s.toml", "x = \n"))
    with pytest.raises(SourceError, match="cannot be read"):
        Spec.load(tmp_path)
