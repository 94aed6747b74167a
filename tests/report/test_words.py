"""The words around the numbers: true for every scale, method, number of judges and condition."""

import pandas as pd
import pytest
from report_audits import (  # type: ignore[import-not-found]
    audit_of,
    audit_of_one,
    changed,
    checklist_frame,
    declared,
    marks_frame,
    of_estimates,
    pairs_frame,
)

import evenhand
from evenhand.report.decision_table import DecisionRow, decision_table
from evenhand.report.gaps import cannot_say
from evenhand.report.lookups import leading_kr20
from evenhand.report.page import page
from evenhand.report.render import to_html, to_markdown
from evenhand.report.reporting_lines import reporting_lines
from evenhand.report.sentences import first_screen
from evenhand.report.tables import interval_phrase
from evenhand.report.terminal import summary
from evenhand.report.worst import concentration
from evenhand.results import Audit, Table

OTHER_LINES = "Would pass or fail survive another sample of lines?"
CONSISTENT = "Do the lines rank responses consistently?"
ERRS = "Where does it err, and in which direction?"
WORDING = "Do its decisions depend on the wording of the instruction?"


def decision(audit: Audit, question: str) -> DecisionRow:
    return next(row for row in decision_table(audit) if row.question == question)


@pytest.fixture(scope="module")
def marks() -> Audit:
    return audit_of_one(marks_frame(), scale="continuous")


@pytest.fixture(scope="module")
def pairs() -> Audit:
    return audit_of_one(pairs_frame(), scale="pairwise")


# marks and pairs


@pytest.mark.parametrize("options", [{"scale": "continuous"}, {"scale": "ordinal", "levels": list("12345")}])
def test_marks_are_said_by_bias_size_and_rank(options: dict[str, object]) -> None:
    audit = audit_of_one(marks_frame(levels=5 if "levels" in options else None), **options)
    said, shown = first_screen(audit)[0], summary(audit)
    for words in ("on 60 verdicts", "mark minus the reference's is", "in absolute size", "r is 0.", "quadratic-weighted κ is 0."):  # fmt: skip
        assert words in said
    assert "nothing can be said" not in said
    for row in ("bias, judge minus reference", "mean absolute error", "quadratic-weighted κ", "r, ranking alone"):
        assert row in shown
    assert decision(audit, ERRS).answer.startswith("bias ")
    assert "bias" in dict(reporting_lines(audit))["Judge error"]


def test_reference_labels_that_are_there_are_not_asked_for(marks: Audit, pairs: Audit) -> None:
    for audit in (marks, pairs):
        assert not [row for row in decision_table(audit) if "--labels" in row.collect]


def test_marks_of_a_constant_judge_keep_their_bias_and_say_why_r_has_no_value() -> None:
    audit = audit_of_one(marks_frame(levels=5).assign(judge=3), scale="ordinal", levels=list("12345"))
    said = first_screen(audit)[0]
    assert "minus the reference's is" in said
    assert "r has no value (marks of one side are constant)" in said


def test_pairs_are_said_by_agreement_wins_and_ties(pairs: Audit) -> None:
    said, shown = first_screen(pairs)[0], summary(pairs)
    assert "of pairs, κ" in said
    assert "a tie counting as half a win" in said
    assert "win rate of A" in shown
    assert "  ties  " in shown
    assert "on the reference's verdicts" in decision(pairs, ERRS).answer


def test_nothing_is_said_only_where_nothing_is_compared() -> None:
    frame = marks_frame(levels=2)
    frame = frame.assign(judge=frame["judge"].astype(str), human=frame["human"].astype(str))
    frame.loc[frame.index % 2 == 0, "judge"] = ""
    frame.loc[frame.index % 2 == 1, "human"] = ""
    audit = audit_of_one(frame, scale="binary", levels=["1", "2"], positive="2")
    assert "no verdict that meets a reference label" in first_screen(audit)[0]


# the bank


def test_borrowed_numbers_stand_beside_their_value_on_reference_labels(demo: Audit) -> None:
    parts = decision(demo, OTHER_LINES).answer.split(" · ")
    assert len(parts) == 8
    assert all("on the judge's verdicts" in part and "on reference labels" in part for part in parts)


