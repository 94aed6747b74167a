"""Whatever characters columns, ids, clusters, criteria, labels and paths hold: the tame numbers, or one sentence."""

import contextlib
import csv
import io
import json
import string
import tempfile
import unicodedata
from pathlib import Path

import polars as pl
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import evenhand
from evenhand.cli.main import run
from evenhand.errors import EvenhandError
from evenhand.results import Audit
from terminal_text import raw_controls

NASTY = [
    *('"', "''", ";", "--", "a,b", "[x]", "*", "?", "{criterion}", "%s", "%41", "\\", "`", "$(rm)", "|", " | ", "a\tb"),
    *(
        "'; DROP TABLE x; --",
        '"; SELECT 1; "',
        "\n",
        "\r\n",
        "\x1b[31m",
        "\x07",
        "\u202e",
        "\u2028",
        "\u200b",
        "é",
        "e\u0301",
    ),
    *(
        "<script>",
        "{{ 7 }}",
        "{judge}",
        "=1+1",
        "../up",
        "~",
        "#",
        "NULL",
        "rowid",
        "count(*)",
        "select",
        "\x7f",
        "\x85",
        "😀",
    ),
]
texts = st.one_of(
    st.sampled_from(NASTY), st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
)
hostile = st.lists(texts, min_size=1, max_size=3).map("".join)

PAIRS = [(1, 1), (0, 1), (0, 0), (1, 1), (1, 0), (0, 0), (1, 1), (0, 0)]
TAME_IDS = list(string.ascii_lowercase[: len(PAIRS)])


def distinct(names):
    """Whether names stay apart in every way in which this tool compares."""
    folded = {unicodedata.normalize("NFC", name).casefold().strip() for name in names}
    return len(folded) == len(names) and "" not in folded


def table(columns, ids, clusters, labels):
    rows = [(ids[n], clusters[n % len(clusters)], labels[gold], labels[judge]) for n, (gold, judge) in enumerate(PAIRS)]
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([columns, *rows])
    return text.getvalue()


def audited(folder, name, text, columns, labels):
    """Numbers of an audit by the command line, with everything it prints checked."""
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    spec = evenhand.Spec(
        response=(columns[0],), cluster=columns[1], reference=columns[2], judge=(columns[3],), levels=labels
    )
    (folder / "spec.toml").write_text(spec.to_toml(), encoding="utf-8", newline="")
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(
            ["audit", str(path), "--spec", str(folder / "spec.toml"), "--format", "csv", "--out", str(folder / "out")]
        )
        audit = Audit.load(folder / "out") if code == 0 else None
        if audit is not None:
            assert run(["show", str(folder / "out")]) == 0
            assert run(["show", str(folder / "out"), audit.estimates[0].id, "--card"]) == 0
    said = out.getvalue() + err.getvalue()
    assert "Traceback" not in said
    assert raw_controls(said) == []
    assert code in (0, 2), said
    assert (folder / "out").exists() == (code == 0)
    return code, audit, err.getvalue()


def numbers(audit):
    return {
        one.id: (one.estimate, one.std_error, one.ci_low, one.ci_high, one.n_used)
        for one in audit
        if one.source == "judge" and not one.params
    }


with tempfile.TemporaryDirectory() as place:
    _, TAME, _ = audited(
        Path(place),
        "tame.csv",
        table(["item", "question", "gold", "judge"], TAME_IDS, ["a", "b", "c"], ("no", "yes")),
        ["item", "question", "gold", "judge"],
        ("no", "yes"),
    )


def file_name(text):
    return "".join(c for c in text if c not in "/\0")[:40].strip(".") or "x"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    columns=st.lists(hostile, min_size=4, max_size=4),
    ids=st.lists(hostile, min_size=len(PAIRS), max_size=len(PAIRS)),
    clusters=st.lists(hostile, min_size=3, max_size=3),
    labels=st.tuples(hostile, hostile),
    path=hostile,
)
@example(
    columns=NASTY[:4], ids=NASTY[4:12], clusters=NASTY[12:15], labels=(NASTY[17], NASTY[18]), path="*?[a]{b}'\".csv"
)
@example(
    columns=NASTY[17:21], ids=NASTY[21:29], clusters=NASTY[29:32], labels=("\x1b[31m", "\u202e"), path="a\nb\x1b[31m"
)
def test_hostile_names_change_no_number(columns, ids, clusters, labels, path):
    well_formed = all(map(distinct, (columns, ids, labels))) and distinct(clusters)
    with tempfile.TemporaryDirectory() as place:
        text = table(columns, ids, clusters, labels)
        name = file_name(path)
        code, audit, err = audited(
            Path(place), name + ".x" if name in ("out", "spec.toml") else name, text, columns, labels
        )
    if code == 2:
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        return
    if well_formed and audit.data.n_clusters == 3:
        got, want = numbers(audit), numbers(TAME)
        assert got.keys() == want.keys()
        for identity, values in want.items():
            for a, b in zip(got[identity], values, strict=True):
                assert (a is None) == (b is None)
                assert a is None or abs(a - b) < 1e-9


def test_most_hostile_names_are_audited_not_refused():
    """The property above is not satisfied by refusing everything."""
    columns = ['a";DROP', "b\n{c}", "%41", "'; --"]
    ids = NASTY[: len(PAIRS)]
    with tempfile.TemporaryDirectory() as place:
        text = table(columns, ids, ["\x1b[31m", "\u202e", "*"], ("<script>", "{judge}"))
        code, audit, _ = audited(Path(place), "*?[a]{b}'\"\x1b;$(x).csv", text, columns, ("<script>", "{judge}"))
    assert code == 0
    assert numbers(audit).keys() == numbers(TAME).keys()
    assert audit["cohen_kappa/judge"].estimate == TAME["cohen_kappa/judge"].estimate


@settings(max_examples=12, deadline=None)
@given(raters=st.lists(hostile, min_size=2, max_size=2, unique=True), criterion=hostile)
@example(raters=["judge", "raters"], criterion="{criterion}")
@example(raters=["a/b[c]=d", "A-B"], criterion="1,2")
def test_hostile_raters_and_criteria_keep_their_ids(raters, criterion):
    rows = [
        {"item": str(n), "rater": rater, "criterion": c, "verdict": (n * 3 + len(rater)) % 2}
        for n in range(6)
        for rater in (*raters, "human\x01gold")
        for c in (criterion, criterion + "2")
    ]
    try:
        result = evenhand.audit(pl.DataFrame(rows), reference="human\x01gold", interval="none")
    except EvenhandError:
        return
    for estimate in result.audit:
        assert raw_controls(estimate.id) == []
        assert result[estimate.id].source == estimate.source
    assert raw_controls(repr(result)) == []
    json.loads(result.audit.to_json())
