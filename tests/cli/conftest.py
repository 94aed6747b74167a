"""A drawn sample, for tests of both of its ends."""

import pytest

from sample_files import judged


@pytest.fixture
def drawn(command, write, tmp_path):
    """A sample of the judge's file."""

    def ran(*options: object, n: int = 40, out: str = "sample", text: str | None = None):
        write("judge.csv", text or judged()[0])
        ending = command("sample", "judge.csv", "--n", n, "--out", out, *options)
        assert ending.code == 0, ending.said
        return tmp_path / out, ending

    return ran
