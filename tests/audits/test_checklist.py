"""The checklist says met only of what was done, and not applicable of what does not apply."""

import numpy as np
import pandas as pd
import pytest

import evenhand

N = 40


def frame(scale: str = "binary") -> pd.DataFrame:
    """Two criteria where labels are binary, one elsewhere; both sides of every verdict."""
    rng = np.random.default_rng(1)
    labels = {
        "binary": ["0", "1"],
        "ordinal": ["1", "2", "3"],
        "pairwise": ["A", "B", "tie"],
        "nominal": ["a", "b", "c"],
    }
    found = pd.DataFrame({"id": range(N), "q": np.arange(N) // 5})
    for name in ("x", "y") if scale == "binary" else ("x",):
        if scale == "continuous":
            found[f"human_{name}"] = rng.uniform(0, 9, N).round(1)
            found[f"judge_{name}"] = (found[f"human_{name}"] + rng.normal(0, 1, N)).round(1)
        else:
            found[f"human_{name}"] = rng.choice(labels[scale], N)
            found[f"judge_{name}"] = np.where(rng.random(N) < 0.8, found[f"human_{name}"], labels[scale][0])
    return found


def items(data: pd.DataFrame, scale: str = "binary", **options: object) -> dict[str, tuple[str, str]]:
    """Item → status and where."""
    given: dict[str, object] = {"response": "id", "cluster": "q", "judge": "judge_{criterion}", "scale": scale}
    if "human_x" in data:
        given["reference"] = "human_{criterion}"
    if scale == "ordinal":
        given["levels"] = ["1", "2", "3"]
    audit = evenhand.audit(data, **{**given, **options}).audit  # type: ignore[arg-type]
    return {item["item"]: (item["status"], item["where"]) for item in audit.checklist}


EQUAL, COMPANION = "one of the equal binary coefficients only", "agreement with a companion that sees the marginals"
BIAS, WEIGHTS = "bias beside QWK and r beside QWK", "weight matrix for three classes or more"
CONSTANT, CONFUSION = "criteria with constant labels listed, not dropped", "confusion matrix"
PROMPT, OWN = "prompt of the judge recorded, by name or fingerprint", "the reference's own reliability"
EVERY = [
    "judgment scale named before any statistic", EQUAL, COMPANION, BIAS, WEIGHTS, CONFUSION, CONSTANT,
    "handling of abstentions named in every number", "abstention, tie and invalid rates as results",
    "agreement where both committed with its coverage", "aggregation level named", "every row accounted for",
    "one ensemble statistic with a table per judge", "resampling unit and number of clusters", OWN,
    "borrowed coefficients beside their value on reference labels",
    "the judge run more than once, for its run-to-run noise", "model and settings of the judge recorded", PROMPT,
]  # fmt: skip
RUNS, RECORDED = "the judge run more than once, for its run-to-run noise", "model and settings of the judge recorded"


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ("binary", {EQUAL: "met", COMPANION: "met", BIAS: "not applicable", WEIGHTS: "not applicable", CONSTANT: "met"}),
        ("nominal", {EQUAL: "not applicable", COMPANION: "met", BIAS: "not applicable", WEIGHTS: "not met"}),
        ("ordinal", {EQUAL: "not applicable", COMPANION: "met", BIAS: "met", WEIGHTS: "met", CONSTANT: "not applicable"}),
        ("continuous", {EQUAL: "not applicable", COMPANION: "not applicable", BIAS: "met", CONFUSION: "not applicable"}),
        ("pairwise", {EQUAL: "not applicable", COMPANION: "met", BIAS: "not applicable", WEIGHTS: "met"}),
    ],
)  # fmt: skip
def test_each_scale_is_asked_for_what_applies_to_it(scale: str, expected: dict[str, str]) -> None:
    found = items(frame(scale), scale)
    assert {item: found[item][0] for item in expected} == expected


def test_bias_that_is_not_there_is_not_met() -> None:
    data = frame("ordinal").replace({"1": "low", "2": "mid", "3": "high"})
    found = items(data, "ordinal", levels=["low", "mid", "high"])
    assert found[BIAS] == ("not met", "no value of bias")


