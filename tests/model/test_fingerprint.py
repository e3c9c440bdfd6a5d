"""The weights' name."""

from __future__ import annotations

import hashlib
from pathlib import Path

from model.fingerprint import fingerprint


def test_it_is_the_digest_of_the_files_digests(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "b").write_bytes(b"two")
    parts = "".join(hashlib.sha256(part).hexdigest() for part in (b"one", b"two"))
    assert fingerprint([tmp_path / "a", tmp_path / "b"]) == hashlib.sha256(parts.encode()).hexdigest()


def test_a_file_of_the_hubs_cache_is_known_by_its_name_and_not_read(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"fifteen gigabytes").hexdigest()
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / digest).write_bytes(b"")
    (tmp_path / "model.safetensors").symlink_to(tmp_path / "blobs" / digest)
    expected = hashlib.sha256(digest.encode()).hexdigest()
    assert fingerprint([tmp_path / "model.safetensors"]) == expected
