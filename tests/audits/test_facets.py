"""The scorer facet through ``evenhand.audit``: studies that the data carry, their numbers, and what the report says."""

import csv
import itertools
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.report.decision_table import decision_table
from evenhand.report.gaps import cannot_say
from evenhand.report.page import page
from evenhand.report.scorer import facet_sentence, scorer_sentences
from evenhand.report.sentences import first_screen
from evenhand.report.terminal import summary
from evenhand.stats.anova import analyse
from evenhand.stats.generalizability import d_study

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data folder (../shared) is absent")
STUDY = {"response": "item", "judge": "mark", "scale": "continuous"}


def marks(shape, seed=0, parts=(1.0, 0.5, 0.5)):
    """Marks with effects of responses, of the first facet, and of everything else, rounded to hundredths."""
    rng = np.random.default_rng(seed)
    response, first, residual = parts
    by_response = rng.normal(0, response**0.5, (shape[0], *[1] * (len(shape) - 1)))
    by_facet = rng.normal(0, first**0.5, (1, shape[1], *[1] * (len(shape) - 2)))
    return np.round(5 + by_response + by_facet + rng.normal(0, residual**0.5, shape), 2)


def frame(values, *facets):
    """A long table of marks: response, a column a facet, mark."""
    rows = [(*at, f"{value:.2f}") for at, value in np.ndenumerate(values)]
    columns = ("item", *facets, "mark")
    return pl.DataFrame({name: [str(row[at]) for row in rows] for at, name in enumerate(columns)})


def value(result, text):
    return result.audit[text].estimate


def test_phrasings_give_the_components_of_the_layout():
    values = marks((40, 3))
    result = evenhand.audit(frame(values, "phrasing"), **STUDY, phrasing="phrasing")
    person, wording = (axis.ravel() for axis in np.indices(values.shape))
    study = analyse(values.ravel(), {"p": person, "h": wording}, "p x h")
    for at, facet in enumerate(("response", "phrasing", "residual")):
        found = result.audit[f"variance_component[facet={facet}]/judge"]
        assert found.estimate == pytest.approx(study.components[at], abs=1e-10)
        assert found.interval_method == "generalised"
        assert found.ci_low <= found.estimate <= found.ci_high
        fixed = result.audit[f"variance_component[facet={facet},phrasing=fixed]/judge"]
        assert fixed.estimate == pytest.approx(found.estimate, abs=1e-12)
        assert fixed.interval_method == "jackknife_t"
        assert "these 3 phrasings" in fixed.estimand
    component = result.audit["variance_component[facet=phrasing]/judge"]
    assert component.interval_df == 2
    assert component.reason == "3 phrasings: 2 degrees of freedom"
    assert component.describes == "judge"
    fixed = result.audit["variance_component[facet=phrasing,phrasing=fixed]/judge"]
    assert fixed.ci_high - fixed.ci_low < (component.ci_high - component.ci_low) / 3
    for n, text in ((1, ""), (3, "[phrasing=3]")):
        expected = d_study(study.design, study.components, "p", {"h": n})
        assert value(result, f"dependability{text}/judge") == pytest.approx(float(expected.dependability), abs=1e-10)
        assert value(result, f"generalizability{text}/judge") == pytest.approx(
            float(expected.generalizability), abs=1e-10
        )
        assert value(result, f"sem{text}/judge") == pytest.approx(float(expected.sem), abs=1e-10)


def test_crossed_facets_are_one_study():
    values = marks((12, 3, 2, 2))
    result = evenhand.audit(
        frame(values, "phrasing", "occasion", "model"), **STUDY, phrasing="phrasing", occasion="occasion", model="model"
    )
    axes = dict(zip(("r", "p", "o", "m"), (axis.ravel() for axis in np.indices(values.shape)), strict=True))
    study = analyse(values.ravel(), axes, "r x p x m x o")
    names = {"r": "response", "p": "phrasing", "m": "model", "o": "occasion"}
    for term in study.design.terms[:-1]:
        text = "*".join(names[facet] for facet in term.facets)
        assert value(result, f"variance_component[facet={text}]/judge") == pytest.approx(
            study.component(term.name), abs=1e-10
        )
    residual = study.components[-1]
    assert value(result, "variance_component[facet=residual]/judge") == pytest.approx(residual, abs=1e-10)
    averaged = d_study(study.design, study.components, "r", {"p": 3, "m": 2, "o": 2})
    found = result.audit["dependability[model=2,occasion=2,phrasing=3]/judge"]
    assert found.estimate == pytest.approx(float(averaged.dependability), abs=1e-10)
    assert found.interval_df == 1  # of occasions and of models: two each


