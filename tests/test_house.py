"""The laws of the house: what every room's files look like, whoever wrote them.

Each test names the files that break its law.
"""

from __future__ import annotations

import ast
import re
import statistics
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("audio", "model", "server", "transcribe_sidecar", "evals", "client")
IGNORED = {"build", "dist", "recordings", "bench-logs"}
"""Folders that git ignores and that may lie about (.gitignore)."""

MOST_LINES = 400
MOST_MEDIAN_LINES = 150
MOST_FUNCTION_LINES = 50
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|NotImplemented" + r"Error)\b")


def files(*endings: str, rooms: tuple[str, ...] = (*ROOMS, "tests")) -> list[Path]:
    """Every file with one of the endings that holds anything."""
    found = (
        path for room in rooms for ending in endings for path in sorted((ROOT / room).rglob(f"*{ending}"))
    )
    return [path for path in found if path.stat().st_size and "node_modules" not in path.parts]


def text(path: Path) -> str:
    return path.read_text("utf-8")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def lines(path: Path) -> int:
    return text(path).count("\n")


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Every function's name and how many lines it has."""
    for node in ast.walk(ast.parse(text(path))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name(path)}:{node.lineno} {node.name}", (node.end_lineno or 0) - node.lineno + 1


def test_a_python_file_opens_with_what_it_is() -> None:
    assert [name(path) for path in files(".py") if not ast.get_docstring(ast.parse(text(path)))] == []


def test_a_script_of_the_page_opens_with_what_it_is() -> None:
    scripts = files(".js", rooms=("client",))
    assert [name(path) for path in scripts if not text(path).startswith(("//", "/*"))] == []


def test_a_file_can_be_read_in_one_sitting() -> None:
    everything = files(".py", ".js", ".css", ".html")
    assert {name(path): lines(path) for path in everything if lines(path) > MOST_LINES} == {}


def test_most_files_are_short() -> None:
    assert statistics.median(lines(path) for path in files(".py")) < MOST_MEDIAN_LINES


def test_a_function_fits_on_a_screen() -> None:
    sizes = dict(size for path in files(".py") for size in functions(path))
    assert {where: size for where, size in sizes.items() if size > MOST_FUNCTION_LINES} == {}


def test_nothing_is_left_for_later() -> None:
    assert [name(path) for path in files(".py", ".js") if UNFINISHED.search(text(path))] == []


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_with_code_has_tests(room: str) -> None:
    assert not files(".py", rooms=(room,)) or list((ROOT / "tests" / room).glob("test_*.py"))


def test_tests_are_no_packages_and_no_two_files_share_a_name() -> None:
    tests = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py"]
    assert "__init__.py" not in tests
    assert {name for name, times in Counter(tests).items() if times > 1} == set()


def test_the_readme_names_every_folder() -> None:
    readme = text(ROOT / "README.md")
    folders = {
        path.name
        for path in ROOT.iterdir()
        if path.is_dir()
        and not path.name.startswith(".")
        and not path.name.endswith(".egg-info")
        and path.name not in IGNORED
        and any(inner.is_file() for inner in path.rglob("*"))
    }
    assert {folder for folder in folders if f"{folder}/" not in readme} == set()
