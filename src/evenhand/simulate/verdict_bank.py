"""A bank of 0/1 verdicts without texts: presence rates of known spread, and a judge of known error rates.

Errors can gather within a response or within a cluster. Each such group then has a draw of its own for either
reference label, and a verdict uses it, rather than a fresh one, with probability √correlation: two verdicts of one
group on the same label err together with exactly this correlation, and the expected rates stay as they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from evenhand.errors import RequestError
from evenhand.simulate.population import check_rate, check_whole, met_rate_range

Within = Literal["none", "response", "cluster"]
"""Where errors gather."""
Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BankDesign:
    """What is drawn.

    Attributes:
        n_responses: number of responses, at least 1.
        n_criteria: criteria of a response, at least 1.
        n_clusters: clusters, from 1 to the number of responses; responses take turns.
        spread: width of the range of presence rates around one half, in [0, 1].
        false_accept_rate: probability of a 1 where the reference is 0, in [0, 1].
        false_reject_rate: probability of a 0 where the reference is 1, in [0, 1].
        errors_within: where errors gather.
        error_correlation: correlation of two like errors in such a group, in [0, 1]; 0 where they gather nowhere.
        seed: seed of the generator, 0 or more.

    Raises:
        RequestError: a value out of its range, or a correlation without a place.
    """

    n_responses: int = 210
    n_criteria: int = 10
    n_clusters: int = 15
    spread: float = 0.6
    false_accept_rate: float = 0.1
    false_reject_rate: float = 0.02
    errors_within: Within = "none"
    error_correlation: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("responses", self.n_responses, least=1, most=10_000_000)
        check_whole("criteria", self.n_criteria, least=1, most=1_000)
        check_whole("clusters", self.n_clusters, least=1, most=self.n_responses)
        check_rate("error_correlation", self.error_correlation)
        check_whole("seed", self.seed, least=0, most=2**63)
        met_rate_range(self.spread, self.false_accept_rate, self.false_reject_rate)
        if (self.errors_within == "none") != (self.error_correlation == 0):
            raise RequestError(
                "errors gather where their correlation is above 0: give both a place (response or cluster) and a correlation, or neither"
            )


@dataclass(frozen=True, slots=True)
class VerdictBank:
    """A bank and what was planted.

    Attributes:
        design: what was drawn.
        cluster: (n,) cluster of each response, counted from 0.
        reference: (n, K) labels.
        judge: (n, K) verdicts.
    """

    design: BankDesign
    cluster: Labels
    reference: Labels
    judge: Labels

    def rows(self) -> Iterator[tuple[str | int, ...]]:
        """A header and one row a response, in the layout that an audit recognises."""
        numbers = range(1, self.design.n_criteria + 1)
        yield ("response_id", "cluster_id", *(f"gold_{j}" for j in numbers), *(f"judge_{j}" for j in numbers))
        columns = np.column_stack([self.cluster + 1, self.reference, self.judge]).tolist()
        for number, (cluster, *labels) in enumerate(columns, start=1):
            yield (f"r{number}", f"c{cluster}", *labels)

    def counts(self) -> dict[str, int]:
        """What came of the draws: verdicts on absent and on present criteria, and the errors among them."""
        absent, wrong = self.reference == 0, self.reference != self.judge
        return {
            "n_absent": int(absent.sum()),
            "false_accepts": int((absent & wrong).sum()),
            "n_present": int((~absent).sum()),
            "false_rejects": int((~absent & wrong).sum()),
        }


def draw_bank(design: BankDesign) -> VerdictBank:
    """Draw a bank and its judge; the same design gives the same bank."""
    n, K = design.n_responses, design.n_criteria
    bank, shared, judge = (default_rng([design.seed, stream]) for stream in range(3))
    cluster = np.arange(n) % design.n_clusters
    rate = 0.5 + design.spread * (bank.random((n, 1)) - 0.5)
    reference = (bank.random((n, K)) < rate).astype(np.int64)
    chance = judge.random((n, K))
    if design.errors_within != "none":
        group, n_groups = (np.arange(n), n) if design.errors_within == "response" else (cluster, design.n_clusters)
        together = shared.random((n_groups, 2))[group[:, None], reference]
        chance = np.where(judge.random((n, K)) < np.sqrt(design.error_correlation), together, chance)
    wrong = chance < np.where(reference == 1, design.false_reject_rate, design.false_accept_rate)
    return VerdictBank(design, cluster, reference, np.where(wrong, 1 - reference, reference))