def test_without_a_reference_nothing_about_agreement_is_met() -> None:
    data = frame().drop(columns=["human_x", "human_y"])
    found = items(data)
    for item in (EQUAL, COMPANION, CONFUSION, "the reference's own reliability", "aggregation level named"):
        assert found[item][0] == "not applicable"
    assert found["borrowed coefficients beside their value on reference labels"][0] == "not met"


def test_what_the_tool_always_does_is_said_to_be_so() -> None:
    found = items(frame())
    for item in ("judgment scale named before any statistic", "every row accounted for", CONFUSION, CONSTANT):
        assert "done by this tool in every audit" in found[item][1]


@pytest.mark.parametrize(
    ("column", "values", "met"),
    [("occasion", 2, True), ("occasion", 1, False), ("phrasing", 2, False), ("model", 2, False)],
)
def test_run_to_run_noise_needs_several_occasions(column: str, values: int, met: bool) -> None:
    data = pd.concat([frame().assign(**{column: f"v{at}"}) for at in range(values)])
    assert items(data, **{column: column})[RUNS][0] == ("met" if met else "not met")


def test_model_and_setting_are_recorded_where_columns_name_them() -> None:
    data = frame().assign(m="one", s="t0")
    assert items(data)[RECORDED] == ("not met", "add --model COL and --setting COL")
    assert items(data, model="m")[RECORDED] == ("not met", "add --setting COL")
    assert items(data, model="m", setting="s")[RECORDED] == ("met", "the data name them")


def test_the_prompt_is_recorded_where_a_column_names_it() -> None:
    assert items(frame())[PROMPT] == ("not met", "add --phrasing COL: a name or a hash of the instruction")
    assert items(frame().assign(p="sha256:1f"), phrasing="p")[PROMPT] == ("met", "the data name it")
    assert items(frame().assign(p=""), phrasing="p")[PROMPT][0] == "not met"


@pytest.mark.parametrize("scale", ["binary", "ordinal", "continuous", "nominal", "pairwise"])
def test_every_item_is_there_on_every_scale_and_says_where(scale: str) -> None:
    found = items(frame(scale), scale)
    assert list(found) == EVERY
    assert {status for status, _ in found.values()} <= {"met", "not met", "not applicable"}
    assert all(where for _, where in found.values())


def test_abstention_as_a_class_asks_for_distances() -> None:
    data = frame().assign(judge_x=lambda table: np.where(table["id"] % 7 == 0, "abstain", table["judge_x"]))
    assert items(data, abstain=["abstain"])[WEIGHTS][0] == "not met"


def test_humans_tell_the_references_reliability() -> None:
    labels = np.random.default_rng(2).integers(0, 2, N).astype(str)
    raters = {"m": "judge", "ann": "human", "bob": "human"}
    data = pd.concat(
        pd.DataFrame({"response": range(N), "cluster": np.arange(N) // 5, "rater": name, "rater_kind": kind, "verdict": labels})
        for name, kind in raters.items()
    )  # fmt: skip
    found = evenhand.audit(data, scale="binary").audit.checklist
    assert next(item for item in found if item["item"] == OWN)["status"] == "met"


@pytest.mark.parametrize(
    ("options", "status"),
    [({}, "met"), ({"cluster": None}, "not met"), ({"interval": "wilson"}, "not met"), ({"interval": "none"}, "not applicable")],
)  # fmt: skip
def test_resampling_unit(options: dict[str, object], status: str) -> None:
    data = frame().rename(columns={"q": "group"}) if "cluster" in options else frame()
    assert items(data, **options)["resampling unit and number of clusters"][0] == status


def test_several_judges_have_an_ensemble_statistic() -> None:
    data = frame().drop(columns=["human_y", "judge_y"]).rename(columns={"human_x": "human", "judge_x": "alpha"})
    data["beta"] = data["human"]
    audit = evenhand.audit(data, response="id", cluster="q", judge=["alpha", "beta"], reference="human").audit
    found = {item["item"]: item["status"] for item in audit.checklist}
    assert found["one ensemble statistic with a table per judge"] == "met"
