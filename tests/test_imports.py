"""What a fresh interpreter loads: the front door and the help pages stay light."""

import subprocess
import sys

import pytest

ENGINES = {"numpy", "scipy", "duckdb"}
HEAVY = ENGINES | {"pydantic", "jinja2", "narwhals"}
HELP = "import sys; from evenhand.cli.main import run; sys.stdout = sys.stderr; run({arguments}); sys.stdout = sys.__stdout__"


def loaded_by(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after this code."""
    script = f"{code}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_import_of_the_package_is_light():
    modules = loaded_by("import evenhand\nassert evenhand.__version__ and dir(evenhand)")
    assert "evenhand" in modules
    assert not modules & HEAVY


@pytest.mark.parametrize("arguments", [["--help"], ["audit", "--help"]], ids=" ".join)
def test_help_loads_no_engine(arguments: list[str]):
    modules = loaded_by(HELP.format(arguments=arguments))
    assert "click" in modules
    assert not modules & ENGINES


def test_a_name_loads_what_it_needs():
    assert "numpy" in loaded_by("import evenhand\nevenhand.audit")


def test_a_run_of_calls_holds_what_it_needs_and_no_more():
    pytest.importorskip("httpx2", reason="the HTTP client is an extra: pip install 'evenhand[run]'")
    modules = loaded_by(
        "import evenhand.cli.commands.run, evenhand.run.running, evenhand.run.backends.openai_chat, httpx2"
    )
    assert {"duckdb", "pydantic"} <= modules
    assert not modules & {"numpy", "scipy", "narwhals", "python_calamine", "openai"}
