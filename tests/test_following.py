"""The Python face of saved audits says what the commands say."""

import json

import pytest

import evenhand
from evenhand.errors import RequestError, SourceError


@pytest.fixture
def audits(command, write, tmp_path):
    """Folders of two audits, the newer one of a worse judge."""
    for name, every in (("old", 19), ("new", 5)):
        rows = "".join(f"r{n},q{n % 9},{n % 2},{(n % 2) ^ (n % every == 0)}\n" for n in range(180))
        source = write(f"{name}.csv", f"id,question,reference,judge\n{rows}")
        assert command("audit", source, "--cluster", "question", "--out", tmp_path / name).code == 0
    return tmp_path / "new", tmp_path / "old"


def test_a_comparison_is_that_of_the_command(audits, command):
    new, old = audits
    found, ending = evenhand.compare(new, old), command("check", new, "--against", old, "--json")
    said = json.loads(ending.out)
    assert (found.verdict, ending.code) == (said["verdict"], 1) == ("alarm", 1)
    assert {one.id: one.change.estimate for one in found} == {one["id"]: one["change"] for one in said["changes"]}
    assert found["error_rate/judge"].change.estimate == pytest.approx(36 / 180 - 10 / 180)
    assert str(found).startswith("alarm: ")


def test_what_was_not_watched_and_what_is_no_audit_are_told(audits, tmp_path):
    found = evenhand.compare(*audits, ids=["error_rate/judge"])
    with pytest.raises(RequestError, match='"eror_rate/judge" was not watched; did you mean "error_rate/judge"'):
        found["eror_rate/judge"]
    with pytest.raises(RequestError, match=r"false_alarm = 0\.7"):
        evenhand.compare(*audits, false_alarm=0.7)
    with pytest.raises(SourceError, match="no saved audit"):
        evenhand.compare(tmp_path / "nowhere", audits[1])


def test_a_selftest_is_that_of_the_command(audits, command):
    found = evenhand.selftest(audits[1], worlds=50)
    said = json.loads(command("selftest", audits[1], "--worlds", "50", "--json").out)
    assert [one.share for one in found] == [one["share"] for one in said["planted"]]
    assert "would be caught" in str(found)
    with pytest.raises(RequestError, match='"nobody": no such judge'):
        evenhand.selftest(audits[1], judge="nobody")
