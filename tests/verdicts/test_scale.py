import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import ScaleError
from evenhand.verdicts.scale import STATUSES, VOCABULARIES, canonical, read_scale
from evenhand.verdicts.spec import Spec


def scale(judge, reference=(), **said):
    counts = [{text: list(side).count(text) for text in side} for side in (judge, reference)]
    return read_scale(Spec(**said), *counts, lambda side, text: f"{side}.csv row 2 of {text}")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("1.0", "1"),
        (" 1 ", "1"),
        ("007", "7"),
        ("1e3", "1000"),
        ("-0.50", "-0.5"),
        ("yes ", "yes "),
        ("1,5", "1,5"),
        (".5", "0.5"),
    ],
)
def test_canonical(text, label):
    assert canonical(text) == label
    assert canonical(label) == label


@pytest.mark.parametrize("pair", VOCABULARIES)
def test_binary_vocabularies(pair):
    found = scale([pair[1], pair[1].upper()], [pair[0]])
    assert (found.kind, found.positive, found.size) == ("binary", found.levels[1], 2)
    assert found.judge_codes == {pair[1]: 1, pair[1].upper(): 1}
    assert found.reference_codes == {pair[0]: 0}


def test_two_vocabularies_meet():
    found = scale(["true", "false"], ["1", "0", "1.0"])
    assert found.judge_codes == {"true": 1, "false": 0}
    assert found.reference_codes == {"1": 1, "0": 0, "1.0": 1}
    assert "also spelled" in found.reading


def test_one_label_only_still_has_two_levels():
    assert scale(["PASS"], ["PASS"]).levels == ("FAIL", "PASS")
    assert "does not occur" in scale(["1"]).reading


def test_positive():
    assert scale(["cat", "dog"], positive="cat").levels == ("dog", "cat")
    assert scale(["1", "0"], positive="0").judge_codes == {"1": 0, "0": 1}
    with pytest.raises(ScaleError, match='"cow" does not occur; labels are "cat", "dog"'):
        scale(["cat", "dog"], positive="cow")
    with pytest.raises(ScaleError, match="is not one of the labels"):
        scale(["a", "b"], levels=("a", "b"), positive="c")


def test_statuses():
    found = scale(
        ["1", "", "  ", "CANNOT_ASSESS", "n/a", "pass"], ["0", ""], blank="unparsed", na=("N/A",), abstain=("PASS",)
    )
    names = {text: found.all_levels[code] for text, code in found.judge_codes.items()}
    assert names == {
        "1": "1",
        "": "unparsed",
        "  ": "unparsed",
        "CANNOT_ASSESS": "abstained",
        "n/a": "missing",
        "pass": "abstained",
    }
    assert found.all_levels[found.reference_codes[""]] == "missing"
    assert found.all_levels[2:] == STATUSES


@pytest.mark.parametrize(
    ("judge", "said", "kind", "levels"),
    [
        (["1", "2", "10"], {}, "ordinal", ("1", "2", "10")),
        (["1.5", "2", "10"], {}, "nominal", ("1.5", "2", "10")),
        (["a", "b", "c"], {}, "nominal", ("a", "b", "c")),
        (["a", "b", "c"], {"scale": "ordinal", "levels": ("c", "a", "b")}, "ordinal", ("c", "a", "b")),
        (["x", "y"], {"levels": ("y", "x")}, "binary", ("y", "x")),
        ([str(n) for n in range(12)], {}, "nominal", tuple(str(n) for n in range(12))),
    ],
)
def test_levels(judge, said, kind, levels):
    found = scale(judge, **said)
    assert (found.kind, found.levels) == (kind, levels)


@pytest.mark.parametrize(
    ("judge", "said", "words"),
    [
        (["1", "2"], {"scale": "binary"}, r'not on the binary scale \("1"\): "2" once \(judge.csv row 2 of 2\)'),
        (["a", "a", "b"], {"levels": ("a", "c")}, r'"b" once .* --na "b" \(missing\), --abstain "b"'),
        (["a"], {"levels": ("a",)}, "--levels needs two or more"),
        (["1"], {"levels": ("1", "1.0")}, "--levels needs two or more different labels"),
        (["a"], {"levels": ("a", "b", "c"), "scale": "binary"}, "--scale binary has two labels, --levels names 3"),
        (["a"], {"levels": tuple(map(str, range(101)))}, "at most 100"),
        (["cat", "dog"], {"scale": "binary"}, "Say --positive LABEL"),
        (["a", "NA"], {}, r'"NA" once \(judge.csv row 2 of NA\)'),
        (["3,5", "4"], {}, "written with a comma"),
        (["1,200.0", "4"], {}, "written with a comma"),
        (["Maybe", "maybe", "no"], {}, r'"Maybe" \(1\), "maybe" \(1\)'),
        (["\ufeffok", "ok", "bad"], {}, r'"ok" \(1\), "\\ufeffok" \(1\)'),
        (["", " "], {}, "every verdict is blank"),
        ([f"t{n}" for n in range(21)], {}, "21 different labels .* free text"),
        ([str(n / 8) for n in range(30)], {}, "marks come with a later one"),
        (["1"], {"scale": "continuous"}, "this version audits"),
    ],
)
def test_refused(judge, said, words):
    with pytest.raises(ScaleError, match=words):
        scale(judge, **said)


def test_infinite_marks():
    found = scale(["1", "2", "3", "inf", "-Infinity"])
    assert [found.all_levels[found.judge_codes[text]] for text in ("inf", "-Infinity")] == ["unparsed", "unparsed"]
    assert scale(["a", "inf", "b"]).levels == ("a", "b", "inf")


@given(st.lists(st.text(max_size=6), max_size=12), st.lists(st.text(max_size=6), max_size=12))
def test_every_text_has_a_code_or_the_scale_is_refused(judge, reference):
    try:
        found = scale(judge, reference)
    except ScaleError:
        return
    assert set(found.judge_codes) == set(judge)
    assert all(
        0 <= code < found.size + len(STATUSES)
        for code in (*found.judge_codes.values(), *found.reference_codes.values())
    )
