"""The dependency direction of ARCHITECTURE.md, read from the imports themselves."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ALLOWED = {
    "runtime": {"runtime"},
    "codecs": {"codecs"},
    "storage": {"storage"},
    "actors": {"actors", "runtime", "codecs", "storage"},
    "api": {"api", "actors", "runtime", "codecs", "storage"},
    "bench": {"bench", "runtime", "codecs"},
}
COMPOSITION_ROOT = {"api/main.py"}
BARE = {"runtime", "actors", "api", "storage", "bench"}


def _imports(path: Path) -> list[tuple[int, str]]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.lineno, "." * node.level + (node.module or "")))
    return found


def _sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("folder", sorted(ALLOWED))
def test_each_layer_imports_only_what_lies_below_it(folder):
    wrong = []
    for path in _sources(folder):
        name = path.relative_to(ROOT).as_posix()
        if name in COMPOSITION_ROOT:
            continue
        for line, module in _imports(path):
            parts = module.split(".")
            if parts[0] == "motorpool" and (len(parts) < 2 or parts[1] not in ALLOWED[folder]):
                wrong.append(f"{name}:{line}: {folder} must not import {module}")
    assert not wrong, "\n".join(wrong)


def test_nobody_imports_a_folder_by_its_bare_name():
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in _sources(*ALLOWED, "tests")
        for line, module in _imports(path)
        if module.split(".")[0] in BARE or module.startswith(".")
    ]
    assert not wrong, "\n".join(wrong)


def test_asyncio_and_asyncpg_live_in_the_database_module_only():
    allowed = {"storage/database.py"}
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in _sources(*ALLOWED)
        for line, module in _imports(path)
        if module.split(".")[0] in {"asyncio", "asyncpg", "trio_asyncio"}
        and path.relative_to(ROOT).as_posix() not in allowed
    ]
    assert not wrong, "\n".join(wrong)
