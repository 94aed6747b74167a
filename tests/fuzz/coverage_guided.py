"""Coverage-guided fuzzing with Atheris of one reader or parser, in a process of its own:

    python tests/fuzz/coverage_guided.py TARGET CORPUS [-max_total_time=60] [libFuzzer's other options]

Bytes are mutated towards branches of this package not seen before. A target fails with anything but an error of ours, or with an
account of rows that does not balance; what made it fail is written to the corpus folder's side as crash-*.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["evenhand"]):
    import evenhand.verdicts.parsing.forms as forms
    from evenhand.converting import convert
    from evenhand.errors import EvenhandError, SourceError
    from evenhand.importers.json_stream import JsonFile, lines, partial
    from evenhand.importers.logs import read_logs
    from evenhand.importers.registry import recognise
    from evenhand.importers.safe_zip import SafeZip
    from evenhand.verdicts.engine import Engine
    from evenhand.verdicts.spec import Spec

sys.path.append(str(Path(__file__).parents[1] / "importers"))
import contextlib

from log_reading import balanced

FOLDER = Path(tempfile.mkdtemp())


def _written(data: bytes, ending: str) -> Path:
    path = FOLDER / f"fuzzed{ending}"
    path.write_bytes(data)
    return path


def parsers(data: bytes) -> None:
    """Every form of reply on one text."""
    text = data.decode("utf-8", "surrogateescape").encode("utf-8", "replace").decode()
    for shape in forms.FORMS:
        scales = [{"levels": ("bad", "fair", "good"), "range": (0, 10)}, {"range": (1, 5)}]
        for scale in scales:
            form = forms.declared_form(Spec.of(parse=shape.replace("WORD", "Score").replace("KEY", "score"), **scale))
            assert form is not None
            parsed = form.parser.parse(text)
            assert (parsed.value is not None) == (parsed.status == "scored")
            assert parsed.status in ("scored", "tied", "abstained") or parsed.reason


def json_stream(data: bytes) -> None:
    """One element at a time, one line at a time, and the beginning of a document."""
    partial(data.decode("utf-8", "ignore"))
    for read in (
        lambda: list(JsonFile(_written(data, ".json"), "a.b").elements()),
        lambda: list(lines(_written(data, ".jsonl"))),
    ):
        with contextlib.suppress(SourceError):
            read()


def zips(data: bytes) -> None:
    """The members of an archive."""
    try:
        with SafeZip(_written(data, ".eval")) as archive:
            for name in list(archive.members)[:50]:
                with contextlib.suppress(SourceError):
                    archive.read(name)
    except SourceError:
        pass


def _log(ending: str) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        path = _written(data, ending)
        try:
            importer = recognise(path)
            if importer is None:
                return
            with Engine() as engine:
                assert balanced(engine, read_logs(engine, importer, [path]))
        except SourceError:
            pass

    return read


def _table(ending: str) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        try:
            with Engine() as engine:
                made = convert(engine, [_written(data, ending)], Spec())
                assert made.n_verdicts == sum(count for *_, count in made.verdicts.counts())
        except EvenhandError:
            pass

    return read


TARGETS = {
    "parsers": parsers,
    "json_stream": json_stream,
    "zips": zips,
    "eval_log": _log(".eval"),
    "json_log": _log(".json"),
    "jsonl_log": _log(".jsonl"),
    "csv": _table(".csv"),
    "jsonl": _table(".jsonl"),
    "xlsx": _table(".xlsx"),
}

if __name__ == "__main__":
    target = TARGETS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()
