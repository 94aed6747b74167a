"""Analysis of variance of any crossed or nested design, every facet random: sums of squares, mean squares, components.

The last term of a design, of all facets, is what is left: their interaction with everything unexplained.

With every combination of levels present (a balanced layout) the mean squares are independent multiples of chi-squared
under normal effects. With holes the uncorrected sums of squares are set equal to their expectations (Henderson's
method I, 1953, Biometrics 9; Brennan 2001, Generalizability Theory, chapter 7), which on a balanced layout is the same.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.stats.anova_design import Design
from evenhand.stats.arrays import Array, Counts, ratio

_DENSE = 4
"""Integer codes are taken as they are where their range is at most so many times their number."""
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class Anova:
    """Sums over one layout; all arrays stand in the order of the design's terms.

    Attributes:
        design: of the layout.
        n: values.
        mean: of all values.
        n_cells: (T,) cells of each term that hold a value.
        squares: (T,) sum over a term's cells of their squared total over their number of values, the values taken about
            their mean; ``uncorrected`` has them about 0.
        expected: (T, T) coefficients of the components in the expectations of ``squares``.
        is_balanced: every combination of levels is there, once.
    """

    design: Design
    n: int
    mean: float
    n_cells: Array
    squares: Array
    expected: Array
    is_balanced: bool

    @property
    def uncorrected(self) -> Array:
        """(T + 1,) uncorrected sums of squares, last that of the mean."""
        return np.append(self.squares, 0.0) + self.n * self.mean**2

    @property
    def df(self) -> Array:
        """(T,) degrees of freedom of a balanced layout."""
        return degrees_of_freedom(self.design, self.n_cells)

    @property
    def mean_squares(self) -> Array:
        """(T,) mean squares of a balanced layout; NaN without degrees of freedom, and on an unbalanced one."""
        if not self.is_balanced:
            return np.full(len(self.design.terms), np.nan)
        return mean_squares(self.design, self.squares, self.df)

    @cached_property
    def components(self) -> Array:
        """(T,) variance components, raw: they may be negative; NaN where the layout does not tell them apart."""
        if self.is_balanced:
            return from_mean_squares(self.design, self.n_cells) @ self.mean_squares
        return _solved(self.expected, self.squares)

    def component(self, name: str) -> float:
        """The component of the term of this name ("p", "p*i:h")."""
        return float(self.components[[term.name for term in self.design.terms].index(name)])


def _below(design: Design) -> list[list[int]]:
    """For each term the terms of a part of its facets."""
    sets = [set(term.facets) for term in design.terms]
    return [[at for at, other in enumerate(sets) if other < mine] for mine in sets]


def degrees_of_freedom(design: Design, n_cells: Array) -> Array:
    """(T,) degrees of freedom from the (T,) cells of a balanced layout."""
    df = np.empty(len(n_cells))
    for at, below in enumerate(_below(design)):
        df[at] = n_cells[at] - 1 - df[below].sum()
    return df


def mean_squares(design: Design, squares: Array, df: Array, scale: ArrayLike = 0.0) -> Array:
    """Mean squares of a balanced layout; NaN without degrees of freedom.

    Args:
        design: its terms.
        squares: (..., T) sums of squares about the mean.
        df: (..., T) or (T,) degrees of freedom.
        scale: (...) size of the sums they come from, against which what is left by rounding counts as 0.

    Returns:
        (..., T).
    """
    found = np.empty(squares.shape)
    for at, below in enumerate(_below(design)):
        found[..., at] = squares[..., at] - found[..., below].sum(axis=-1)
    negligible = _NEGLIGIBLE * np.maximum(np.abs(squares).max(axis=-1), np.asarray(scale))[..., None]
    found = np.where(np.abs(found) <= negligible, 0.0, found)
    return np.where(np.asarray(df) > 0, ratio(found, np.asarray(df, dtype=np.float64)), np.nan)


def from_mean_squares(design: Design, n_cells: Array) -> Array:
    """(T, T) coefficients that make components of a balanced layout out of its mean squares: components = C @ squares.

    The expected mean square of a term is the sum over the terms that hold it of their component times the values in one
    of their cells (Cornfield and Tukey 1956).
    """
    sets = [set(term.facets) for term in design.terms]
    expected = np.array(
        [[n_cells[-1] / n_cells[at] if mine <= other else 0.0 for at, other in enumerate(sets)] for mine in sets]
    )
    return np.linalg.inv(expected)


def crossed_mean_squares(products: Array, sums: Array, n: Array, shape: Sequence[int]) -> Array:
    """Mean squares of persons crossed with facets that are crossed with each other, from additive sums.

    Args:
        products: (..., C, C) sums over persons of the products of their values under two combinations of conditions.
        sums: (..., C) sums over persons.
        n: (...) persons.
        shape: levels of each facet; C is their product, the last facet changing fastest.

    Returns:
        (..., T) in the order of the terms of ``Design.crossed(("p", *facets))``; NaN without degrees of freedom.
    """
    levels = np.indices(tuple(shape)).reshape(len(shape), -1)
    n_conditions, persons = levels.shape[1], np.asarray(n, dtype=np.float64)
    of_sums = ratio(sums[..., :, None] * sums[..., None, :], persons[..., None, None])
    of_mean = of_sums.sum(axis=(-2, -1)) / n_conditions
    design = _persons_by(shape)
    squares, df = [], []
    for term in design.terms:
        kept = [int(facet) for facet in term.facets if facet != "p"]
        alike = (levels[kept, :, None] == levels[kept, None, :]).all(axis=0)
        source = products if "p" in term.facets else of_sums
        values_a_cell = n_conditions / math.prod(shape[axis] for axis in kept)
        squares.append(np.where(alike, source, 0.0).sum(axis=(-2, -1)) / values_a_cell - of_mean)
        df.append(
            (persons - 1 if "p" in term.facets else np.ones_like(persons)) * math.prod(shape[axis] - 1 for axis in kept)
        )
    scale = np.abs(products).max(axis=(-2, -1), initial=0.0)
    return mean_squares(design, np.stack(squares, axis=-1), np.stack(df, axis=-1), scale)


def crossed_components(squares: Array, n: Array, shape: Sequence[int]) -> Array:
    """(..., T) variance components from the (..., T) ``crossed_mean_squares`` of (...) persons."""
    sets = [set(term.facets) for term in _persons_by(shape).terms]
    persons = np.asarray(n, dtype=np.float64)
    found = []
    for mine in sets:
        signed = sum((-1.0) ** len(other - mine) * squares[..., at] for at, other in enumerate(sets) if mine <= other)
        values_a_cell = math.prod(size for axis, size in enumerate(shape) if str(axis) not in mine)
        found.append(ratio(np.asarray(signed), values_a_cell * (persons if "p" not in mine else np.ones_like(persons))))
    return np.stack(found, axis=-1)


def _persons_by(shape: Sequence[int]) -> Design:
    """Persons, then facets that are called by their positions."""
    return Design.crossed(("p", *(str(axis) for axis in range(len(shape)))))


def analyse(values: ArrayLike, levels: Mapping[str, ArrayLike], design: Design | str) -> Anova:
    """Sums of one layout, one value a combination of levels, holes allowed.

    Args:
        values: (n,) finite values.
        levels: facet → (n,) the level of each value, integers or texts. A nested facet may number its levels anew within
            each level above it, or throughout.
        design: of these facets.

    Raises:
        ValueError: facets or lengths that do not fit, a value that is not finite, or two values in one cell.
    """
    plan = Design.parse(design) if isinstance(design, str) else design
    y = np.asarray(values, dtype=np.float64).ravel()
    if set(levels) != set(plan.facets):
        raise ValueError(f"the design has facets {', '.join(plan.facets)}, the levels {', '.join(levels)}")
    codes = {facet: _numbered(np.asarray(levels[facet]).ravel()) for facet in plan.facets}
    if any(len(code) != len(y) for code, _ in codes.values()):
        raise ValueError("every facet needs one level a value")
    if not np.isfinite(y).all():
        raise ValueError("a value is not finite: leave it out, together with its levels")
    cells = [_cells([codes[facet] for facet in term.facets]) for term in plan.terms]
    n_cells = np.array([size for _, size in cells], dtype=np.float64)
    if n_cells[-1] < len(y):
        raise ValueError("a combination of levels holds two values: name the facet that tells them apart")
    mean = float(y.mean()) if len(y) else math.nan
    sizes = [np.bincount(code, minlength=size) for code, size in cells]
    about_mean = y - mean if len(y) and np.ptp(y) > 0 else np.zeros(len(y))
    totals = [about_mean if size == len(y) else np.bincount(code, about_mean, size) for code, size in cells]
    squares = np.array(
        [
            np.square(total).sum() if len(total) == len(y) else (np.square(total) / size).sum()
            for total, size in zip(totals, sizes, strict=True)
        ]
    )
    is_balanced = len(y) > 0 and all(bool((size == size[:1]).all()) for size in sizes) and _is_orthogonal(plan, n_cells)
    expected = _balanced_expectations(plan, n_cells) if is_balanced else _expectations(plan, cells, sizes)
    return Anova(plan, len(y), mean, n_cells, squares, expected, is_balanced)


def _numbered(levels: NDArray[np.generic]) -> tuple[Counts, int]:
    """Levels as numbers from 0, and how many numbers there are; those of dense integers may include unused ones."""
    if np.issubdtype(levels.dtype, np.integer) and len(levels):
        low, high = int(levels.min()), int(levels.max())
        if high - low < _DENSE * len(levels):
            return levels.astype(np.int64) - low, high - low + 1
    names, code = np.unique(levels, return_inverse=True)
    return code.astype(np.int64), len(names)


def _cells(facets: Sequence[tuple[Counts, int]]) -> tuple[Counts, int]:
    """Number of the combination of levels of each value, and how many combinations occur."""
    code, size = facets[0]
    for other, n_others in facets[1:]:
        if size * n_others > _DENSE * max(len(code), 1):
            code, size = _used(code, size)
        code, size = code * n_others + other, size * n_others
        if size > _DENSE * max(len(code), 1):
            names, code = np.unique(code, return_inverse=True)
            size = len(names)
    return _used(code, size)


def _used(code: Counts, size: int) -> tuple[Counts, int]:
    """The same numbers without those that do not occur."""
    occurs = np.bincount(code, minlength=size) > 0
    if occurs.all():
        return code, size
    return (np.cumsum(occurs) - 1)[code], int(occurs.sum())


def _meets(plan: Design) -> list[list[tuple[int, int]]]:
    """For each pair of terms the term of all their facets and that of those they share, -1 where they share none."""
    at = {frozenset(term.facets): number for number, term in enumerate(plan.terms)}
    sets = [frozenset(term.facets) for term in plan.terms]
    return [[(at[one | other], at.get(one & other, -1)) for other in sets] for one in sets]


def _is_orthogonal(plan: Design, n_cells: Array) -> bool:
    """Whether cells of equal size combine freely: a Latin square has equal cells and does not."""
    sizes = np.append(n_cells, 1.0)
    return all(
        sizes[union] * sizes[shared] == sizes[one] * sizes[other]
        for one, row in enumerate(_meets(plan))
        for other, (union, shared) in enumerate(row)
    )


def _balanced_expectations(plan: Design, n_cells: Array) -> Array:
    """(T, T) coefficients of the components in the sums of squares about the mean of a balanced layout."""
    n = n_cells[-1]
    unions = np.array([[union for union, _ in row] for row in _meets(plan)])
    return np.asarray(n * (n_cells[:, None] / n_cells[unions] - 1 / n_cells[None, :]), dtype=np.float64)


def _expectations(plan: Design, cells: Sequence[tuple[Counts, int]], sizes: Sequence[Counts]) -> Array:
    """(T, T) coefficients of the components in the sums of squares about the mean, of any layout."""
    n = len(cells[-1][0])
    of_mean = np.array([np.square(size.astype(np.float64)).sum() / max(n, 1) for size in sizes])
    expected = np.empty((len(cells), len(cells)))
    for one, row in enumerate(_meets(plan)):
        for other, (union, _) in enumerate(row):
            code, n_union = cells[union]
            above = np.zeros(n_union, dtype=np.int64)
            above[code] = cells[one][0]
            in_union = np.square(sizes[union].astype(np.float64))
            expected[one, other] = (in_union / sizes[one][above]).sum() - of_mean[other]
    return expected


def _solved(expected: Array, squares: Array) -> Array:
    """Components from sums of squares set equal to their expectations; NaN where these do not determine them."""
    if not np.isfinite(squares).all() or np.linalg.matrix_rank(
        expected, tol=_NEGLIGIBLE * np.abs(expected).max()
    ) < len(squares):
        return np.full(len(squares), np.nan)
    return np.asarray(np.linalg.solve(expected, squares), dtype=np.float64)