def test_facets_that_are_not_crossed_are_studied_one_by_one():
    values = marks((20, 4))
    long = frame(values, "phrasing").with_columns(pl.lit("1").alias("occasion"))
    repeated = long.filter(pl.col("phrasing") == "0").with_columns(pl.lit("2").alias("occasion"))
    result = evenhand.audit(pl.concat([long, repeated]), **STUDY, phrasing="phrasing", occasion="occasion")
    assert result.audit["variance_component[facet=phrasing]/judge"].n_used == 20
    other = result.audit["variance_component[facet=occasion,study=occasion]/judge"]
    assert other.estimate == 0
    assert other.ci_low is None
    assert other.reason.startswith("mean squares of 0")
    assert value(result, "dependability[study=occasion]/judge") == 1


def test_responses_without_every_condition_are_left_out_and_counted():
    long = frame(marks((10, 3)), "phrasing").filter(~((pl.col("item") == "3") & (pl.col("phrasing") == "2")))
    found = evenhand.audit(long, **STUDY, phrasing="phrasing").audit["variance_component[facet=phrasing]/judge"]
    assert (found.n_used, found.n_excluded) == (9, 1)


def test_conditions_that_no_two_responses_share_are_not_assessed():
    rows = [{"item": str(n), "phrasing": "xyz"[n % 3], "mark": str(n)} for n in range(9)]
    result = evenhand.audit(pl.DataFrame(rows), **STUDY, phrasing="phrasing")
    found = result.audit["variance_component[facet=phrasing]/judge"]
    assert found.status == "not_assessed"
    assert "fewer than two responses are fully scored under all 3 phrasings" in found.reason
    assert any("nothing here says how far" in warning for warning in result.audit.warnings)


def test_no_intervals_where_none_are_asked_for():
    result = evenhand.audit(frame(marks((8, 3)), "phrasing"), **STUDY, phrasing="phrasing", interval="none")
    found = result.audit["variance_component[facet=phrasing]/judge"]
    assert (found.ci_low, found.reason, found.status) == (None, "", "ok")


def test_several_judges_have_a_study_each_and_raters_one_together():
    rng = np.random.default_rng(0)
    long = frame(marks((30, 3)), "phrasing").with_columns(
        pl.Series("other", np.round(rng.normal(5, 1, 90), 1).astype(str))
    )
    result = evenhand.audit(long, response="item", judge=("mark", "other"), phrasing="phrasing", scale="continuous")
    assert result.audit["variance_component[facet=phrasing]/mark"].status == "ok"
    assert result.audit["variance_component[facet=phrasing]/other"].status == "ok"
    together = result.audit["variance_component[facet=rater]/raters"]
    assert together.reason == "2 raters: 1 degree of freedom"
    assert together.n_used == 90


def test_raters_agree_with_the_intraclass_correlation():
    values = marks((25, 4))
    wide = pl.DataFrame(
        {"item": [str(n) for n in range(25)], **{f"j{k}": [f"{v:.2f}" for v in values[:, k]] for k in range(4)}}
    )
    result = evenhand.audit(wide, response="item", judge=("j0", "j1", "j2", "j3"), scale="continuous")
    assert value(result, "dependability/raters") == pytest.approx(value(result, "icc/raters"), abs=1e-9)
    assert value(result, "generalizability[rater=4]/raters") == pytest.approx(
        value(result, "icc[form=C%2Ck]/raters"), abs=1e-9
    )


# words


