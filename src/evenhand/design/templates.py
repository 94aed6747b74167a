"""Prompt templates: files of instruction with places for data, where data never becomes instruction.

Templates are Jinja2 in a sandbox. Every text of the bank arrives as a value: several lines stand within a fence whose mark does
not occur in them, one line stands as one line. No text is ever compiled as a template.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from evenhand.errors import RequestError, SourceError, did_you_mean, printable

BUILT_IN = "builtin:"
_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False, trim_blocks=True, lstrip_blocks=True
)
_SENTINEL = "\ue000block\ue000"


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
            return _ENVIRONMENT.from_string(self.text).render(values).strip() + "\n"
        except TemplateSyntaxError as problem:
            raise RequestError(
                f"{printable(self.name)} line {problem.lineno}: {printable(problem.message or '')}"
            ) from None
        except TemplateError as problem:
            said = printable(problem.message or str(problem))
            unknown = said.split("'")[1] if said.count("'") >= 2 else ""
            raise RequestError(
                f"{printable(self.name)}: {said}{did_you_mean(unknown, list(values)) if unknown else ''}; "
                f"a template may name {', '.join(values)}"
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
    if marked.replace(_SENTINEL, "").strip() != template.render({**values, "block": ""}).strip():
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
