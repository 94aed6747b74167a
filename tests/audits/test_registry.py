import importlib
import pkgutil
from collections import Counter
from importlib.resources import files

import pytest

import evenhand
import evenhand.audits
from evenhand.api import AuditResult
from evenhand.audits.registry import families
from evenhand.ids import EstimateId


@pytest.fixture(scope="module")
def bank() -> AuditResult:
    path = files("evenhand.data") / "zhu_bank.csv"
    return evenhand.audit(str(path), criteria="per-cluster", blank="unparsed", cut=(5,))


def test_a_module_with_estimates_is_a_family() -> None:
    modules = [
        importlib.import_module(f"evenhand.audits.{module.name}")
        for module in pkgutil.iter_modules(evenhand.audits.__path__)
        if module.name != "registry"
    ]
    expected = {module.__name__ for module in modules if hasattr(module, "estimates")}
    assert {family.__module__ for family in families()} == expected
    assert {"evenhand.audits.agreement", "evenhand.audits.decisions", "evenhand.audits.status"} <= expected


def test_families_stand_in_their_declared_order() -> None:
    names = [family.__module__.rpartition(".")[2] for family in families()]
    assert names[0] == "status"
    orders = [getattr(importlib.import_module(f"evenhand.audits.{name}"), "ORDER", 50) for name in names]
    assert list(zip(orders, names, strict=True)) == sorted(zip(orders, names, strict=True))


def test_families_are_found_anew_alike() -> None:
    assert families() == families()


def test_no_id_stands_twice(bank: AuditResult) -> None:
    assert [name for name, count in Counter(one.id for one in bank.audit).items() if count > 1] == []


def test_ids_are_what_their_parts_say(bank: AuditResult) -> None:
    for one in bank.audit:
        parsed = EstimateId.parse(one.id)
        assert (str(parsed), parsed.statistic, dict(parsed.params), parsed.source) == (
            one.id,
            one.statistic,
            one.params,
            one.source,
        )


def test_every_estimate_says_what_it_is_about(bank: AuditResult) -> None:
    for one in bank.audit:
        assert one.estimand, one.id
        assert "{" not in one.estimand, one.id
        assert one.describes, one.id
        assert (one.status == "ok") == (one.estimate is not None), one.id
        if one.ci_low is None:
            assert one.reason, one.id
            assert one.interval_method == "none", one.id


def test_an_interval_holds_its_estimate(bank: AuditResult) -> None:
    for one in bank.audit:
        if one.ci_low is not None and one.ci_high is not None:
            assert one.ci_low <= one.estimate <= one.ci_high, one.id