def test_wording_that_decides_is_said_in_one_sentence():
    result = evenhand.audit(frame(marks((30, 3), parts=(0.1, 20, 0.2)), "phrasing"), **STUDY, phrasing="phrasing")
    said = facet_sentence(result.audit, "judge", "phrasing")
    assert said.startswith(
        "This judge's verdicts are set by the wording, not by the work: of the variance of a response's total"
    )
    for part in (
        "lies between wordings",
        "the wording component is",
        "3 wordings, 2 degrees of freedom: imprecise",
        "Φ at one wording",
    ):
        assert part in said
    assert len(re.findall(r"\.(?!\d)", said)) == 1  # one sentence
    assert said in first_screen(result.audit)
    assert not any("wording" in question for question, _ in cannot_say(result.audit))
    assert said in [row.answer for row in decision_table(result.audit)]
    titles = [table.title for table in page(result.audit).judges[0].tables]
    assert "The scorer facet: what decides a total" in titles


def test_wording_that_hardly_matters_is_not_said_to_decide():
    result = evenhand.audit(frame(marks((60, 3), parts=(4, 0.01, 0.2)), "phrasing"), **STUDY, phrasing="phrasing")
    said = facet_sentence(result.audit, "judge", "phrasing")
    assert said.startswith("How far this judge's verdicts depend on the wording")


def test_every_number_of_a_study_stands_in_the_report_once():
    result = evenhand.audit(frame(marks((30, 3)), "phrasing"), **STUDY, phrasing="phrasing")
    tables = page(result.audit).judges[0].tables
    ids = [card.id for table in tables for row in table.rows for card in row.cards]
    wanted = [
        one.id
        for one in result.audit
        if one.statistic in ("variance_component", "dependability", "sem", "generalizability")
    ]
    assert wanted
    assert all(ids.count(one) == 1 for one in wanted)


# published data


@needs_shared
def test_smollm2_is_set_by_the_wording():
    # shared data smollm2_on_zhu_bank: 'the wording, not the work, decides'
    result = evenhand.audit(
        str(SHARED / "smollm2_on_zhu_bank" / "verdicts.csv"), response="item_id", cluster="question_id", criterion="criterion",
        judge="value", reference="reference", status="status", phrasing="phrasing", occasion="occasion", scale="binary",
        criteria="per-cluster",
    )  # fmt: skip
    audit = result.audit
    sentence, repeats = scorer_sentences(audit, "judge")
    assert sentence.startswith("This judge's verdicts are set by the wording, not by the work")
    assert "reference totals there have SD" in sentence
    assert repeats.startswith("Sampling noise at one prompt")
    assert sentence in first_screen(audit)
    assert "This judge's verdicts are set by the wording" in " ".join(summary(audit).split())
    component = audit["variance_component[facet=phrasing]/judge"]
    assert component.estimate > 10 * audit["variance_component[facet=response]/judge"].estimate
    assert component.n_used == 40  # of 210: fully scored under all three wordings
    assert audit["sd_total[study=phrasing]/reference"].n_used == 40
    assert 0 < audit["flip_rate/judge"].estimate < 0.05
    assert audit["flip_rate[items_above=0]/judge"].trials == 548


