"""Audits that reports are made of: the example bank, case REP-01 with texts, and several judges."""

from importlib.resources import as_file, files

import pytest
from report_audits import HARMLESS, REP_01, audit_of, checklist_frame, of_rows  # type: ignore[import-not-found]

import evenhand
from evenhand.results import Audit


@pytest.fixture(scope="session")
def demo() -> Audit:
    """The example bank as ``evenhand demo`` audits it."""
    with as_file(files("evenhand.data") / "zhu_bank.csv") as bank:
        return evenhand.audit(
            str(bank),
            response="response_id",
            cluster="cluster_id",
            reference="gold_{criterion}",
            judge="judge_{criterion}",
            criteria="per-cluster",
            blank="unparsed",
            cut=[4, 5, 6, 7],
        ).audit


@pytest.fixture(scope="session")
def rep_01(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """Case REP-01 with texts."""
    return of_rows(REP_01, tmp_path_factory.mktemp("rep01"))


@pytest.fixture(scope="session")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """The same verdicts under harmless names."""
    return of_rows(HARMLESS, tmp_path_factory.mktemp("harmless"))


@pytest.fixture(scope="session")
def several() -> Audit:
    """Three judges on four criteria."""
    return audit_of(checklist_frame(60, 4, 3), cut=[2])
