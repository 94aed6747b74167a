"""The grader behind its marks: rounding and clipping bend a line, and indirect inference straightens it again.

Least squares on marks that were rounded and clipped finds a smaller label effect than the line has that they come from.
What it finds on average is known in closed form for every line with normal noise, at the answers and labels of the run;
the line that would be fitted as this run was is the grader before clipping (Gouriéroux, Monfort and Renault 1993).
"""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from evenhand.stats.arrays import Array, Counts
from evenhand.stats.ensembles import sums_by_group
from evenhand.stats.loop import Grader, fit_grader, products

N_SUMS = 15
_MOVED = 4
"""Place of labelled - control itself among the products."""
_MOST_STEPS, _STEP, _CLOSE, _HALVINGS = 40, 1e-5, 1e-9, 8
_LEAST_NOISE = 0.05
"""Share of a mark below which the noise of whole marks is not looked for at the start."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What becomes of a line: it is rounded half up to whole marks, where marks are whole, and clipped to low ... high."""

    low: float
    high: float
    whole: bool = True

    @property
    def mid(self) -> float:
        """Middle of the scale."""
        return (self.low + self.high) / 2


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers and labels of a run, equal ones together.

    Attributes:
        reference, label: (P,) reference mark and label of each distinct pair.
        weight: (P,) how often it occurs.
        pair: (n,) the pair of each row.
    """

    reference: Array
    label: Array
    weight: Array
    pair: Counts

    @classmethod
    def of(cls, reference: Array, label: Array) -> "Answers":
        """From (n,) reference marks and labels, a row an answer and label."""
        pairs, at, count = np.unique(np.stack([reference, label]), axis=1, return_inverse=True, return_counts=True)
        return cls(pairs[0], pairs[1], count.astype(np.float64), at.reshape(-1).astype(np.int64))


@dataclass(frozen=True, slots=True)
class Latent:
    """A grader before clipping, with what carries sums to it.

    Attributes:
        vector: (6,) its parameters in the order of `Grader`, the noise as its logarithm.
        inverse: (6, 6) how they move with what least squares finds.
        marks: of the run.
        answers: of the run.
    """

    vector: Array
    inverse: Array
    marks: Marks
    answers: Answers

    @property
    def grader(self) -> Grader:
        """The grader itself."""
        return as_grader(self.vector)

    def expected_sums(self, group: Counts, n_groups: int, n_labels: int = 1) -> Array:
        """(U, 15) sums as `label_sums` would be on average were this the grader, by the (n,) unit of each row."""
        expected = _expected(self.vector, self.answers, self.marks)[self.answers.pair]
        return sums_by_group(expected.T, group, n_groups, 1 / n_labels)

    def expected_move(self) -> Array:
        """(n,) marks by which the label of each row moves a mark on average, were this the grader."""
        return np.asarray(_expected(self.vector, self.answers, self.marks)[self.answers.pair, _MOVED])

    def vectors(self, sums: Array) -> Array:
        """Parameters from weighted sums: one Newton step from this grader's own.

        Args:
            sums: (..., 30): sums of the run, then those that `expected_sums` gives of the same units, so that the step sees
                other answers and labels where units are left out or drawn again.

        Returns:
            (..., 6), noise as its logarithm.
        """
        found = as_vector(fit_grader(sums[..., :N_SUMS], self.marks.mid))
        expected = _of_expected(sums[..., N_SUMS:], self.marks.mid)
        return np.asarray(self.vector + (found - expected) @ self.inverse.T)


def as_vector(grader: Grader) -> Array:
    """(..., 6) parameters, the noise as its logarithm; NaN where a noise is 0."""
    columns = np.broadcast_arrays(*(getattr(grader, field.name) for field in fields(grader)))
    noise = np.where(columns[-1] > 0, columns[-1], np.nan)
    return np.stack([*columns[:-1], np.log(noise)], axis=-1)


def as_grader(vector: Array) -> Grader:
    """The grader of (..., 6) parameters."""
    intercept, slope, effect, shift, interaction, noise = np.moveaxis(vector, -1, 0)
    return Grader(intercept, slope, effect, shift, interaction, np.exp(noise))


def expected_mark(line: ArrayLike, noise: ArrayLike, marks: Marks) -> tuple[Array, Array]:
    """Mean of a mark and of its square, (...) each, where line + normal noise becomes a mark.

    Of whole marks low + Σ_k Φ((line - (k - ½))/noise) over k = low + 1 ... high, and of their squares low² + Σ_k (2k - 1) Φ(...);
    else the moments of a normal variable clipped at both ends (Tobin 1958). Without noise the mark itself.
    """
    line, noise = np.broadcast_arrays(np.asarray(line, dtype=np.float64), np.asarray(noise, dtype=np.float64))
    low, high = marks.low, marks.high
    exact = np.clip(np.floor(line + 0.5) if marks.whole else line, low, high)
    spread = np.where(noise > 0, noise, 1.0)
    if marks.whole:
        steps = np.arange(low + 1, high + 1)
        reached = special.ndtr((line[..., None] - steps + 0.5) / spread[..., None])
        mean, square = low + reached.sum(axis=-1), low**2 + reached @ (2 * steps - 1)
    else:
        mean, square = _clipped(line, spread, low, high)
    return np.where(noise > 0, mean, exact), np.where(noise > 0, square, exact**2)


def _clipped(line: Array, noise: Array, low: float, high: float) -> tuple[Array, Array]:
    a, b = (low - line) / noise, (high - line) / noise
    below, above = special.ndtr(a), special.ndtr(-b)
    inside = 1 - below - above
    at_a, at_b = (np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) for z in (a, b))
    mean = low * below + high * above + line * inside + noise * (at_a - at_b)
    square = low**2 * below + high**2 * above + (line**2 + noise**2) * inside
    return mean, square + 2 * line * noise * (at_a - at_b) + noise**2 * (a * at_a - b * at_b)


def _expected(vector: Array, answers: Answers, marks: Marks) -> Array:
    """(..., P, 15) expected products of every distinct pair, of (..., 6) parameters."""
    intercept, slope, effect, shift, interaction, noise = (vector[..., at, None] for at in range(6))
    x, t, spread = answers.label - marks.mid, answers.reference - marks.mid, np.exp(noise)
    line = intercept + slope * answers.reference
    control, square = expected_mark(line, spread, marks)
    labelled, _ = expected_mark(line + shift + effect * x + interaction * t, spread, marks)
    return products(x, t, control, square, labelled - control)


def _fitted(vector: Array, answers: Answers, marks: Marks, n_labels: int) -> Array:
    """(..., 6) what least squares finds on average."""
    sums = np.einsum("...pk,p->...k", _expected(vector, answers, marks), answers.weight / n_labels)
    return _of_expected(sums, marks.mid)


def _of_expected(sums: Array, mid: float) -> Array:
    """(..., 6) the fit of expected sums: the line takes no noise with it there, so the divisor of the noise is n."""
    found, n = as_vector(fit_grader(sums, mid)), sums[..., 0]
    found[..., 5] += 0.5 * np.log(np.maximum(n - 2, 1) / np.maximum(n, 1))
    return found


def latent_grader(sums: Array, answers: Answers, marks: Marks, n_labels: int = 1) -> Latent | None:
    """The grader whose rounded and clipped marks would on average be fitted as these sums are.

    Damped Newton from the fit itself, with a Jacobian by central differences.

    Args:
        sums: (15,) `label_sums` of the whole run.
        answers: its answers and labels, in the order of its rows.
        marks: of the run.
        n_labels: as in `label_sums`.

    Returns:
        None where no line gives such a fit, or several do: marks crowd at the ends of the scale, or hardly spread.
    """
    target = as_vector(fit_grader(sums, marks.mid))
    if not np.isfinite(target).all():
        return None
    here = target.copy()
    if marks.whole:
        here[5] = 0.5 * np.log(max(np.exp(2 * target[5]) - 1 / 12, _LEAST_NOISE**2))
    for _ in range(_MOST_STEPS):
        jacobian, off = _slopes(here, answers, marks, n_labels), _fitted(here, answers, marks, n_labels) - target
        if not _is_solvable(jacobian) or not np.isfinite(off).all():
            return None
        if np.abs(off).max() < _CLOSE:
            return Latent(here, np.asarray(np.linalg.inv(jacobian), dtype=np.float64), marks, answers)
        step = np.asarray(np.linalg.solve(jacobian, off), dtype=np.float64)
        here = _nearer(here, step, off, lambda vector: _fitted(vector, answers, marks, n_labels) - target)
    return None


def _slopes(here: Array, answers: Answers, marks: Marks, n_labels: int) -> Array:
    """(6, 6) derivatives of the fit by the parameters."""
    moved = here + _STEP * np.concatenate([np.eye(6), -np.eye(6)])
    found = _fitted(moved, answers, marks, n_labels)
    return np.asarray((found[:6] - found[6:]).T / (2 * _STEP))


def _is_solvable(jacobian: Array) -> bool:
    return bool(np.isfinite(jacobian).all() and np.linalg.cond(jacobian) < 1e8)


def _nearer(here: Array, step: Array, off: Array, miss: Callable[[Array], Array]) -> Array:
    """The Newton step, halved until it comes nearer; at most a change of 1 in the logarithm of the noise."""
    step = step / max(1.0, abs(float(step[5])))
    for _ in range(_HALVINGS):
        there = miss(here - step)
        if np.isfinite(there).all() and np.abs(there).max() < np.abs(off).max():
            break
        step = step / 2
    return np.asarray(here - step)


def attenuation_curve(grader: Grader, answers: Answers, effects: NDArray[np.float64], marks: Marks) -> Array:
    """What a fit finds on average where the label effect is this or that, marks being rounded and clipped.

    The expectation is exact given the answers and their labels, so the curve has no Monte-Carlo noise.

    Args:
        grader: of shape (), before clipping; its own label effect is not used.
        answers: of the run.
        effects: (E,) label effects before rounding and clipping.
        marks: of the run.

    Returns:
        (E,) fitted label effects.
    """
    columns = [np.broadcast_to(getattr(grader, field.name), effects.shape) for field in fields(grader)]
    columns[2] = effects
    spread = np.where(columns[5] > 0, columns[5], np.exp(-20.0))
    vectors = np.stack([*columns[:5], np.log(spread)], axis=-1)
    return _fitted(vectors, answers, marks, 1)[..., 2]
