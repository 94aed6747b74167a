"""The Python face: audit files or frames and hold the result."""

import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import narwhals as nw

from evenhand.auditing import Progress, Session, check_sources, run_audit
from evenhand.errors import RequestError, UnmetRequirementError, printable
from evenhand.importers.frames import as_frame
from evenhand.output import check_file, check_place, write_text
from evenhand.report.csv_tables import ESTIMATE_COLUMNS
from evenhand.report.render import REPORT_MARK, to_frame, to_html, to_markdown
from evenhand.report.terminal import summary
from evenhand.results import Audit, Estimate
from evenhand.saving import save
from evenhand.verdicts.engine import Engine
from evenhand.verdicts.spec import Spec

FrameLibrary = Literal["pandas", "polars", "pyarrow"]


@dataclass(frozen=True)
class AuditResult:
    """An audit in memory: look estimates up by id, have them as a frame, write a report, hold them to a requirement."""

    audit: Audit
    spec: Spec
    library: FrameLibrary | None = None

    def __getitem__(self, estimate_id: str) -> Estimate:
        """The estimate with this id; raises RequestError naming the nearest one."""
        return self.audit[estimate_id]

    def __repr__(self) -> str:
        return summary(self.audit)

    def _repr_html_(self) -> str:
        return to_frame(self.audit)

    def frame(self, library: FrameLibrary | None = None) -> Any:
        """Estimates as a frame of the input's library, one row each.

        Args:
            library: pandas, polars or pyarrow; the input's by default, else the first that is installed.

        Raises:
            RequestError: none of the three is installed.
        """
        numbers = {"estimate", "std_error", "ci_low", "ci_high", "events", "trials", "design_effect"}
        counts = {"n_used", "n_excluded", "n_clusters"}
        schema = nw.Schema(
            {
                name: nw.Float64() if name in numbers else nw.Int64() if name in counts else nw.String()
                for name in ESTIMATE_COLUMNS
            }
        )
        data = {name: [getattr(estimate, name) for estimate in self.audit] for name in ESTIMATE_COLUMNS}
        chosen = library or self.library
        backends: list[FrameLibrary] = [chosen] if chosen else ["polars", "pandas", "pyarrow"]
        for backend in backends:
            try:
                return nw.from_dict(data, schema, backend=backend).to_native()
            except ModuleNotFoundError:
                continue
        raise RequestError("a frame needs pandas, Polars or PyArrow: pip install 'evenhand[polars]'")

    def report(self, path: str | Path) -> Path:
        """Write the report as HTML, or as Markdown where the name ends in .md; see :func:`write_report`."""
        return write_report(self.audit, Path(path))

    def require(self, *requirements: str) -> None:
        """Raise unless every requirement is met.

        Args:
            requirements: such as ``"accuracy[cut=5]/judge >= 0.85"``; without a field the whole interval is judged.

        Raises:
            UnmetRequirementError: with the numbers, where one is failed or undecided.
        """
        from evenhand.audits.gates import judge_requirement

        outcomes = [judge_requirement(self.audit, text) for text in requirements]
        unmet = [outcome.sentence for outcome in outcomes if outcome.verdict != "met"]
        if unmet:
            raise UnmetRequirementError("; ".join(unmet))


def write_report(audit: Audit, path: Path) -> Path:
    """Write the report of an audit: HTML (.html, .htm) or Markdown (.md), by the name.

    Raises:
        RequestError: another ending.
        OutputError: something stands there that is no report, or the place cannot be written.
    """
    kind = _REPORTS.get(path.suffix.casefold())
    if kind is None:
        raise RequestError(f"{printable(str(path))}: a report is named .html or .md")
    check_file(path, _is_report)
    write_text(path, kind(audit))
    return path


_REPORTS = {".html": to_html, ".htm": to_html, ".md": to_markdown}


def _is_report(path: Path) -> bool:
    with path.open("rb") as stream:
        return REPORT_MARK.encode() in stream.read(4_096)


def audit(
    *sources: object,
    labels: object | None = None,
    spec: Spec | str | Path | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> AuditResult:
    """Audit verdicts in files or frames.

    Args:
        sources: paths, or pandas, Polars or PyArrow frames; those with the same columns are stacked.
        labels: a path or frame of reference labels, joined on the response id.
        spec: a saved mapping, or the path of one; ``options`` override it.
        out: also write the folder of the audit there.
        progress: told of each step, as text.
        options: roles and choices as on the command line: response, cluster, reference, judge, criteria, blank, cut, ...

    Returns:
        The audit, with lookup by id, ``frame()``, ``report()`` and ``require()``.

    Raises:
        EvenhandError: the request or the data cannot carry it; the message says what, where and the way out.
    """
    check_sources(sources)
    chosen = complete_spec(spec, options)
    paths = [Path(one) for one in (*sources, labels) if isinstance(one, str | Path)]
    if out is not None:
        check_place(Path(out), paths)
    started = time.time()
    with Engine() as engine:
        session = run_audit(engine, sources, chosen, labels, progress)
        if out is not None:
            save(session, Path(out), run_facts(session, paths, started), paths)
    return AuditResult(session.audit, session.spec, _library(sources))


def complete_spec(spec: Spec | str | Path | None, options: dict[str, Any]) -> Spec:
    """A saved spec with options over it."""
    base = Spec() if spec is None else spec if isinstance(spec, Spec) else Spec.load(Path(spec))
    return Spec.of(**{**base.model_dump(exclude_defaults=True), **options})


def run_facts(session: Session, paths: Sequence[Path], started: float) -> dict[str, object]:
    """What may differ between two equal audits."""
    return {
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": round(time.time() - started, 3),
        "sources": [str(path.resolve()) for path in paths],
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("evenhand", "numpy", "scipy", "duckdb")},
        "n_estimates": len(session.audit.estimates),
    }


def _library(sources: Sequence[object]) -> FrameLibrary | None:
    for one in sources:
        if not isinstance(one, str | Path) and (frame := as_frame(one)) is not None:
            name = str(frame.implementation).casefold()
            if name in ("pandas", "polars", "pyarrow"):
                return name  # type: ignore[return-value]
    return None
