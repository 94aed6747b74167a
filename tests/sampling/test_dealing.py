"""Codes and sheets: opaque, in another order for each rater, and the same for the same seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import RequestError
from evenhand.sampling.dealing import deal


def ids(n: int, stem: str = "r") -> list[str]:
    return [f"{stem}{k}" for k in range(n)]


@given(st.integers(1, 300), st.integers(1, 5), st.floats(0, 1), st.integers(0, 2**32))
def test_everything_is_dealt_and_the_shared_to_all(n: int, raters: int, part: float, seed: int) -> None:
    shared = round(part * n)
    found = deal(ids(n), raters, shared, seed)
    assert len(set(found.codes)) == n
    assert all(code.isalpha() and code.isupper() and not set(code) & set("AEIOU") for code in found.codes)
    times = np.bincount(np.concatenate(found.sheets), minlength=n)
    expected = {1: n} if raters == 1 else {raters: shared, 1: n - shared}
    assert {k: int((times == k).sum()) for k in set(times.tolist())} == {k: v for k, v in expected.items() if v}
    assert all(len(set(sheet.tolist())) == len(sheet) for sheet in found.sheets)
    again = deal(ids(n), raters, shared, seed)
    assert again.codes == found.codes
    assert all((a == b).all() for a, b in zip(again.sheets, found.sheets, strict=True))


def test_raters_have_orders_of_their_own() -> None:
    one, other = deal(ids(50), 2, None, 0).sheets
    assert sorted(one) == sorted(other) == list(range(50))
    assert one.tolist() != other.tolist()


def test_neither_order_nor_code_says_the_verdict() -> None:
    """Over seeds, the rank of a row and the rank of its code are as likely high as low in either half of the sample."""
    n, seeds = 60, 400
    verdict = np.arange(n) < 20
    rank_gaps, code_gaps = [], []
    for seed in range(seeds):
        found = deal(ids(n), 2, None, seed)
        rank = np.empty(n)
        rank[found.sheets[0]] = np.arange(n)
        code = np.argsort(np.argsort(found.codes))
        rank_gaps.append(rank[verdict].mean() - rank[~verdict].mean())
        code_gaps.append(code[verdict].mean() - code[~verdict].mean())
    for gaps in (rank_gaps, code_gaps):
        assert abs(np.mean(gaps)) < 4 * np.std(gaps) / np.sqrt(seeds)
        assert np.std(gaps) == pytest.approx(np.sqrt((n + 1) * n**2 / (12 * 20 * 40)), rel=0.12)


def test_more_shared_than_drawn() -> None:
    with pytest.raises(RequestError, match="--overlap 11: only 10 responses are drawn"):
        deal(ids(10), 2, 11, 0)


def test_other_responses_have_other_codes() -> None:
    one, other = deal(ids(200), 1, None, 0).codes, deal(ids(200, "s"), 1, None, 0).codes
    assert len(set(one) & set(other)) < 3
