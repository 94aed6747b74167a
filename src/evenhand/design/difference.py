"""The difference between the prompts of a response's arms, as text or as a page."""

import html

from evenhand.design.proof import Difference, Proof
from evenhand.errors import printable

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid #888;padding:.8rem;margin:.3rem 0 1rem}"
    "ins{text-decoration:none;outline:2px solid #0a6}@media(prefers-color-scheme:dark){body{background:#111;color:#eee}}"
)


def as_text(proof: Proof) -> str:
    """The first responses, arm by arm: the bytes of the block, and what stands around it."""
    lines = [headline(proof), ""]
    for one in proof.differences:
        before, after = len(one.before.encode()), len(one.after.encode())
        lines.append(
            f"{_named(one)}: {before:,} bytes before and {after:,} bytes behind the block are equal in all arms"
        )
        for arm, (start, end) in one.places.items():
            lines.append(f"  {printable(arm)}: " + (f"bytes {start:,} to {end:,}" if end > start else "nothing"))
            lines += [f"    + {printable(line)}" for line in one.blocks[arm].splitlines()]
    return "\n".join(lines) + "\n"


def as_html(proof: Proof) -> str:
    """The same as a page without scripts; texts of the data are escaped."""
    parts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>Arms of a plan</title><style>{_STYLE}</style>"]
    parts.append(f"<h1>What the arms of a response differ in</h1><p>{html.escape(headline(proof))}</p>")
    for one in proof.differences:
        parts.append(f"<h2>{html.escape(_named(one))}</h2>")
        for arm, (start, end) in one.places.items():
            added = f"bytes {start:,} to {end:,}" if end > start else "nothing added"
            parts.append(f"<h3>{html.escape(printable(arm))}: {added}</h3>")
            before, block, after = (_shown(text) for text in (one.before, one.blocks[arm], one.after))
            parts.append(f"<pre>{before}<ins>{block}</ins>{after}</pre>")
    return "\n".join(parts) + "\n"


def headline(proof: Proof) -> str:
    """How many responses were checked and what came of it."""
    said = f"prompts of one response differ only in the block ({proof.equal:,} of {proof.responses:,} checked)"
    return said + (f"; the first that does not: {proof.first_fault}" if proof.first_fault else "")


def _shown(text: str) -> str:
    return html.escape("\n".join(printable(line) for line in text.split("\n")))


def _named(one: Difference) -> str:
    return f'response "{printable(one.response_id)}"' + (f" ({printable(one.where)})" if one.where else "")
