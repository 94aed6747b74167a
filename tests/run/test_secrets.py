"""No key in any file, output, log or fault file: not from the environment, not from a base URL, not from a provider's error."""

import base64
import subprocess
import sys
import urllib.parse
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Answer, serving
from studies import study

from evenhand.design.calls import load_design
from evenhand.design.plan import JudgePart
from evenhand.errors import RequestError
from evenhand.run.redacting import redacted, secrets_of, url_without_secrets, without
from evenhand.run.running import run_design

KEY = "zq-Very+Secret/Key=77"
PASSWORD = "hunter2/at&home"  # noqa: S105  made up
LOGGED = "import logging; logging.basicConfig(level=logging.DEBUG)"
COMMAND = [sys.executable, "-c", f"{LOGGED}\nfrom evenhand.cli.main import main; main()"]


def forms(secret: str) -> list[bytes]:
    basic = base64.b64encode(secret.encode()).decode()
    return [one.encode() for one in (secret, urllib.parse.quote(secret, safe=""), urllib.parse.quote(secret), basic)]


def clean(folder: Path, *texts: str) -> None:
    """Every byte of every file, and what was said."""
    held = [path.read_bytes() for path in folder.rglob("*") if path.is_file()] + [text.encode() for text in texts]
    assert held
    for secret in (KEY, PASSWORD, f"me:{PASSWORD}"):
        for form in forms(secret):
            assert not any(form in data for data in held), form


@pytest.mark.parametrize("status", [200, 401])
def test_no_byte_of_a_run_holds_a_key(tmp_path: Path, status: int) -> None:
    """Key in the environment, in the base URL's user and query, and quoted in each of the provider's errors."""
    shown = f"Bearer {KEY} / {PASSWORD} / {urllib.parse.quote(KEY, safe='')} / Basic {base64.b64encode(f'me:{PASSWORD}'.encode()).decode()}"

    def script(_body: object, _number: int) -> Answer:
        return Answer(status=status, error=f"refused {shown}")

    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path / "tmp"), "JUDGE_KEY": KEY}
    (tmp_path / "tmp").mkdir()
    with serving(script) as server:
        quoted = urllib.parse.quote(PASSWORD, safe="")
        url = server.url.replace("http://", f"http://me:{quoted}@") + f"?api-key={urllib.parse.quote(KEY, safe='')}"
        plan = study(tmp_path / "study", 3, judge=f'base_url = "{url}"\nkey = "JUDGE_KEY"', more="attempts = 2")
        out = tmp_path / "out"
        command = [*COMMAND, "run", str(plan), "--out", str(out)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == (0 if status == 200 else 3), done.stderr
    assert server.asked
    assert any("authorization" in head.lower() for head in server.headers)
    assert "HTTP Request: POST" in done.stderr  # it was logged, without the key
    clean(out, done.stdout, done.stderr)
    clean(tmp_path / "tmp", "")
    record = (out / "plan.json").read_text(encoding="utf-8")
    assert "127.0.0.1" in record


def test_a_fault_of_ours_shows_no_key(tmp_path: Path) -> None:
    """The fault file holds a traceback of a run whose judge holds a key."""
    code = (
        "import evenhand.run.runner as runner\n"
        "def broken(*_a, **_k): raise ZeroDivisionError('broken')\n"
        "runner.attempt_at = broken\n"
        "from evenhand.cli.main import main; main()"
    )
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path), "JUDGE_KEY": KEY}
    with serving() as server:
        url = server.url.replace("http://", f"http://me:{urllib.parse.quote(PASSWORD, safe='')}@")
        plan = study(tmp_path / "study", 2, judge=f'base_url = "{url}"\nkey = "JUDGE_KEY"')
        command = [sys.executable, "-c", code, "run", str(plan), "--out", str(tmp_path / "out")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 70
    plan.unlink()  # the user's own
    clean(tmp_path, done.stdout, done.stderr)
    assert list(tmp_path.glob("evenhand-fault-*.txt"))


def test_a_key_in_the_plan_itself_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    plan = study(tmp_path / "study", 1, judge=f'base_url = "http://127.0.0.1:9/v1"\nsettings = {{ user = "{KEY}" }}')
    with pytest.raises(RequestError, match="stands in the plan itself") as caught:
        run_design(load_design(plan), tmp_path / "out")
    assert KEY not in str(caught.value)
    assert not (tmp_path / "out" / "plan.json").exists()


@pytest.mark.parametrize("key", ["sk-a\nb-0123456", "sk-ключ-012345"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(RequestError, match="characters that no key has") as caught:
        run_design(load_design(study(tmp_path / "study", 1)), tmp_path / "out")
    assert key[:5] not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8080/v1", "http://", "ftp://host/v1", "http://host:port/v1", "http://ho st/v1"]
)
def test_an_address_that_is_none_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(RequestError, match="is no address"):
        run_design(load_design(study(tmp_path / "study", 1, judge=f'base_url = "{url}"')), tmp_path / "out")


@given(st.text(min_size=8, max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_no_known_secret_is_left_in_a_message(secret: str, before: str, after: str) -> None:
    for form in (secret, urllib.parse.quote(secret.encode("utf-8", "surrogatepass"), safe="")):
        assert form not in without(before + form + after, [secret]) or form in "[redacted]"


def test_what_looks_like_a_key_is_taken_out_of_messages() -> None:
    for text in ("sk-abcdefghijkl", "Bearer abc", "https://me:word@host/v1", "AIzaSyAAAAAAAAAAA", "api_key=abcdef"):
        assert "[redacted]" in redacted(f"refused: {text}!")
    assert len(redacted("x" * 5_000)) <= 300


def test_a_base_url_is_written_without_what_it_holds_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "https://me:pa%2Fss@host:8443/v1?api-version=2024-02-01&api-key=abcdefgh"
    monkeypatch.setenv("OPENAI_API_KEY", "the-key-0")
    secrets = secrets_of([JudgePart(name="j", model="m", base_url=url)])
    assert {"the-key-0", "pa/ss", "abcdefgh"} <= set(secrets)
    assert url_without_secrets(url) == "https://host:8443/v1?api-version=2024-02-01&api-key=[redacted]"
