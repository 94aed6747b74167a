"""Designs of generalizability studies, written as in the books: "p x i", "p x (i:h)", "i:p", "(p x i):q", "p x r x o".

"x" crosses, ":" nests what stands left of it in what stands right. A term of a design is a set of facets that holds,
with a facet, all facets that one is nested in; its cells are the combinations of their levels.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

_WORD = re.compile(r"\s*([A-Za-z_][\w-]*|[():×*])\s*")
MOST_FACETS = 8


@dataclass(frozen=True, slots=True)
class Term:
    """An effect of a design.

    Attributes:
        facets: all facets whose levels make its cells, in the design's order.
        nesting: those of them that others are nested in.
    """

    facets: tuple[str, ...]
    nesting: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As in the books, facets joined by "*" and set off by ":" from those they are nested in: "p*i:h"."""
        own = "*".join(facet for facet in self.facets if facet not in self.nesting)
        return own + (":" + "*".join(self.nesting) if self.nesting else "")


@dataclass(frozen=True)
class Design:
    """Facets and what each is nested in.

    Attributes:
        facets: in the order written.
        within: facet → all facets that it is nested in.
    """

    facets: tuple[str, ...]
    within: Mapping[str, frozenset[str]]

    @classmethod
    def parse(cls, text: str) -> "Design":
        """Read "p x (i:h)"; names are words, "x" (or × or *) crosses, ":" nests what stands left of it.

        Raises:
            ValueError: the text is no design.
        """
        return _Parser(text).design()

    @classmethod
    def crossed(cls, facets: Sequence[str]) -> "Design":
        """Every facet crossed with every other."""
        return cls(tuple(facets), {facet: frozenset() for facet in facets})

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Every term, those of fewer facets first."""
        found = []
        for size in range(1, len(self.facets) + 1):
            for chosen in itertools.combinations(self.facets, size):
                above: frozenset[str] = frozenset().union(*(self.within[facet] for facet in chosen))
                if above <= set(chosen):
                    found.append(Term(chosen, tuple(facet for facet in chosen if facet in above)))
        return tuple(found)

    def closure(self, facets: Sequence[str]) -> frozenset[str]:
        """These facets with all that they are nested in."""
        return frozenset(facets).union(*(self.within[facet] for facet in facets))


class _Parser:
    """Products of factors; a factor nests by ":" in the one that follows it."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.words = [word for word in _WORD.split(text) if word]
        self.within: dict[str, frozenset[str]] = {}

    def design(self) -> Design:
        facets = self._product()
        if self.at < len(self.words) or not 0 < len(facets) <= MOST_FACETS:
            raise self._refused()
        return Design(tuple(facets), dict(self.within))

    def _refused(self) -> ValueError:
        return ValueError(f'"{self.text}" is no design: write "p x i", "p x (i:h)", "i:p", up to {MOST_FACETS} facets')

    def _peek(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def _take(self) -> str:
        self.at += 1
        return self.words[self.at - 1] if self.at <= len(self.words) else ""

    def _product(self) -> list[str]:
        facets = self._nested()
        while self._peek() in ("x", "X", "×", "*"):
            self._take()
            facets += self._nested()
        return facets

    def _nested(self) -> list[str]:
        inner = self._factor()
        if self._peek() != ":":
            return inner
        self._take()
        outer = self._nested()
        above = frozenset(outer).union(*(self.within[facet] for facet in outer))
        for facet in inner:
            self.within[facet] |= above
        return [*inner, *outer]

    def _factor(self) -> list[str]:
        word = self._take()
        if word == "(":
            facets = self._product()
            if self._take() != ")":
                raise self._refused()
            return facets
        if not word or not (word[0].isalpha() or word[0] == "_") or word in ("x", "X") or word in self.within:
            raise self._refused()
        self.within[word] = frozenset()
        return [word]
