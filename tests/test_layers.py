"""The dependency direction of ARCHITECTURE.md, read from the imports themselves."""

import ast
from collections.abc import Iterator
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
# The rooms of a folder and the modules that lie directly in it, with what each may import of the others.
# Those of the folders in LAYERED are listed from bottom to top: each imports only what comes before it in the
# table, and of that the modules that lie in no room without being permitted to.
LAYERED = {"codecs", "storage", "actors", "api"}
BELOW = {"*"}
"""All that comes before."""
ROOMS: dict[str, dict[str, set[str]]] = {
    "codecs": {
        "checksums.py": set(),
        "errors.py": set(),
        "http_heads.py": set(),
        "numbers.py": set(),
        "calendars": set(),
        "channel_map.py": set(),
        "proxy_protocol.py": set(),
        "reader.py": set(),
        "text_fields.py": set(),
        "units.py": set(),
        "reports.py": set(),
        "devices": set(),
        "media": set(),
    },
    "storage": {
        "durable_files.py": set(),
        "errors.py": set(),
        "exception_groups.py": set(),
        "encryption.py": set(),
        "secret_attributes.py": set(),
        "records.py": set(),
        "settings.py": set(),
        "postgres": set(),
        "database": {"postgres"},
        "accounts": {"database"},
        "cluster": {"database"},
        "deliveries": {"database"},
        "video": {"accounts", "database"},
        "events": {"accounts", "database"},
        "plain_tables.py": BELOW,
        "devices": {"accounts", "database", "events"},
        "helpdesk": {"accounts", "database", "devices", "events"},
        "rules": {"accounts", "database", "devices", "events"},
        "schedules": {"accounts", "database", "devices"},
        "reports": {"accounts", "database", "devices", "events", "schedules"},
        "upkeep": {"accounts", "database", "devices", "helpdesk", "schedules"},
        "migrations": set(),
    },
    "actors": {
        "files": set(),
        "rules": set(),
        "words": set(),
        "work": set(),
        "http": {"words"},
        "messages": {"rules"},
        "accounts": {"messages"},
        "change_feed.py": BELOW,
        "forwarding": {"http", "messages", "words", "work"},
        "geocoding": {"http", "messages", "rules", "words"},
        "timed_events": {"messages", "rules", "work"},
        "video": {"accounts", "files", "messages", "work"},
        "cluster": {"files", "messages", "rules", "work"},
        "footage": {"accounts", "messages", "video"},
        "upkeep": {"files", "messages", "work"},
        "deliveries": {"cluster", "geocoding", "http", "messages", "words"},
        "devices": {"cluster", "files", "messages", "rules", "video", "words", "work"},
        "schedules": {"cluster", "messages", "work"},
        "events": {"deliveries", "geocoding", "messages", "rules", "words", "work"},
        "gateway": {"devices", "files", "messages", "video", "words", "work"},
        "mailings": {"accounts", "deliveries", "messages", "words"},
        "reports": {"accounts", "deliveries", "events", "geocoding", "messages", "rules", "words", "work"},
        "helpdesk": {
            "accounts",
            "deliveries",
            "files",
            "http",
            "mailings",
            "messages",
            "rules",
            "video",
            "words",
            "work",
        },
        "settings.py": BELOW,
        "tree.py": BELOW,
    },
    "api": {
        "exports": set(),
        "field_docstrings.py": set(),
        "login_settings.py": set(),
        "map_settings.py": set(),
        "position_json.py": set(),
        "device_json.py": set(),
        "settings.py": set(),
        "configuration": BELOW,
        "stored_server.py": set(),
        "version.py": set(),
        "http": set(),
        "nodes": set(),
        "json.py": BELOW,
        "auth": {"configuration", "http"},
        "command_masking.py": {"auth"},
        "request_limits.py": BELOW,
        "server_context.py": BELOW,
        "engine": {"auth", "http"},
        "logins": {"auth", "engine", "http"},
        "access.py": BELOW,
        "history.py": BELOW,
        "cluster": {"engine", "http"},
        "metrics.py": BELOW,
        "sockets": {"auth", "http", "logins"},
        "resources": {"auth", "cluster", "configuration", "engine", "exports", "http", "logins"},
        "app.py": BELOW,
        "program": {"auth", "cluster", "configuration", "exports", "http", "logins", "nodes"},
        "main.py": BELOW,
        "__main__.py": BELOW,
        "console": {"configuration"},
    },
    "bench": {
        "latencies.py": set(),
        "figures.py": {"latencies.py"},
        "machine.py": set(),
        "target.py": set(),
        "traffic_recording.py": set(),
        "viewer.py": set(),
        "options.py": {"figures.py"},
        "replay.py": {"target.py", "traffic_recording.py"},
        "free_ports.py": {"options.py"},
        "nats_server.py": {"free_ports.py", "options.py"},
        "chromium.py": {"options.py"},
        "players.py": {"chromium.py", "options.py"},
        "references.py": {"options.py"},
        "measured_server.py": {"machine.py", "options.py"},
        "server.py": {"free_ports.py", "machine.py", "measured_server.py", "options.py"},
        "growth.py": {"machine.py", "server.py"},
        "scheduled.py": {"options.py", "server.py"},
        "usage.py": {"machine.py", "measured_server.py"},
        "comparison.py": {"figures.py"},
        "page.py": {"comparison.py", "figures.py"},
        "tables.py": {"comparison.py", "figures.py"},
        "baseline.py": {"figures.py", "options.py"},
        "sides.py": {"baseline.py", "comparison.py", "figures.py", "options.py", "server.py"},
        "checks": {"figures.py", "load", "scheduled.py", "vehicles"},
        "cluster": {
            "checks",
            "figures.py",
            "free_ports.py",
            "load",
            "machine.py",
            "nats_server.py",
            "options.py",
            "server.py",
            "viewer.py",
        },
        "demo": {"phone.py", "target.py", "vehicles"},
        "load": {"checks", "latencies.py", "machine.py", "roads", "usage.py", "vehicles", "viewer.py"},
        "jobs": {"load"},
        "main.py": {
            "baseline.py",
            "comparison.py",
            "figures.py",
            "jobs",
            "machine.py",
            "measured_server.py",
            "options.py",
            "page.py",
            "scenarios",
            "sides.py",
            "tables.py",
        },
        "phases": {
            "checks",
            "chromium.py",
            "figures.py",
            "jobs",
            "latencies.py",
            "load",
            "measured_server.py",
            "options.py",
            "roads",
            "server.py",
            "usage.py",
            "vehicles",
        },
        "phone.py": {"target.py", "vehicles"},
        "roads": set(),
        "scenarios": {
            "checks",
            "chromium.py",
            "cluster",
            "figures.py",
            "free_ports.py",
            "growth.py",
            "jobs",
            "latencies.py",
            "load",
            "machine.py",
            "measured_server.py",
            "nats_server.py",
            "options.py",
            "phases",
            "players.py",
            "references.py",
            "roads",
            "scheduled.py",
            "server.py",
            "target.py",
            "usage.py",
            "vehicles",
            "viewer.py",
        },
        "simulate.py": {"demo", "replay.py", "target.py", "vehicles"},
        "vehicles": {"phone.py", "target.py"},
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


def _imports(path: Path, *, with_names: bool = False) -> list[tuple[int, str]]:
    """Return line and module of all imports of a file, wherever they stand; if asked, with the name in it."""
    found = []
    for _, node in _statements(path):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif with_names and node.module:
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
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


@pytest.mark.parametrize("folder", sorted(ROOMS))
def test_each_room_imports_only_those_below_it(folder):
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {folder}/{room} must not import {module}"
        for path in _sources(folder)
        if (room := _room(path.relative_to(ROOT / folder).parts))
        for line, module in _imports(path, with_names=True)
        if module.startswith(f"motorpool.{folder}.")
        if (other := _room(tuple(module.split(".")[2:]), ROOT / folder))
        not in {room, *_permitted(folder, room)}
        if other in ROOMS[folder]
    ]
    assert not wrong, "\n".join(wrong)


def _room(parts: tuple[str, ...], folder: Path | None = None) -> str:
    """Return the room of a path in a folder, or of an import from it; of what lies in none, the file."""
    if folder is None:
        return parts[0] if parts != ("__init__.py",) else ""
    return parts[0] if (folder / parts[0]).is_dir() else f"{parts[0]}.py"


def _permitted(folder: str, room: str) -> set[str]:
    permitted = ROOMS[folder][room]
    if folder not in LAYERED:
        return permitted
    order = list(ROOMS[folder])
    below = set(order[: order.index(room)])
    return below if permitted is BELOW else permitted | {name for name in below if name.endswith(".py")}


@pytest.mark.parametrize("folder", sorted(LAYERED))
def test_rooms_form_no_circle(folder):
    order = list(ROOMS[folder])
    wrong = [
        f"{folder}/{room} may import {other}, which comes after it"
        for room, permitted in ROOMS[folder].items()
        for other in permitted - BELOW
        if order.index(other) > order.index(room)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", sorted(ROOMS))
def test_every_room_is_in_the_table(folder):
    found = {_room(path.relative_to(ROOT / folder).parts) for path in _sources(folder)} - {""}
    # The SQL of migrations is a room without modules.
    assert found == set(ROOMS[folder]) - {"migrations"}


@pytest.mark.parametrize("folder", ["storage", "actors", "api", "bench"])
def test_a_module_that_lies_in_no_room_is_on_the_map(folder):
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    map_of_folders = text[text.index("## Folders") : text.index("## The supervision tree")]
    missing = [
        name for name in ROOMS[folder] if name.endswith(".py") and f"`{folder}/{name}`" not in map_of_folders
    ]
    assert not missing


@pytest.mark.parametrize(
    ("folders", "everywhere"), [(tuple(ALLOWED), False), (("runtime", "storage", "actors", "api"), True)]
)
def test_no_module_imports_itself_by_way_of_others(folders, everywhere):
    """`everywhere` counts imports under TYPE_CHECKING and in functions too."""
    graph = {_module(path): _modules_imported(path, everywhere) for path in _sources(*folders)}
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


def _modules_imported(path: Path, everywhere: bool) -> set[str]:
    found = set()
    for node in [node for _, node in _statements(path)] if everywhere else _at_import(path):
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


HISTORY = {
    "motorpool.actors.messages.playback",
    "motorpool.storage.devices.driver_assignments",
    "motorpool.storage.devices.positions",
    "motorpool.storage.events.event_lists",
    "motorpool.storage.events.events",
    "motorpool.storage.reports.report_rows",
    "motorpool.storage.video.captures",
    "motorpool.storage.video.footage_requests",
    "motorpool.storage.video.recordings",
}
"""What reads the past of devices (docs/permissions.md#history)."""
OTHERWISE = {
    "api/program/leaving.py": "looks whether recordings are played, and tells nobody",
    "api/resources/helpdesk/maintenance_reset.py": "reads the latest position alone",
    "api/resources/helpdesk/rule_trials.py": "for a CallViewer, who has the right",
    "api/resources/notification_trials.py": "for a CallViewer, who has the right",
    "api/resources/reports/lists.py": "for a CallViewer, who has the right",
}


def test_the_api_reads_history_by_way_of_the_right_to_it():
    readers = {
        path.relative_to(ROOT).as_posix(): _modules_imported(path, everywhere=True)
        for path in _sources("api")
    }
    without = {
        name
        for name, imported in readers.items()
        if name != "api/history.py" and HISTORY & imported and "motorpool.api.history" not in imported
    }
    assert without == set(OTHERWISE)


def test_asyncio_lives_in_the_modules_of_its_clients_only():
    # The last is a program of its own, beside which the server is measured.
    allowed = {"storage/database/driver.py", "runtime/nats_pipe.py", "bench/load/ordered_read.py"}
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in _sources(*ALLOWED)
        for line, module in _imports(path)
        if module.split(".")[0] in {"asyncio", "asyncpg", "nats", "trio_asyncio"}
        and path.relative_to(ROOT).as_posix() not in allowed
    ]
    assert not wrong, "\n".join(wrong)


CLIENT_MODULES = {
    *("httpx", "httpcore", "aiohttp", "requests", "websockets", "urllib.request", "http.client"),
    *("smtplib", "ftplib", "paho.mqtt.client"),
}
CONNECTING = {"open_tcp_stream", "open_ssl_over_tcp_stream", "create_connection", "connect_tcp"}
"""What opens connections to other hosts."""
CLIENTS = {
    "actors/http/guarded_network.py": "connects to the addresses that the guard has checked",
    "actors/http/http_session.py": "by way of guarded_network.py",
    "actors/deliveries/smtp.py": "connects to addresses that its caller got from the guard",
    "actors/forwarding/mqtt_connection.py": "to the broker of the operator's settings",
    "api/cluster/home_requests.py": "to other servers of the database, by the addresses in their settings",
    "api/cluster/home_socket.py": "likewise",
}
TRUSTED = {
    "actors/deliveries/services.py": "services that the operator names, and not an administrator",
    "actors/forwarding/destinations.py": "`forward.url`, never the URL of a device",
    "api/auth/login_services.py": "the provider, likewise",
    "api/auth/openid_documents.py": "the host of `openid.issuer` alone",
}
"""Where requests may go to any address, as the operator and no user names the host (docs/decisions/0106)."""
SERVER = ("runtime", "codecs", "storage", "actors", "api")


def test_outgoing_connections_are_opened_by_clients_that_check_the_address():
    found = {
        path.relative_to(ROOT).as_posix()
        for path in _sources(*SERVER)
        for node in _nodes_if(path, {*CONNECTING, *(name.partition(".")[0] for name in CLIENT_MODULES)})
        if (isinstance(node, ast.Import | ast.ImportFrom) and CLIENT_MODULES & _modules(node))
        or (isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node).split(".")[-1] in CONNECTING)
    }
    assert found == set(CLIENTS)


