"""Prompt templates: files of instruction with places for data, where data never becomes instruction.

Templates are Jinja2 in a sandbox. Every text of the bank arrives as a value: several lines stand within a fence whose mark does
not occur in them, one line stands as one line. No text is ever compiled as a template.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError
from jinja2 import Template as Compiled
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from evenhand.errors import RequestError, SourceError, did_you_mean, printable

BUILT_IN = "builtin:"
_SENTINEL = "\ue000block\ue000"
_FILTERS = ("default", "first", "float", "int", "join", "last", "length", "list", "lower", "round", "trim", "upper")
_FAULTS = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)
"""What a template's own code may raise while it is rendered."""


class _Sandbox(ImmutableSandboxedEnvironment):
    """Places, conditions and loops over what a prompt is made of; no globals, and nothing that multiplies text."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True)
        self.globals.clear()
        self.filters = {name: self.filters[name] for name in _FILTERS}

    def call_binop(self, context: Context, operator: str, left: object, right: object) -> object:
        del context, left, right
        raise SecurityError(f"{operator} is not for templates, which place texts and do not compute")


_ENVIRONMENT = _Sandbox()


@cache
def _compiled(text: str) -> Compiled:
    return _ENVIRONMENT.from_string(text)


@dataclass(frozen=True, slots=True)
class Template:
    """A template and the file it came from."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        """Of its text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def render(self, values: Mapping[str, object]) -> str:
        """The text with its places filled.

        Raises:
            RequestError: a place nothing fills, or a fault in the template; with its line.
        """
        try:
            return _compiled(self.text).render(values)
        except TemplateSyntaxError as problem:
            raise RequestError(
                f"{printable(self.name)} line {problem.lineno}: {printable(problem.message or '')}"
            ) from None
        except _FAULTS as problem:
            said = printable(str(problem))
            unknown = said.split("'")[1] if "undefined" in said and said.count("'") >= 2 else ""
            hint = did_you_mean(unknown, list(values)) if unknown else ""
            raise RequestError(
                f"{printable(self.name)}: {said}{hint}; a template may name {', '.join(values)}"
            ) from None


def read_template(name: str, folder: Path) -> Template:
    """A template file beside the plan, or one that comes along as ``builtin:rubric/plain``.

    Raises:
        SourceError: there is none.
    """
    if name.startswith(BUILT_IN):
        kind, _, wanted = name.removeprefix(BUILT_IN).partition("/")
        root = files("evenhand.data") / "prompts"
        known = sorted(
            f"{one.name}/{two.name.removesuffix('.txt')}"
            for one in root.iterdir()
            if one.is_dir()
            for two in one.iterdir()
        )
        if f"{kind}/{wanted}" not in known:
            raise SourceError(
                f'"{printable(name)}": no such template comes along{did_you_mean(f"{kind}/{wanted}", known)}; there are '
                f"{', '.join(BUILT_IN + one for one in known)}"
            )
        return Template(name, (root / kind / f"{wanted}.txt").read_text(encoding="utf-8"))
    path = folder / name
    try:
        return Template(name, path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise SourceError(
            f"{printable(name)}: this template cannot be read ({problem.strerror}); templates stand beside the plan"
        ) from None
    except UnicodeDecodeError:
        raise SourceError(f"{printable(name)}: a template is UTF-8 text") from None


def check_block_place(template: Template, values: Mapping[str, object]) -> None:
    """Hold a template to having one place for the block, that nothing else depends on.

    Raises:
        RequestError: the place is missing, occurs twice, or the rest of the prompt changes with the block.
    """
    marked = template.render({**values, "block": _SENTINEL})
    if marked.count(_SENTINEL) != 1:
        raise RequestError(
            f"{printable(template.name)}: arms add a block, so the template needs {{{{ block }}}} once (it stands there {marked.count(_SENTINEL)} times)"
        )
    if marked.replace(_SENTINEL, "") != template.render({**values, "block": ""}):
        raise RequestError(
            f"{printable(template.name)}: the prompt changes elsewhere when there is a block; arms may differ in the block only"
        )


def fenced(text: str, noun: str) -> str:
    """Several lines of data between two marks that do not occur in them; the marks depend on the text alone."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    length = next(size for size in range(8, len(digest) + 1) if digest[:size] not in text or size == len(digest))
    mark = digest[:length]
    return f"<<<{noun} {mark}\n{text}\n{mark} {noun}>>>"


def in_one_line(text: str) -> str:
    """Data on one line: line breaks and control characters as spaces."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())
