"""The table of docs/console.md#operations against the API, the routes, and what the places request."""

import re
from functools import cache
from pathlib import Path

import pytest
from tests.api.console.calls import PARAMETER, SOURCES, Console, calls_in, read_console

from motorpool.api.app import openapi_document

PAGE = Path(__file__).parents[3] / "docs" / "console.md"
ROW = re.compile(r"^\| (?P<operations>`[A-Z][^|]*) \| (?P<place>[^|]+) \| (?P<what>[^|]*)\|$", re.MULTILINE)
OPERATION = re.compile(r"`([A-Z,]+) ([^`]+)`")
PLACELESS = "none"
"""In place of an address: no place asks for it."""


@cache
def operations():
    """Method and path of each operation of the OpenAPI document."""
    return {
        (method.upper(), path) for path, methods in openapi_document()["paths"].items() for method in methods
    }


@cache
def rows():
    """Operations, place and words of each row of the table."""
    section = PAGE.read_text(encoding="utf-8").partition("\n## Operations\n")[2].partition("\n## ")[0]
    return [
        (
            [
                (method, path)
                for methods, path in OPERATION.findall(row["operations"])
                for method in methods.split(",")
            ],
            row["place"].strip("` "),
            row["what"].strip(),
        )
        for row in ROW.finditer(section)
    ]


@pytest.fixture(scope="module")
def console():
    kinds = re.findall(r"^ +name: \"(\w+)\"", (SOURCES / "places/reports/kinds.ts").read_text(), re.MULTILINE)
    save = (SOURCES / "places/vehicle/history/Save.tsx").read_text(encoding="utf-8")
    (formats,) = re.findall(r"\[([^\]]+)\]\.map\(\(format\)", save)
    return read_console({"kind": kinds, "kind.name": kinds, "format": re.findall(r"\"(\w+)\"", formats)})


def as_called(path):
    return re.sub(r"\{\w+\}", PARAMETER, path)


def is_called(operation, calls):
    """Tell whether one of the calls is the operation, and not another one with the same method."""
    method, path = operation[0], as_called(operation[1])
    if (method, path) in calls:
        return True
    exact = {(each, as_called(other)) for each, other in operations()}
    parts = path.split("/")
    return any(
        len(words := called.split("/")) == len(parts)
        and all(part in {word, PARAMETER} for part, word in zip(parts, words, strict=True))
        for each, called in calls
        if each == method and (each, called) not in exact
    )


def pattern_of(console, address):
    """The first route that an address fits; None if no place is there."""
    parts = address.partition("?")[0].split("/")
    for pattern in console.routes:
        names = pattern.split("/")
        if len(names) == len(parts) and all(
            name == part or name.startswith(":") for name, part in zip(names, parts, strict=True)
        ):
            return pattern
    return None


def test_the_table_has_every_operation_once_and_no_other():
    named = [operation for found, _, _ in rows() for operation in found]
    assert sorted(operations() - set(named)) == []
    assert sorted(set(named) - operations()) == []
    assert sorted(each for each in set(named) if named.count(each) > 1) == []


def test_each_place_is_a_route_of_the_console(console):
    places = {place for _, place, _ in rows()} - {PLACELESS}
    assert sorted(place for place in places if pattern_of(console, place) is None) == []


def test_each_place_requests_the_operations_that_are_said_to_be_there(console):
    wrong = [
        f"{' '.join(operation)} at {place}"
        for found, place, _ in rows()
        if place != PLACELESS
        for operation in found
        if not is_called(operation, console.calls_of(pattern_of(console, place)))
    ]
    assert wrong == []


def test_what_is_said_to_have_no_place_is_requested_nowhere(console):
    wrong = [
        " ".join(operation)
        for found, place, _ in rows()
        if place == PLACELESS
        for operation in found
        if is_called(operation, console.calls)
    ]
    assert wrong == []


def test_each_row_says_what_is_there_or_why_nothing_is():
    assert [found for found, place, what in rows() if not what] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('get<readonly Thing<{ a: 1 }>[]>(\n  "/things", { all })', {("GET", "/things")}),
        ("await put(`/things/${thing.id}/parts/${of(`${a}`)}`, {})", {("PUT", "/things/{}/parts/{}")}),
        ("await remove(`/sessions?userId=${user.id}`)", {("DELETE", "/sessions")}),
        ('const PATH = "/things";\nget(`${PATH}/${id}`)', {("GET", "/things/{}")}),
        ('post(`/of/${all ? "group" : "device"}`)', {("POST", "/of/group"), ("POST", "/of/device")}),
        ("address(`/files/${format}`)", {("GET", "/files/csv"), ("GET", "/files/gpx")}),
        ('fetch(address("/users"), {\n  method: "POST",', {("GET", "/users"), ("POST", "/users")}),
        ('<RecordDialog<A>\n  path="/a"', {("POST", "/a"), ("GET", "/a/{}"), ("PUT", "/a/{}")}),
        ("<video src={entry.playUrl ?? url}", {("GET", "/media/{}/{}/film")}),
        ('map.get("/things"); things.remove("/things"); get(path)', set()),
    ],
)  # fmt: skip
def test_calls_are_found_in_sources(text, expected):
    assert calls_in(text, {"format": ("csv", "gpx")}) == expected


def test_a_place_requests_what_it_imports_and_not_what_other_places_do():
    texts = {
        "main.tsx": 'import { App } from "./frame/App";',
        "frame/App.tsx": 'import { routes } from "../routes";\nget("/server");',
        "routes.ts": 'const a: Chunk = () => import("./a/A");\nconst b: Chunk = () => import("./b/B");\n'
        '  { pattern: "/a", load: a },\n  { pattern: "/b/:id", load: b },\n',
        "a/A.tsx": 'import { save } from "./save";\nconst later = import("./Later");',
        "a/save.ts": 'post("/a");',
        "a/Later.tsx": 'get("/later");',
        "b/B.tsx": "get(`/b/${id}`);",
    }
    console = Console(texts, {})
    assert console.calls_of("/a") == {("GET", "/server"), ("POST", "/a"), ("GET", "/later")}
    assert console.calls_of("/b/:id") == {("GET", "/server"), ("GET", "/b/{}")}
    assert pattern_of(console, "/b/7?view=week") == "/b/:id"
    assert pattern_of(console, "/c") is None
