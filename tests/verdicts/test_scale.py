import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import ScaleError
from evenhand.verdicts.binary_labels import VOCABULARIES
from evenhand.verdicts.label_texts import canonical
from evenhand.verdicts.scale import STATUSES, read_scale
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
        (["yes", "NA"], {}, r'"NA" once \(judge.csv row 2 of NA\)'),
        (["3,5", "4"], {}, "written with a comma"),
        (["1,200.0", "4"], {}, "written with a comma"),
        (["Maybe", "maybe", "no"], {}, r'"Maybe" \(1\), "maybe" \(1\)'),
        (["\ufeffok", "ok", "bad"], {}, r'"ok" \(1\), "\\ufeffok" \(1\)'),
        (["", " "], {}, "every verdict is blank"),
        ([f"t{n}" for n in range(21)], {}, "21 different labels .* free text"),
        ([str(n) for n in range(101)], {"scale": "ordinal"}, "marks are read with --scale continuous"),
        (["b", "a", "c"], {"scale": "ordinal"}, 'in which order do "a", "b", "c" stand'),
        (["1", "EX", "2.5"], {"scale": "continuous"}, r'"EX" once .* --na "EX" \(missing\)'),
        (["1", "3,5"], {"scale": "continuous"}, "written with a comma"),
        (["7"], {"scale": "continuous", "range": (0, 5)}, 'no mark lies within 0 to 5: "7" once'),
        (["cat", "dog"], {"scale": "pairwise"}, 'for which of "cat", "dog" are wins counted'),
        (["A", "B", "C"], {"scale": "pairwise"}, "two sides and perhaps a tie"),
        (["A", "B", "C"], {"scale": "pairwise", "levels": ("A", "B")}, 'not on the pairwise scale .*"C" once'),
    ],
)
def test_refused(judge, said, words):
    with pytest.raises(ScaleError, match=words):
        scale(judge, **said)


def meanings(found, texts):
    return [found.all_levels[found.judge_codes[text]] for text in texts]


def test_many_numbers_are_marks_in_order_of_value():
    found = scale([str(n / 8) for n in range(30)] + ["10", "2"], ["-0.5"])
    assert (found.kind, found.levels[:2], found.levels[-1]) == ("continuous", ("-0.5", "0"), "10")
    assert "inferred from the labels: 32 different marks" in found.reading
    assert "2" in found.levels  # once, though 2 = 16/8
    assert found.shown_levels == ("-0.5", "10")


def test_marks_outside_the_range_are_unparsed_and_listed():
    found = scale(["1", "4.5", "85", "-1", "9.2e124", "inf", "nan", ""], scale="continuous", range=(1, 5))
    assert meanings(found, ["85", "-1", "9.2e124", "inf", "nan", "", "4.5"]) == ["unparsed"] * 5 + ["missing", "4.5"]
    assert '"85" (1)' in found.reading
    assert "not finite" in found.reading
    assert found.shown_levels == ("1", "5")


def test_a_number_that_is_no_mark_is_unparsed():
    found = scale(["1", "4.5", "1e300"], scale="continuous")
    assert meanings(found, ["1e300"]) == ["unparsed"]
    assert '"1e+300" (1)' in found.reading


def test_a_range_of_few_whole_marks_is_ordinal():
    found = scale(["1", "4", "7"], range=(0, 5))
    assert (found.kind, found.levels) == ("ordinal", ("0", "1", "2", "3", "4", "5"))
    assert meanings(found, ["7"]) == ["unparsed"]
    assert scale(["1", "4.5"], range=(0, 5)).kind == "continuous"
    assert scale(["1", "45"], range=(0, 100)).kind == "continuous"
    assert scale(["1", "45"], range=(0, 99), scale="ordinal").size == 100


def test_declared_numbers_are_ordinal_and_words_are_not():
    assert scale(["0", "3"], levels=("0", "1", "2", "3")).kind == "ordinal"
    assert scale(["a"], levels=("a", "b", "c")).kind == "nominal"


@pytest.mark.parametrize(
    ("judge", "said", "levels"),
    [
        (["A", "B", "tie"], {}, ("B", "tie", "A")),
        (["a", "B", "Tie"], {}, ("B", "Tie", "a")),
        (["model_a", "tie (bothbad)"], {}, ("model_b", "tie (bothbad)", "model_a")),
        (["A", "B"], {"scale": "pairwise"}, ("B", "A")),
        (["A", "B", "C"], {"tie": ("c",)}, ("B", "tie", "A")),
        (["1", "2", "1.5", "0"], {"scale": "pairwise", "levels": ("1", "2"), "tie": ("1.5", "0")}, ("1", "tie", "2")),
        (["1", "2"], {"scale": "pairwise", "positive": "1"}, ("2", "1")),
        (["x", "y", "draw"], {"levels": ("x", "draw", "y")}, ("x", "draw", "y")),
    ],
)
def test_pairs(judge, said, levels):
    found = scale(judge, **said)
    assert (found.kind, found.levels, found.positive) == ("pairwise", levels, levels[-1])
    assert f'wins are counted for "{levels[-1]}"' in found.reading
    assert all(code < found.size for code in found.judge_codes.values())


def test_a_tie_is_a_label_of_a_pair_and_a_status_elsewhere():
    pair = scale(["A", "B", "C"], tie=("C",))
    assert (pair.tie, pair.status("tied"), pair.judge_codes["C"]) == (1, 1, 1)
    other = scale(["cat", "dog", "C"], tie=("C",))
    assert (other.tie, other.all_levels[other.judge_codes["C"]]) == (None, "tied")


def test_ties_of_a_status_column():
    counts = {"A": 2, "B": 1}
    found = read_scale(Spec(scale="pairwise"), counts, {}, lambda side, text: side, lambda: True)
    assert found.levels == ("B", "tie", "A")


def test_declared_cleaning_is_said():
    found = scale(["Yes", "yes ", "\u200byes", "NO"], ["no"], clean=("trim", "case", "zero-width"))
    assert (found.kind, found.levels) == ("binary", ("no", "yes"))
    assert set(found.judge_codes.values()) == {0, 1}
    assert '"Yes" (1), "yes " (1), "\\u200byes" (1) as "yes"' in found.reading
    assert scale(["Aa", "aa", "BB"], levels=("Aa", "aa", "BB")).size == 3


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
