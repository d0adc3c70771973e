"""The dependency direction of ARCHITECTURE.md, read from the imports themselves."""

import ast
from functools import cache
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
# A PostgreSQL that belongs to no server (docs/decisions/0290).
MORE = {"bench/cluster": {"storage"}}
# What the packages of a folder may import of each other, beside the modules that lie directly in it.
PACKAGES = {
    "codecs": {"calendars": set(), "devices": set(), "media": set()},
    "storage": {
        "postgres": set(),
        "database": {"devices", "postgres"},
        "cluster": {"database"},
        "deliveries": {"database"},
        "upkeep": {"database"},
        "video": {"database"},
        "accounts": {"database", "schedules"},
        "events": {"accounts", "database"},
        "devices": {"accounts", "database", "events", "reports"},
        "rules": {"accounts", "database", "devices", "events"},
        "schedules": {"accounts", "database", "devices"},
        "reports": {"accounts", "database", "devices", "events", "schedules"},
        "helpdesk": {"accounts", "database", "devices", "events"},
        "migrations": set(),
    },
    "actors": {
        "work": set(),
        "words": set(),
        "messages": set(),
        "files": set(),
        "rules": set(),
        "http": {"words"},
        "accounts": {"messages"},
        "geocoding": {"http", "messages", "rules"},
        "video": {"files", "messages", "work"},
        "cluster": {"devices", "files", "messages", "rules", "work"},
        "devices": {"cluster", "files", "messages", "rules", "video", "words", "work"},
        "gateway": {"devices", "files", "messages", "video", "work"},
        "timed_events": {"devices", "messages", "rules", "work"},
        "schedules": {"cluster", "messages", "work"},
        "deliveries": {"cluster", "geocoding", "http", "messages", "words"},
        "events": {"deliveries", "messages", "words", "work"},
        "forwarding": {"devices", "http", "messages", "words", "work"},
        "mailings": {"accounts", "deliveries", "messages", "words"},
        "footage": {"accounts", "devices", "messages", "video"},
        "reports": {"accounts", "deliveries", "devices", "geocoding", "messages", "rules", "words", "work"},
        "helpdesk": {
            "accounts",
            "deliveries",
            "devices",
            "files",
            "http",
            "mailings",
            "messages",
            "rules",
            "video",
            "words",
            "work",
        },
        "upkeep": {"files", "messages"},
    },
    "api": {
        "http": {"program"},
        "auth": {"http", "engine", "program"},
        "engine": {"http", "auth"},
        "exports": set(),
        "sockets": {"auth", "http", "program"},
        "cluster": {"http", "engine"},
        "resources": {"http", "auth", "engine", "exports", "program", "cluster"},
        "program": {"http", "auth", "cluster"},
        "console": set(),
    },
    "bench": {
        "vehicles": set(),
        "demo": {"vehicles"},
        "load": {"vehicles", "checks"},
        "checks": {"vehicles", "load"},
        "phases": {"vehicles", "load", "checks"},
        "cluster": {"vehicles", "load", "checks"},
        "scenarios": {"vehicles", "load", "checks", "phases", "cluster"},
    },
}
BARE = {"runtime", "actors", "api", "storage", "bench"}