def test_consistency_carries_the_spread_of_the_bank(demo: Audit) -> None:
    said = decision(demo, CONSISTENT).answer
    assert "SD of totals 2.126 (reference 2.160) on 10 lines and 180 responses" in said


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((-0.10, 0.10), "describes the bank, not the judge"),
        ((-0.11, 0.05), "the difference, -0.001 (-0.110 to 0.050), is not settled by these data"),
        ((-0.30, -0.01), "what the judge adds is their difference"),
        ((None, None), "has no interval"),
    ],
)
def test_no_difference_is_called_equality_that_is_merely_unsettled(
    demo: Audit, ends: tuple[float | None, float | None], words: str
) -> None:
    said = first_screen(changed(demo, "kr20/judge-reference", ci_low=ends[0], ci_high=ends[1]))[-1]
    assert words in said
    assert ("about the same" in said) == (ends == (-0.10, 0.10))


@pytest.mark.parametrize(("n", "leads"), [(40, "kr20[variance=n]"), (60, "kr20")])
def test_below_fifty_responses_both_divisors_are_n_everywhere(n: int, leads: str) -> None:
    audit = audit_of(checklist_frame(n, 4))
    lead, other = leading_kr20(audit, "judge"), audit["kr20/judge" if n < 50 else "kr20[variance=n]/judge"]
    assert lead is not None
    assert lead.id == f"{leads}/judge"
    places = (first_screen(audit)[-1], decision(audit, CONSISTENT).answer, dict(reporting_lines(audit))["Borrowed coefficients"], summary(audit))  # fmt: skip
    for said in places:
        assert f"{lead.estimate:.3f}" in said
        assert f"{other.estimate:.3f} on the judge's" not in said


# intervals


@pytest.mark.parametrize(
    ("method", "phrase", "fact"),
    [
        ("default", "95 % cluster interval, G = 3", "95 % cluster interval, G = 3"),
        ("percentile", "95 % cluster interval, G = 3", "95 % cluster interval, G = 3, clusters resampled"),
        ("wilson", "95 % interval, verdicts taken as independent", "95 % interval, verdicts taken as independent"),
        ("clopper_pearson", "95 % interval, verdicts taken as independent", "95 % interval, verdicts taken as independent"),
        ("none", "no intervals", "no intervals"),
    ],
)  # fmt: skip
def test_intervals_are_named_by_what_made_them(method: str, phrase: str, fact: str) -> None:
    audit = audit_of(checklist_frame(30, 3), interval=method)
    assert interval_phrase(audit) == phrase
    assert dict(page(audit).facts)["intervals"] == fact
    assert phrase in summary(audit)
    assert f"({phrase})" in dict(reporting_lines(audit))["Judge error"]


def test_without_a_declared_cluster_intervals_are_over_responses() -> None:
    audit = audit_of_one(marks_frame(levels=2), cluster=None, scale="binary", levels=["1", "2"])
    assert interval_phrase(audit) == "95 % interval over responses"
    assert "cluster interval" not in summary(audit)
    assert "cluster" not in dict(reporting_lines(audit))["Judge error"]


def test_few_events_are_said_only_where_the_reason_says_so(demo: Audit) -> None:
    shown = summary(demo)
    assert "1 of 992  (few events; upper 3.6 % if clustered" in next(
        line for line in shown.splitlines() if "false rejects" in line
    )
    other = changed(demo, "false_reject_rate/judge", reason="the share is the same in every cluster")
    assert "992  (few events" not in summary(other)


def test_reasons_of_missing_intervals_are_seen() -> None:
    audit = audit_of(checklist_frame(20, 3).assign(question=1))
    reason = "one cluster: no standard error and no interval can be had from it"
    assert f"no interval: {reason}" in to_html(audit)
    assert reason in to_markdown(audit)
    shown = summary(audit)
    row = next(line for line in shown.splitlines() if "false accepts" in line)
    assert " of " in row
    assert "one cluster" in row
    assert shown.count("no interval, as above") >= 4
    assert max(map(len, shown.splitlines())) <= 118


# judges


def test_every_judge_is_named_up_to_four() -> None:
    audit = audit_of(checklist_frame(40, 4, 6), cut=[2])
    for said in (decision(audit, ERRS).answer, dict(reporting_lines(audit))["Judge error"]):
        assert [f"model-{at}: " in said for at in range(6)] == [True] * 4 + [False] * 2
        assert "nd 2 more" in said
    assert decision(audit, ERRS).answer.count(" · ") == 4


@pytest.mark.parametrize("n_judges", [2, 20])
def test_several_judges_are_a_table_that_fits_a_screen(n_judges: int) -> None:
    lines = summary(audit_of(checklist_frame(60, 4, n_judges), cut=[2])).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 118
    header = next(line for line in lines if "agreement" in line)
    assert header.split() == ["agreement", "κ", "false", "accepts", "false", "rejects"]
    assert sum("[" in line for line in lines) == min(n_judges, 14)


