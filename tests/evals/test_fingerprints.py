"""What makes a result one of another run."""

from __future__ import annotations

from pathlib import Path

from evals.fingerprints import code


def test_results_of_other_code_are_not_kept(tmp_path: Path) -> None:
    """The version stays the same between two commits; what is measured may not."""
    (tmp_path / "metrics").mkdir()
    file = tmp_path / "metrics" / "stopping.py"
    file.write_text("LIMIT = 1\n")
    before = code(tmp_path)
    assert code(tmp_path) == before
    code.cache_clear()
    file.write_text("LIMIT = 2\n")
    assert code(tmp_path) != before
    code.cache_clear()
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "page.py").write_text("")
    changed = code(tmp_path)
    code.cache_clear()
    (tmp_path / "report" / "page.py").write_text("COLOUR = 1\n")
    assert code(tmp_path) == changed
    code.cache_clear()
    file.rename(tmp_path / "stopping.py")
    assert code(tmp_path) != changed
