"""A copy of an audit with other estimates looks its own up."""

import polars as pl

import evenhand


def test_a_copy_with_other_estimates_has_its_own_index() -> None:
    audit = evenhand.audit(
        pl.DataFrame({"id": ["a", "b", "c"], "human": ["1", "0", "1"], "judge": ["1", "0", "0"]})
    ).audit
    kappa = audit["cohen_kappa/judge"]
    copy = audit.model_copy(update={"estimates": (kappa.model_copy(update={"estimate": 0.5}),)})
    assert copy["cohen_kappa/judge"].estimate == 0.5
    assert audit["cohen_kappa/judge"].estimate == kappa.estimate
    assert copy.get("phi/judge") is None