@cache
def _statements(path: Path) -> list[tuple[bool, ast.Import | ast.ImportFrom]]:
    """Return all imports of a file, and whether each is done when the file itself is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        (node in tree.body, node) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)
    ]


def _imports(path: Path) -> list[tuple[int, str]]:
    found = []
    for _, node in _statements(path):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        else:
            found.append((node.lineno, "." * node.level + (node.module or "")))
    return found


def _at_import(path: Path) -> list[ast.Import | ast.ImportFrom]:
    return [node for at_import, node in _statements(path) if at_import]


def _sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("folder", sorted(ALLOWED))
def test_each_layer_imports_only_what_lies_below_it(folder):
    wrong = []
    for path in _sources(folder):
        name = path.relative_to(ROOT).as_posix()
        if name in COMPOSITION_ROOT:
            continue
        allowed = ALLOWED[folder] | MORE.get(name.rpartition("/")[0], set())
        for line, module in _imports(path):
            parts = module.split(".")
            if parts[0] == "motorpool" and (len(parts) < 2 or parts[1] not in allowed):
                wrong.append(f"{name}:{line}: {folder} must not import {module}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", sorted(PACKAGES))
def test_each_package_imports_only_those_below_it(folder):
    allowed = PACKAGES[folder]
    wrong = []
    for path in _sources(folder):
        name = path.relative_to(ROOT).as_posix()
        package = name.split("/")[1]
        if package not in allowed:
            continue
        for line, module in _imports(path):
            parts = module.split(".")
            other = parts[2] if parts[:2] == ["motorpool", folder] and len(parts) > 2 else package
            if other in allowed and other != package and other not in allowed[package]:
                wrong.append(f"{name}:{line}: {folder}/{package} must not import {module}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", sorted(PACKAGES))
def test_every_package_is_in_the_table(folder):
    found = {path.parent.relative_to(ROOT / folder).parts[0] for path in (ROOT / folder).rglob("*/*.py")}
    assert found - {"vendor"} == {name for name in PACKAGES[folder] if name in found}, folder


def test_no_module_imports_itself_by_way_of_others():
    graph = {_module(path): _modules_imported(path) for path in _sources(*ALLOWED)}
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " -> ".join((*trail[trail.index(module) :], module))
        if module not in done:
            for other in sorted(graph.get(module, ())):
                visit(other, (*trail, module))
            done.add(module)

    for module in sorted(graph):
        visit(module, ())


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("motorpool", *(parts[:-1] if parts[-1] == "__init__" else parts)))


def _modules_imported(path: Path) -> set[str]:
    """Return what is imported with this module: not what is under TYPE_CHECKING or in functions."""
    found = set()
    for node in _at_import(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            submodules = {name for name in names if _is_module(name)}
            found |= submodules if len(submodules) == len(names) else submodules | {node.module}
    return found - {_module(path)}


def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split(".")[1:])
    return name.startswith("motorpool.") and (path.with_suffix(".py").exists() or path.is_dir())


def test_nobody_imports_a_folder_by_its_bare_name():
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in _sources(*ALLOWED, "tests")
        for line, module in _imports(path)
        if module.split(".")[0] in BARE or module.startswith(".")
    ]
    assert not wrong, "\n".join(wrong)


def test_asyncio_and_asyncpg_live_in_the_driver_module_only():
    # The second is a program of its own, beside which the server is measured.
    allowed = {"storage/database/driver.py", "bench/load/ordered_read.py"}
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in _sources(*ALLOWED)
        for line, module in _imports(path)
        if module.split(".")[0] in {"asyncio", "asyncpg", "trio_asyncio"}
        and path.relative_to(ROOT).as_posix() not in allowed
    ]
    assert not wrong, "\n".join(wrong)


def test_a_start_of_the_server_imports_no_http_client():
    """The modules with httpx, and rich for its command line, are imported by the first outgoing request."""
    clients = {"actors/http/requests.py", "actors/http/guarded_network.py"}
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in _sources("runtime", "codecs", "storage", "actors", "api")
        if path.relative_to(ROOT).as_posix() not in clients
        for node in _at_import(path)
        if {"httpx", "httpcore", "guarded_network"} & _names(node)
        or ("motorpool.actors.http" in _modules(node) and "requests" in _names(node))
    ]
    assert not wrong, "\n".join(wrong)


def _modules(statement: ast.Import | ast.ImportFrom) -> set[str]:
    return {statement.module or ""} if isinstance(statement, ast.ImportFrom) else set()


def _names(statement: ast.Import | ast.ImportFrom) -> set[str]:
    """Every part of every name that an import statement imports or imports from."""
    found = [alias.name for alias in statement.names]
    if isinstance(statement, ast.ImportFrom):
        found.append(statement.module or "")
    return {part for name in found for part in name.split(".")}