@needs_shared
def test_smollm2_totals_of_p_yes(tmp_path):
    # its README's regression values: over all 210 x 3 totals, unparsed included
    with (SHARED / "smollm2_on_zhu_bank" / "verdicts.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["occasion"] == "1"]
    columns = ("item_id", "question_id", "criterion", "phrasing", "p_yes")
    data = pl.DataFrame({name: [row[name] for row in rows] for name in columns})
    audit = evenhand.audit(
        data, response="item_id", cluster="question_id", criterion="criterion", judge="p_yes", phrasing="phrasing", scale="continuous"
    ).audit  # fmt: skip
    for text, expected in (
        ("variance_component[facet=response]/judge", 0.1028),
        ("variance_component[facet=phrasing]/judge", 5.972),
        ("variance_component[facet=residual]/judge", 0.1834),
    ):
        assert audit[text].estimate == pytest.approx(expected, rel=5e-4)
    assert audit["dependability/judge"].estimate == pytest.approx(0.016, abs=5e-4)
    assert audit["dependability/judge"].n_used == 210


def asap(name):
    with (SHARED / "asap_llm_raters" / name).open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def ratings(essay_set, raters, dimension=""):
    rows = [row for row in asap(f"set{essay_set}_ratings_long.csv") if row.get("Dimension", "") == dimension]
    by_rater = {r: [row["Scores"] for row in rows if row["Raters"] == r] for r in raters}
    return np.array([[float(score) for score in by_rater[r]] for r in raters]).T


def study_of(values):
    person, rater = (axis.ravel() for axis in np.indices(values.shape))
    return analyse(values.ravel(), {"p": person, "r": rater}, "p x r")


@needs_shared
def test_genova_on_asap_every_row():
    # shared data asap_llm_raters: published_genova_dstudy.csv, 72 rows
    rows = asap("published_genova_dstudy.csv")
    assert len(rows) == 72
    studies = {}
    for row in rows:
        key = row["essay_set"], row["raters"]
        if key not in studies:
            studies[key] = study_of(ratings(row["essay_set"], row["raters"].split("-")))
        study = studies[key]
        found = d_study(study.design, study.components, "p", {"r": int(row["n_raters"])})
        for name, number in (
            ("universe_score_var", found.universe),
            ("rel_error_var", found.relative),
            ("abs_error_var", found.absolute),
            ("g_coef", found.generalizability),
            ("phi", found.dependability),
        ):
            assert number == pytest.approx(float(row[name]), abs=5.1e-6), row


@needs_shared
@pytest.mark.parametrize(
    ("essay_set", "pair", "n", "relative", "absolute"),
    [
        ("1", ("1", "2"), 1, 0.72098, 0.72098),
        ("1", ("3", "4"), 2, 0.75988, 0.75941),
        ("2", ("5", "6"), 1, 0.74225, 0.72318),
        ("2", ("5", "6"), 2, 0.85206, 0.83936),
    ],
)
def test_genova_on_asap_through_an_audit(essay_set, pair, n, relative, absolute):
    values = ratings(essay_set, pair).astype(int).astype(str)
    wide = pl.DataFrame(
        {"essay": [str(at) for at in range(len(values))], "a": values[:, 0].tolist(), "b": values[:, 1].tolist()}
    )
    audit = evenhand.audit(wide, response="essay", judge=("a", "b"), scale="continuous").audit
    text = "" if n == 1 else f"[rater={n}]"
    assert audit[f"generalizability{text}/raters"].estimate == pytest.approx(relative, abs=5.1e-6)
    assert audit[f"dependability{text}/raters"].estimate == pytest.approx(absolute, abs=5.1e-6)
    raw = audit["variance_component[facet=rater]/raters"]
    if pair == ("1", "2"):
        assert raw.estimate == pytest.approx(-8e-5, abs=5e-6)
        assert raw.reason.startswith("negative as it is estimated, 0 where it is used")


@needs_shared
def test_the_published_table_of_gpt_components_is_halved_and_not_ours():
    """Rater and residual of the GPT pair on set 3 are printed at half: a mean over two raters in a table of single ones."""
    table = asap("published_G_Study_Results.csv")
    with (SHARED / "asap_llm_raters" / "published_G_Study_Results.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.reader(lines) if row[0] == "Set #3"]
    assert table
    dimensions = {name: str(at) for at, name in enumerate(("I&C", "Org", "V", "WC", "SF", "Con"), start=1)}
    for (column, pair), (name, at) in itertools.product(((3, "12"), (5, "34"), (7, "56")), dimensions.items()):
        study = study_of(ratings("3", tuple(pair), at))
        printed = {row[2]: float(row[column]) for row in rows if row[1] == name}
        ours = np.maximum(study.components, 0)
        over = 2 if pair == "34" else 1
        assert [ours[0], ours[1] / over, ours[2] / over] == pytest.approx(
            [printed["Person"], printed["Rater"], printed["Residual"]], abs=6e-5
        ), (pair, name)
        if pair == "34":  # and it is a decision study of two raters
            mean_of_two = d_study(study.design, study.components, "p", {"r": 2})
            assert mean_of_two.absolute == pytest.approx(printed["Rater"] + printed["Residual"], abs=1.1e-4)
            assert abs(ours[2] - printed["Residual"]) > 0.04
