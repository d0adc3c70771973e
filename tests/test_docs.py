"""Citations of our own pages: each names a page that exists, and a heading that it has."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SUFFIXES = {
    ".py",
    ".sql",
    ".toml",
    ".md",
    ".txt",
    ".tsv",
    ".js",
    ".ts",
    ".tsx",
    ".mjs",
    ".html",
    ".sh",
    ".yml",
    ".yaml",
    ".json",
    ".cfg",
    ".conf",
    ".service",
}
CITATION = re.compile(r"docs/(?P<page>[a-z0-9/_-]+(?:\.(?:md|png|py))?)(?:#(?P<anchor>[a-z0-9-]+))?")
LINK = re.compile(r"\]\((?P<target>[^)\s#]*)(?:#(?P<anchor>[^)\s]+))?\)")


@cache
def _files() -> tuple[Path, ...]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = (ROOT / name for name in listed.stdout.splitlines())
    return tuple(path for path in paths if path.suffix in SUFFIXES and path.is_file())


def _lines(path: Path) -> list[tuple[str, str]]:
    """Return each line with its place, as `actors/tree.py:12`."""
    name = path.relative_to(ROOT).as_posix()
    text = path.read_text(encoding="utf-8")
    return [(f"{name}:{number}", line) for number, line in enumerate(text.split("\n"), 1)]


def _slug(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


@cache
def _anchors(page: Path) -> frozenset[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return frozenset(_slug(found[1]) for found in re.finditer(r"^#{1,6} (.+)$", text, re.MULTILINE))


def _page(name: str) -> Path | None:
    """Find a cited page; a decision is cited by its number alone."""
    if re.fullmatch(r"decisions/\d{4}", name):
        return next(iter((ROOT / "docs").glob(f"{name}-*.md")), None)
    path = ROOT / "docs" / name
    return path if path.exists() else None


def _wrong(page: Path | None, anchor: str | None) -> str | None:
    if page is None:
        return "names no page"
    if anchor and anchor not in _anchors(page):
        return "names no heading"
    return None


def test_every_citation_names_a_page_and_a_heading_of_it():
    wrong = [
        f"{place}: {found[0]} {fault}"
        for path in _files()
        for place, line in _lines(path)
        for found in CITATION.finditer(line)
        if (fault := _wrong(_page(found["page"]), found["anchor"]))
    ]
    assert not wrong, "\n".join(wrong)


def test_every_link_between_pages_leads_somewhere():
    wrong = []
    for path in _files():
        if path.suffix != ".md":
            continue
        for place, line in _lines(path):
            for found in LINK.finditer(line):
                target = found["target"]
                if ":" in target:
                    continue
                page = (path.parent / target).resolve() if target else path
                fault = _wrong(page if page.exists() else None, found["anchor"])
                if fault:
                    wrong.append(f"{place}: {found[0]} {fault}")
    assert not wrong, "\n".join(wrong)


def test_every_decision_is_in_the_index():
    folder = ROOT / "docs/decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    missing = [path.name for path in sorted(folder.glob("[0-9]*.md")) if f"({path.name})" not in index]
    assert not missing


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [("Who may do what", "who-may-do-what"), ("`bench --json`: its format", "bench---json-its-format")],
)
def test_anchors_are_those_of_github(heading, anchor):
    assert _slug(heading) == anchor


TEST = re.compile(r"(?P<file>tests/[\w/]+\.py)|::(?P<test>test_\w+)")


def test_a_page_names_tests_that_exist():
    """`tests/…/test_x.py::test_a`, and `::test_b` after it for another one of the same file."""
    wrong = []
    for path in (ROOT / "docs").rglob("*.md"):
        text = None
        for place, line in _lines(path):
            for found in TEST.finditer(line):
                if found["file"]:
                    named = ROOT / found["file"]
                    text = named.read_text(encoding="utf-8") if named.is_file() else None
                is_there = text is not None and (
                    not found["test"] or re.search(rf"def {found['test']}\b", text)
                )
                wrong += [] if is_there else [f"{place}: {found[0]}"]
    assert not wrong, "\n".join(wrong)
