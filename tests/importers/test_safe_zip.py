"""The capped zip reader: what it reads, and what it refuses."""

import random
import warnings
import zipfile
from pathlib import Path

import pytest
from log_reading import FIXTURES

from evenhand.errors import SourceError
from evenhand.importers import safe_zip
from evenhand.importers.safe_zip import SafeZip


def _zip(path: Path, members: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", method) as archive:
        warnings.simplefilter("ignore")
        for name, data in members:
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_are_read_and_the_later_one_of_a_name_counts(tmp_path: Path, method: int) -> None:
    path = _zip(tmp_path / "a.eval", [("a", b"one"), ("b", b""), ("a", b"two" * 1000)], method)
    with SafeZip(path) as archive:
        assert list(archive.members) == ["a", "b"]
        assert archive.superseded == 1
        assert archive.read("a") == b"two" * 1000
        assert archive.read("b") == b""


def test_zstandard_members_are_read() -> None:
    with SafeZip(FIXTURES / "inspect" / "several.eval") as archive:
        assert {entry.compress_type for entry in archive.members.values()} == {safe_zip.ZSTANDARD}
        assert archive.read("header.json").startswith(b"{")


def test_zstandard_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    safe_zip.zstandard.cache_clear()
    monkeypatch.setattr(safe_zip.importlib, "import_module", absent)
    log = FIXTURES / "inspect" / "several.eval"
    with SafeZip(log) as archive, pytest.raises(SourceError, match=r"pip install backports\.zstd"):
        archive.read("header.json")


@pytest.mark.parametrize("name", ["../up", "/root", "a/../../b", "C:\\x", "a\\..\\b"])
def test_names_that_leave_the_archive_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match="leaves the archive"):
        SafeZip(_zip(tmp_path / "a.eval", [(name, b"x")]))


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.eval", [("a", bytes(safe_zip.FREE_BYTES + 1))])
    with pytest.raises(SourceError, match="refused as a decompression bomb"):
        SafeZip(path)


def test_a_large_member_and_too_many_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _zip(tmp_path / "a.eval", [("a", b"x" * 100), ("b", b"y")])
    monkeypatch.setattr(safe_zip, "MOST_BYTES", 99)
    with pytest.raises(SourceError, match="unpacks to 100 bytes"):
        SafeZip(path)
    monkeypatch.setattr(safe_zip, "MOST_MEMBERS", 1)
    with pytest.raises(SourceError, match="2 members"):
        SafeZip(path)


def test_a_member_that_lies_about_its_size_is_never_unpacked_whole(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.eval", [("a", bytes(1_000_000))])
    data = path.read_bytes()
    path.write_bytes(data.replace((1_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with SafeZip(path) as archive, pytest.raises(SourceError, match="size or checksum"):
        archive.read("a")


def test_an_encrypted_member_and_a_strange_method_are_refused(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.eval", [("a", b"x" * 50)])
    plain = path.read_bytes()
    at = plain.index(b"PK\x01\x02")
    path.write_bytes(plain[: at + 8] + b"\x01" + plain[at + 9 :])
    with pytest.raises(SourceError, match="encrypted"):
        SafeZip(path)
    path.write_bytes(plain[: at + 10] + b"\x62" + plain[at + 11 :])
    with SafeZip(path) as archive, pytest.raises(SourceError, match="compression method 98"):
        archive.read("a")


@pytest.mark.parametrize("data", [b"", b"PK", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"\x00" * 100])
def test_what_is_no_archive_is_refused_or_empty(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.eval"
    path.write_bytes(data)
    try:
        with SafeZip(path) as archive:
            assert not archive.members
    except SourceError:
        pass
    with pytest.raises(SourceError, match="cannot be read"):
        SafeZip(tmp_path / "none.eval")


def test_damage_anywhere_is_found(tmp_path: Path) -> None:
    whole = (FIXTURES / "inspect" / "several.eval").read_bytes()
    with SafeZip(FIXTURES / "inspect" / "several.eval") as archive:
        expected = {name: archive.read(name) for name in archive.members}
    path = tmp_path / "broken.eval"
    for seed in range(60):
        draw = random.Random(seed)
        data = bytearray(whole)
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        path.write_bytes(data)
        try:
            with SafeZip(path) as archive:
                found = {name: archive.read(name) for name in archive.members}
        except SourceError:
            continue
        assert set(found.values()) <= set(expected.values())
