"""Options and the spec they make."""

import click
import pytest

from evenhand.cli.commands.audit import command as audit
from evenhand.cli.options import given
from evenhand.errors import RequestError
from evenhand.verdicts.spec import Spec

NOT_OF_A_SPEC = {"sources", "out", "explain", "labels", "spec", "write_spec", "strict"}


def test_every_option_is_of_the_spec_and_takes_one_value():
    options = [parameter for parameter in audit.params if isinstance(parameter, click.Option)]
    assert {option.name for option in options} - NOT_OF_A_SPEC <= Spec.model_fields.keys() | {None}
    assert all(option.nargs == 1 for option in options)


def test_given_splits_lists_at_commas_and_leaves_out_the_rest():
    values = {
        "response": ("a,b", "c"),
        "cut": ("4,5", "6"),
        "judge": ("m,1",),
        "cluster": None,
        "levels": (),
        "seed": 0,
    }
    assert given(values) == {"response": ("a", "b", "c"), "cut": (4.0, 5.0, 6.0), "judge": ("m,1",), "seed": 0}


@pytest.mark.parametrize("text", ["five", "nan", "-inf", "1e999"])
def test_cut_must_be_a_number(text):
    with pytest.raises(RequestError, match=r"--cut .* is not a number; write --cut 4,5,6"):
        given({"cut": (text,)})


@pytest.mark.parametrize("method", ["generalised", "fieller"])
def test_intervals_of_a_few_statistics_may_be_named(command, write, tmp_path, method):
    rows = "".join(f"r{n},q{n % 8},{n % 2},{(n % 2) ^ (n % 9 == 0)}\n" for n in range(48))
    source = write("v.csv", f"id,question,reference,judge\n{rows}")
    assert command("audit", source, "--cluster", "question", "--interval", method, "--out", tmp_path / "out").code == 0
    card = command("show", tmp_path / "out", "cohen_kappa/judge", "--card").out
    assert "interval   none" in card
    assert "leave --interval at its default" in " ".join(card.split())