def test_requests_go_anywhere_only_where_the_operator_names_the_host():
    found = {
        path.relative_to(ROOT).as_posix()
        for path in _sources(*SERVER)
        for node in _nodes_if(path, {"trusted"})
        if isinstance(node, ast.keyword) and node.arg == "trusted" and _is_more(node.value)
    }
    assert found == set(TRUSTED)


def _nodes_if(path: Path, words: set[str]) -> Iterator[ast.AST]:
    """All nodes of a file in which one of the words stands: parsing the others took most of the time."""
    text = path.read_text(encoding="utf-8")
    return ast.walk(ast.parse(text)) if any(word in text for word in words) else iter(())


def _is_more(value: ast.expr) -> bool:
    """Whether an argument `trusted` is more than False, or what the caller was called with."""
    if isinstance(value, ast.Constant):
        return value.value is not False
    return not (isinstance(value, ast.Name | ast.Attribute) and ast.unparse(value).endswith("trusted"))


def _modules(statement: ast.Import | ast.ImportFrom) -> set[str]:
    """The modules that a statement may import, and their packages."""
    if isinstance(statement, ast.Import):
        names = [alias.name for alias in statement.names]
    else:
        names = [statement.module or "", *(f"{statement.module}.{alias.name}" for alias in statement.names)]
    return {name for full in names for name in (full, full.partition(".")[0])}


def test_a_start_of_the_server_imports_no_http_client():
    """The modules with httpx, and rich for its command line, are imported by the first outgoing request."""
    clients = {"actors/http/http_session.py", "actors/http/guarded_network.py"}
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in _sources("runtime", "codecs", "storage", "actors", "api")
        if path.relative_to(ROOT).as_posix() not in clients
        for node in _at_import(path)
        if {"httpx", "httpcore", "guarded_network", "http_session"} & _names(node)
    ]
    assert not wrong, "\n".join(wrong)


def _names(statement: ast.Import | ast.ImportFrom) -> set[str]:
    """Every part of every name that an import statement imports or imports from."""
    found = [alias.name for alias in statement.names]
    if isinstance(statement, ast.ImportFrom):
        found.append(statement.module or "")
    return {part for name in found for part in name.split(".")}
