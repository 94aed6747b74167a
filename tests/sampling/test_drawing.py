"""The draw: known chances that add up, weights that sum to their stratum, and the same seed the same draw."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import RequestError
from evenhand.sampling.drawing import draw, sizes_of, spreads, std_error
from evenhand.sampling.population import Population


def people(
    strata: list[int], clusters: list[int], known: list[int] | None = None, wrong: list[int] | None = None
) -> Population:
    """Responses with these strata and clusters, in the order of their clusters."""
    order = np.argsort(clusters, kind="stable")
    names = tuple(f"s{k}" for k in range(max(strata) + 1))
    zeros = [0] * len(names)
    return Population(
        responses=tuple(f"r{k}" for k in range(len(strata))),
        cluster=np.asarray(clusters)[order],
        clusters=tuple(f"c{k}" for k in range(max(clusters) + 1)),
        stratum=np.asarray(strata)[order],
        strata=names,
        wrong=np.array(wrong or zeros),
        known=np.array(known or zeros),
        n_labelled=0,
        criterion=np.zeros(len(strata), dtype=np.int64),
    )


POPULATIONS = st.integers(1, 4).flatmap(
    lambda h: st.lists(st.tuples(st.integers(0, h - 1), st.integers(0, 9)), min_size=h, max_size=120).map(
        lambda rows: people([*range(h), *(s for s, _ in rows)], [*[0] * h, *(c for _, c in rows)])
    )
)


@given(POPULATIONS, st.floats(0, 1), st.integers(0, 2**32), st.sampled_from(["proportional", "equal"]), st.booleans())
def test_chances_sum_to_the_sample_and_weights_to_the_population(bank, part, seed, how, by_cluster) -> None:
    n = len(bank.strata) + round(part * (len(bank.responses) - len(bank.strata)))
    sizes = sizes_of(bank, n, how, None)
    found = draw(bank, sizes, seed, by_cluster=by_cluster)
    assert len(set(found.taken.tolist())) == n
    assert ((found.taken >= 0) & (found.taken < len(bank.responses))).all()
    everyone = (sizes / bank.sizes)[bank.stratum]
    assert everyone.sum() == pytest.approx(n)
    assert ((everyone > 0) & (everyone <= 1)).all()
    for stratum, size in enumerate(bank.sizes.tolist()):
        here = bank.stratum[found.taken] == stratum
        assert here.sum() == sizes[stratum]
        assert found.weight[here].sum() == pytest.approx(size)
    assert (found.chance * found.weight).tolist() == pytest.approx([1.0] * n)
    again = draw(bank, sizes, seed, by_cluster=by_cluster)
    assert again.taken.tolist() == found.taken.tolist()


def test_clusters_share_a_stratum_evenly() -> None:
    bank = people([0] * 1000, [k // 50 for k in range(1000)])
    for seed in range(20):
        found = draw(bank, np.array([60]), seed, by_cluster=True)
        assert np.bincount(bank.cluster[found.taken], minlength=20).tolist() == [3] * 20


def test_every_response_has_its_chance() -> None:
    bank = people([k % 3 == 0 for k in range(90)], [k // 10 for k in range(90)])
    bank = people([int(s) for s in bank.stratum], bank.cluster.tolist())
    sizes = np.array([9, 20])
    hits = np.zeros(90)
    for seed in range(4000):
        hits[draw(bank, sizes, seed, by_cluster=True).taken] += 1
    chance = (sizes / bank.sizes)[bank.stratum]
    z = (hits / 4000 - chance) / np.sqrt(chance * (1 - chance) / 4000)
    assert np.abs(z).max() < 4.5  # 90 responses: beyond 4.5 in one run of 1,600


def test_another_seed_draws_others() -> None:
    bank = people([0] * 500, [k // 10 for k in range(500)])
    draws = {tuple(draw(bank, np.array([50]), seed, by_cluster=True).taken.tolist()) for seed in range(10)}
    assert len(draws) == 10


def test_neyman_needs_something_to_go_by() -> None:
    bank = people([0] * 800 + [1] * 200, [k % 20 for k in range(1000)])
    with pytest.raises(RequestError, match=r'--expect P,P,\.\.\. for "s0", "s1"'):
        sizes_of(bank, 100, "neyman", spreads(bank))
    # 800 · √(.05 · .95) : 200 · .5 = 174.4 : 100
    assert sizes_of(bank, 100, "neyman", spreads(bank, (0.05, 0.5))).tolist() == [64, 36]
    with pytest.raises(RequestError, match="in this order"):
        spreads(bank, (0.1,))
    with pytest.raises(RequestError, match="from 0 to 1"):
        spreads(bank, (0.1, 1.5))


def test_labels_there_already_say_where_verdicts_are_unsure() -> None:
    bank = people([0] * 800 + [1] * 200, [k % 20 for k in range(1000)], known=[98, 48], wrong=[0, 24])
    assert spreads(bank).tolist() == pytest.approx([np.sqrt(0.01 * 0.99), 0.5])
    assert std_error(bank, np.array([80, 20]), spreads(bank)) == pytest.approx(
        np.sqrt(0.64 * 0.0099 / 80 * 0.9 + 0.04 * 0.25 / 20 * 0.9)
    )


def test_sizes_that_cannot_be() -> None:
    bank = people([0, 1, 2], [0, 0, 0])
    with pytest.raises(RequestError, match="there are 3 responses to draw from"):
        sizes_of(bank, 4, "proportional", None)
    with pytest.raises(RequestError, match="3 strata"):
        sizes_of(bank, 2, "proportional", None)
    assert sizes_of(bank, 3, "equal", None).tolist() == [1, 1, 1]


def test_a_stratum_is_not_used_up_while_others_have_members() -> None:
    bank = people([0] * 500 + [1] * 10, [0] * 510)
    assert sizes_of(bank, 100, "equal", None).tolist() == [91, 9]
    assert sizes_of(bank, 510, "equal", None).tolist() == [500, 10]