def test_several_judges_of_marks_are_compared_on_bias() -> None:
    frame = marks_frame(levels=5)
    frame["second"] = frame["human"]
    audit = audit_of_one(frame, judge=["judge", "second"], scale="ordinal", levels=list("12345"))
    header = next(line for line in summary(audit).splitlines() if "mean absolute error" in line)
    assert "bias" in header
    assert page(audit).side_by_side is not None


def test_a_judge_named_as_a_judge_is_called_so_once() -> None:
    frame = pairs_frame().assign(second=lambda found: found["human"])
    said = first_screen(audit_of_one(frame, judge=["judge", "second"], scale="pairwise"))
    assert [sentence.split(" gives")[0] for sentence in said] == ["Judge judge", "Judge second"]


def test_several_judges_of_labels_without_a_reference_have_their_labels_shown() -> None:
    frame = pairs_frame().rename(columns={"human": "second"}).replace({"tie": "C"})
    shown = summary(audit_of_one(frame, judge=["judge", "second"], reference=None, scale="nominal"))
    assert "What was said by these 2 judges" in shown
    assert "  second: A 41.7 %, B 28.3 %, C 30.0 %" in shown


def test_long_lines_wrap(demo: Audit) -> None:
    assert max(map(len, summary(demo).splitlines())) <= 118


# conditions


def with_wordings(n: int) -> Audit:
    frame = pd.concat([checklist_frame(60, 3).assign(wording=f"w{k}") for k in range(n)])
    frame = frame.drop(columns=["reference", "rater"])
    return evenhand.audit(
        frame, response="response", cluster="question", criterion="criterion", judge="verdict", phrasing="wording"
    ).audit  # fmt: skip


def test_a_varied_condition_is_named_and_its_study_says_what_it_shows() -> None:
    audit = with_wordings(3)
    said = first_screen(audit)
    assert (
        "3 wordings could show how far verdicts depend on the wording of the instruction; the study of them says it"
        in said[0]
    )
    assert "nor a varied condition" not in said[0]
    assert said[1].startswith("How far this judge's verdicts depend on the wording: ")
    assert "0.0 % lies between wordings" in said[1]
    assert decision(audit, WORDING).answer == said[1]
    questions = [question for question, _ in cannot_say(audit)]
    assert not any("3 wordings" in question for question in questions)
    assert any("there is one occasion" in question for question in questions)
    assert not any("there is one wording" in question for question in questions)


@pytest.mark.parametrize("conditions", [{}, {"phrasing": 1}, {"model": 3}])
def test_one_wording_is_one_whatever_else_varies(demo: Audit, conditions: dict[str, int]) -> None:
    audit = declared(demo, conditions=conditions)
    assert any("there is one wording" in question for question, _ in cannot_say(audit))
    assert decision(audit, WORDING).answer == ""


def test_several_statements_about_the_author_are_no_reason_to_collect_them(demo: Audit) -> None:
    audit = declared(demo, conditions={"arm": 2})
    assert "2 statements about the author" in decision(audit, "Does it mark the work or the author?").answer


# true rate, and where errors sit


def test_the_true_rate_is_over_all_the_reference_labels(demo: Audit) -> None:
    question = "What is the true rate of 1 verdicts?"
    assert "of the 2,100 verdicts the reference labels" in decision(demo, question).answer
    without = of_estimates(demo, (e for e in demo.estimates if e.id != "prevalence/reference"))
    assert decision(without, question).answer.endswith("on the 1,800 verdicts the judge scored")


def test_concentration_stands_beside_what_chance_would_give(demo: Audit) -> None:
    said = concentration(demo, "judge")
    assert said.startswith("25 of 85 errors on 5 of 130 lines (")
    assert "expected if every line were alike, at most" in said
    assert said in decision(demo, ERRS).answer


@pytest.mark.parametrize(("sixth", "tied"), [(3, True), (2, False)])
def test_five_lines_are_not_named_where_the_sixth_is_as_bad(demo: Audit, sixth: int, tied: bool) -> None:
    errors = [9, 6, 4, 3, 3, sixth, 1]
    table = Table(columns=("line", "errors"), rows=tuple((f"l{at}", n) for at, n in enumerate(errors)))
    audit = demo.model_copy(update={"tables": {**demo.tables, "lines/judge": table}})
    assert ("which five is not settled" in concentration(audit, "judge")) == tied


def test_ensemble_forms_say_whose_missing_verdicts_they_pool(demo: Audit) -> None:
    notes = [table.note for table in page(demo).others if "two raters" in table.title]
    assert len(notes) == 1
    assert "verdicts that only one of them scored" in notes[0]
