"""ARCHITECTURE.md against the code: its folders, the paths and names it mentions, and the supervision tree.

`python tests/test_architecture.py` writes the tree into the page anew and keeps the descriptions in it.
"""

import ast
import re
import tempfile
from pathlib import Path
from typing import Any

from motorpool.actors.forwarding.settings import ForwardSettings
from motorpool.actors.messages.changes import SETTINGS_READER
from motorpool.actors.settings import FleetSettings
from motorpool.actors.tree import fleet_tree
from motorpool.api.auth.password_resets import PASSWORD_RESETS
from motorpool.api.cluster.home_requests import HOME_REQUESTS
from motorpool.runtime import Actor, ChildSpec, DynamicSpec, SupervisorSpec, TaskSpec

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "ARCHITECTURE.md"
PACKAGES = ("runtime", "codecs", "storage", "actors", "api", "bench")
TREE = re.compile(r"(?<=```\n)system .*?(?=\n```)", re.DOTALL)
NAME_WIDTH = 26
POLICY_WIDTH = 24


def _rows(spec: Any, first: str = "", rest: str = "") -> list[tuple[str, str]]:
    """Return name and restart policy of each node, with the lines of the tree in front of the name."""
    match spec:
        case SupervisorSpec():
            rows = [(first + spec.name, spec.strategy.value)]
            for number, child in enumerate(spec.children, 1):
                last = number == len(spec.children)
                rows += _rows(child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))
            return rows
        case DynamicSpec():
            return [(first + spec.name, f"one per key, {spec.restart.value}")]
        case _:
            name, many, _ = spec.kind.name.partition(":")
            return [(first + name + (":…" if many else ""), spec.restart.value)]


def render_tree() -> list[tuple[str, str]]:
    """Return the whole tree with everything that is optional; children of one name family are one row."""
    requests = tuple(
        ChildSpec(kind=kind, factory=Actor) for kind in (SETTINGS_READER, PASSWORD_RESETS, HOME_REQUESTS)
    )
    services = (*requests, TaskSpec(name="http", factory=Actor))
    settings = FleetSettings(
        data=Path(tempfile.gettempdir()),
        forward=ForwardSettings(url="https://example.org"),
    )
    tree = fleet_tree(
        None,  # type: ignore[arg-type]
        settings,
        services=services,
        clustered=True,
        link=object(),  # type: ignore[arg-type]
        record=Path("traffic"),
    )
    rows = _rows(tree)
    names = [re.sub("[├└]", "", name) for name, _ in rows]
    # The last of several listeners stands for all of them, because its line ends the branch.
    return [row for number, row in enumerate(rows) if names[number] not in names[number + 1 :]]


def _block() -> list[str]:
    found = TREE.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None, "ARCHITECTURE.md has no block with the tree"
    return found[0].split("\n")


def _name(row: str) -> str:
    return row.strip("├└│─ ").split(" ")[0]


def _line(row: tuple[str, str], description: str = "") -> str:
    return f"{row[0]:<{NAME_WIDTH}}{row[1]:<{POLICY_WIDTH}}{description}".rstrip()


def test_the_tree_is_that_of_the_code():
    shown = [line[: NAME_WIDTH + POLICY_WIDTH].rstrip() for line in _block()]
    assert shown == [_line(row) for row in render_tree()], "run python tests/test_architecture.py"


def test_every_node_of_the_tree_is_described():
    assert not [line for line in _block()[1:] if not line[NAME_WIDTH + POLICY_WIDTH :].strip()]


def _mentioned() -> list[tuple[str, str]]:
    """Return each path in backticks, and the name in it that stands behind a colon."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.findall(r"`([a-z_.]+/[a-z0-9_./*-]*)(?:: ([A-Za-z_.]+))?`", text)
    return [(path, name) for path, name in found if not path.startswith((".", "docs/"))]


def test_every_path_it_names_exists():
    missing = [path for path, _ in _mentioned() if not list(ROOT.glob(path.rstrip("/")))]
    assert not missing


def _definitions(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ClassDef():
                methods = [n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
                names |= {node.name} | {f"{node.name}.{method.name}" for method in methods}
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                names.add(node.name)
            case ast.Name(ctx=ast.Store()):
                names.add(node.id)
            case _:
                pass
    return names


def test_every_function_it_names_is_where_it_says():
    wrong = [
        f"{path}: {name}"
        for path, name in _mentioned()
        if name and path.endswith(".py") and name not in _definitions(ROOT / path)
    ]
    assert not wrong


def test_every_folder_of_the_code_is_listed():
    text = PAGE.read_text(encoding="utf-8")
    folders = {path.parent for top in PACKAGES for path in (ROOT / top).rglob("*.py")}
    names = sorted(folder.relative_to(ROOT).as_posix() + "/" for folder in folders)
    assert not [name for name in names if "/vendor/" not in name and f"`{name}`" not in text]


def _write_tree() -> None:
    width = NAME_WIDTH + POLICY_WIDTH
    descriptions = {_name(line): line[width:].strip() for line in _block()}
    lines = [_line(row, descriptions.get(_name(row[0]), "")) for row in render_tree()]
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TREE.sub("\n".join(lines).replace("\\", r"\\"), text, count=1), encoding="utf-8")


if __name__ == "__main__":
    _write_tree()
