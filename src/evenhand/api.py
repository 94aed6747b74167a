"""The Python face: audit or convert files or frames and hold the result."""

import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Self

import narwhals as nw

from evenhand.auditing import Progress, Session, check_sources, run_audit
from evenhand.converting import Conversion, check_target, explain_row, must_be_whole
from evenhand.converting import convert as read_verdicts
from evenhand.converting import write as write_verdicts
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
        return _native_frame(data, schema, library or self.library)

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


@dataclass(frozen=True)
class ConvertResult:
    """Single verdicts, held until it is closed: have them as a frame, write them, ask what became of a row.

    Use it as a context, or call ``close()``; what is left open goes with the object.

    Attributes:
        spec: under which the table gives the numbers of its sources.
        ledger: the account of rows, one sentence each: those of the files, then verdicts by side, status and reason.
        notes: what a reader should know about the sources.
        n_verdicts: rows of the table.
    """

    spec: Spec
    ledger: tuple[str, ...]
    notes: tuple[str, ...]
    n_verdicts: int
    conversion: Conversion = field(repr=False)
    paths: tuple[Path, ...] = field(default=(), repr=False)
    library: FrameLibrary | None = None

    def frame(self, library: FrameLibrary | None = None) -> Any:
        """The table as a frame of the input's library, one row a verdict; texts but for source_row, a whole number.

        Args:
            library: pandas, polars or pyarrow; the input's by default, else the first that is installed.

        Raises:
            RequestError: none of the three is installed.
        """
        verdicts = self.conversion.verdicts
        with verdicts.engine.in_words():
            found = list(zip(*verdicts.engine.rows(verdicts.ordered), strict=True))
        schema = nw.Schema({name: nw.Int64() if name == "source_row" else nw.String() for name in verdicts.columns})
        data = {name: list(values) for name, values in zip(verdicts.columns, found, strict=True)}
        return _native_frame(data, schema, library or self.library)

    def write(self, path: str | Path) -> Path:
        """Write the table as Parquet, CSV or JSON lines, by the ending; Parquet holds the spec that reads it again.

        Raises:
            RequestError: another ending.
            OutputError: a source or a foreign file stands there, or the place cannot be written.
        """
        target = Path(path)
        check_target(target, self.paths)
        with self.conversion.verdicts.engine.in_words():
            write_verdicts(self.conversion, target)
        return target

    def explain_row(self, row: int) -> str:
        """What became of one row of the sources, numbered as their user counts; raises RequestError where there is none."""
        with self.conversion.verdicts.engine.in_words():
            return explain_row(self.conversion, row)

    def close(self) -> None:
        """Let the verdicts go; the ledger, the notes and the spec stay."""
        self.conversion.verdicts.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_problem: object) -> None:
        self.close()


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


def convert(
    *sources: object,
    labels: object | None = None,
    spec: Spec | str | Path | None = None,
    to: str | Path | None = None,
    strict: bool = False,
    **options: Any,
) -> ConvertResult:
    """Read files, logs of other tools or frames as one table of single verdicts: one row a verdict, nothing coerced.

    Args:
        sources: paths, or pandas, Polars or PyArrow frames; those with the same columns are stacked.
        labels: a path or frame of reference labels, joined on the response id.
        spec: a saved mapping, or the path of one; ``options`` override it.
        to: also write the table there: a .parquet, .csv or .jsonl file.
        strict: refuse when a row is left out or a verdict is not scored.
        options: roles and choices as on the command line: response, cluster, reference, judge, parse, ...

    Returns:
        The table, with ``frame()``, ``write()``, ``explain_row()``, its ledger and its notes.

    Raises:
        EvenhandError: the request or the data cannot carry it; the message says what, where and the way out.
    """
    check_sources(sources)
    chosen = complete_spec(spec, options)
    paths = tuple(Path(one) for one in (*sources, labels) if isinstance(one, str | Path))
    if to is not None:
        check_target(Path(to), paths)
    engine = Engine()
    with _closed_on_failure(engine):
        made = read_verdicts(engine, sources, chosen, labels)
        if strict:
            must_be_whole(made)
        result = ConvertResult(
            spec=made.verdicts.spec,
            ledger=tuple(made.ledger()),
            notes=made.notes,
            n_verdicts=made.n_verdicts,
            conversion=made,
            paths=paths,
            library=_library(sources),
        )
        if to is not None:
            write_verdicts(made, Path(to))
    return result


@contextmanager
def _closed_on_failure(engine: Engine) -> Iterator[None]:
    """An engine at work that stays open where the work ends well."""
    with ExitStack() as held:
        held.callback(engine.close)
        with engine.in_words():
            yield
        held.pop_all()


def _native_frame(data: Mapping[str, list[Any]], schema: nw.Schema, library: FrameLibrary | None) -> Any:
    """Columns as a frame of a library, or of the first that is installed."""
    backends: list[FrameLibrary] = [library] if library else ["polars", "pandas", "pyarrow"]
    for backend in backends:
        try:
            return nw.from_dict(data, schema, backend=backend).to_native()
        except ModuleNotFoundError:
            continue
    raise RequestError("a frame needs pandas, Polars or PyArrow: pip install 'evenhand[polars]'")


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
