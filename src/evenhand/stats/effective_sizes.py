"""How many equally weighted members a weighted population is worth."""

from dataclasses import dataclass, field

from evenhand.stats.arrays import Array


@dataclass(frozen=True, slots=True)
class EffectiveSizes:
    """Kish's effective size (Σw)²/Σw² (Kish 1965, section 11.7) of every statistic's own population.

    Values do not change when all tallies are multiplied by one number, but for divisors n - 1, in which n becomes the effective
    size. Limits at an effective sample size (Korn and Graubard
    1998) and design effects do: their tallies are scaled so that they add up to the effective size of their population.

    Attributes:
        squares: id → Σw² of its population.
        effective: id → its effective size, once it was scaled.
        recording: tallies hold squared weights; their sums are kept, and nothing is scaled.
    """

    squares: dict[str, float] = field(default_factory=dict)
    effective: dict[str, float] = field(default_factory=dict)
    recording: bool = True

    def factor(self, identity: str, sizes: Array) -> float:
        """What the tallies of this id are multiplied by, from their (U,) sizes."""
        total = float(sizes.sum())
        if self.recording:
            self.squares[identity] = total
        squares = self.squares.get(identity, 0.0)
        if self.recording or squares <= 0:
            return 1.0
        self.effective[identity] = total**2 / squares
        return total / squares
