"""What the sources of the console request of the API, and from which of its places.

Nothing is executed: calls of the client (`src/api/call.ts`), and of what saves records with it, are found by
their names, and their paths by the literals that stand there. What is between `${` and `}` counts as one
segment of a path.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

SOURCES = Path(__file__).parents[3] / "api" / "console" / "src"
PARAMETER: Final = "{}"
"""A segment of a path that is not known, or a parameter of an operation."""
ONE: Final = f"/{PARAMETER}"
METHODS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    **dict.fromkeys(
        "get getCounted getParts getVersioned getDated read address askingOf useAll useRecords".split(),  # noqa: SIM905
        (("GET", ""),),
    ),
    **dict.fromkeys(("post", "postDated"), (("POST", ""),)),
    "put": (("PUT", ""),),
    "remove": (("DELETE", ""),),
    "deleteRecord": (("DELETE", ONE),),
    "changeRecord": (("GET", ONE), ("PUT", ONE)),
    "saveRecord": (("POST", ""), ("GET", ONE), ("PUT", ONE)),
    "RecordDialog": (("POST", ""), ("GET", ONE), ("PUT", ONE)),
    "RecordTable": (("POST", ""), ("GET", ONE), ("PUT", ONE), ("DELETE", ONE)),
    "RecordList": (("GET", ""), ("POST", ""), ("GET", ONE), ("PUT", ONE), ("DELETE", ONE)),
}
"""What functions and components request of the path that they are given: method, and what follows it."""
_NAMES = "|".join(sorted(METHODS, key=len, reverse=True))
_CALL = re.compile(rf"(?<![\w.#])(?P<name>{_NAMES})(?:<[^()]*?>)?\(\s*")
_ELEMENT = re.compile(rf"<(?P<name>{_NAMES})(?:<\w+>)?\s[^>]*?\bpath=\{{?")
_SENT = re.compile(r"fetch\(address\(\"(?P<path>[^\"]+)\"\), \{\s*method: \"(?P<method>\w+)\"")
_CONSTANT = re.compile(r"\bconst (?P<name>\w+)(?:: string)? = (?=[\"`])")
_FILE = re.compile(r"\bconst (?P<name>\w+) = \w+\.url\.slice\(\"/api\"\.length\)")
_SHOWN = re.compile(r"\b(?:src|poster)=\{\w+\.(?P<field>playUrl|pictureUrl)\b")
FILE: Final = "/media/{}/{}"
"""Where files are; entries of the library and evidence say it as `url`."""
SHOWN: Final = {"playUrl": f"{FILE}/film", "pictureUrl": f"{FILE}/picture"}
"""Where pictures and films of files are, by the field that says so."""
_IMPORT = re.compile(r"(?:from|import)\s*(?P<lazily>\()?\s*\"(?P<target>\.[^\"]+)\"")
_ROUTE = re.compile(r"pattern: \"(?P<pattern>[^\"]+)\", load: (?P<chunk>\w+)")
_CHUNK = re.compile(r"const (?P<chunk>\w+): Chunk = (?P<text>.*?);\n", re.DOTALL)
_WORD = re.compile(r"\"([\w.]+)\"")

Call = tuple[str, str]
"""A method, and a path such as `/devices/{}`."""


class Console:
    """The sources of the console, by their paths below `src`."""

    def __init__(self, texts: Mapping[str, str], choices: Mapping[str, Iterable[str]]) -> None:
        """`choices` are the words that expressions in paths stand for, by what is between `${` and `}`."""
        self._texts = texts
        self._choices = choices

    @cached_property
    def routes(self) -> Mapping[str, set[str]]:
        """The modules of each place, by the pattern of its addresses."""
        text = self._texts["routes.ts"]
        modules = {}
        for chunk in _CHUNK.finditer(text):
            imported = re.search(r"import\(\"\./([^\"]+)\"\)", chunk["text"])
            assert imported, chunk["text"]
            modules[chunk["chunk"]] = self._named(imported[1])
        found: dict[str, set[str]] = {}
        for route in _ROUTE.finditer(text):
            found.setdefault(route["pattern"], set()).add(modules[route["chunk"]])
        return found

    def calls_of(self, pattern: str) -> set[Call]:
        """Return what the place of an address requests, with what stands around all places."""
        modules = self._reached("main.tsx", *self.routes[pattern])
        return set[Call]().union(*(self._calls[module] for module in modules))

    @cached_property
    def _calls(self) -> Mapping[str, set[Call]]:
        return {module: calls_in(text, self._choices) for module, text in self._texts.items()}

    @cached_property
    def calls(self) -> set[Call]:
        """What any place requests."""
        return {call for pattern in self.routes for call in self.calls_of(pattern)}

    def _reached(self, *starts: str) -> set[str]:
        """Return the modules that these import, directly or not, with themselves."""
        found, waiting = set[str](), list(starts)
        while waiting:
            module = waiting.pop()
            if module not in found:
                found.add(module)
                waiting += self._imported(module)
        return found

    def _imported(self, module: str) -> Iterator[str]:
        for found in _IMPORT.finditer(self._texts[module]):
            # The table of places imports all of them, each when it is opened.
            if found["target"].endswith(".css") or (module == "routes.ts" and found["lazily"]):
                continue
            yield self._named(_joined(PurePosixPath(module).parent, found["target"].partition("?")[0]))

    def _named(self, path: str) -> str:
        found = [name for end in ("", ".ts", ".tsx", "/index.ts") if (name := path + end) in self._texts]
        assert found, path
        return found[0]


def read_console(choices: Mapping[str, Iterable[str]]) -> Console:
    """Return the console, without its tests."""
    texts = {
        path.relative_to(SOURCES).as_posix(): path.read_text(encoding="utf-8")
        for path in SOURCES.rglob("*.*")
        if path.suffix in {".ts", ".tsx", ".json"} and ".test." not in path.name
    }
    return Console(texts, choices)


def calls_in(text: str, choices: Mapping[str, Iterable[str]]) -> set[Call]:
    """Return what the text of a module requests; calls whose path comes from elsewhere are left out."""
    constants: dict[str, str | None] = {found["name"]: FILE for found in _FILE.finditer(text)}
    for found in _CONSTANT.finditer(text):
        constants[found["name"]] = _literal(text, found.end())
    calls = {(found["method"], found["path"]) for found in _SENT.finditer(text)}
    calls |= {("GET", SHOWN[found["field"]]) for found in _SHOWN.finditer(text)}
    for found in (*_CALL.finditer(text), *_ELEMENT.finditer(text)):
        path = _literal(text, found.end())
        if path is None:
            name = re.compile(r"\w+").match(text, found.end())
            path = constants.get(name[0]) if name else None
        if path is None:
            continue
        for whole in _alternatives(path, constants, choices):
            path = whole.partition("?")[0]
            calls |= {(method, path + rest) for method, rest in METHODS[found["name"]]}
    return calls


def _literal(text: str, at: int) -> str | None:
    """Return the string or template that begins there; None where none does."""
    if text[at : at + 1] == '"':
        return text[at + 1 : text.index('"', at + 1)]
    if text[at : at + 1] != "`":
        return None
    depth, end = 0, at + 1
    while depth or text[end] != "`":
        depth += (text[end] == "{" and (depth > 0 or text[end - 1] == "$")) - (text[end] == "}" and depth > 0)
        end += 1
    return text[at + 1 : end]


def _alternatives(
    path: str, constants: Mapping[str, str | None], choices: Mapping[str, Iterable[str]]
) -> Iterator[str]:
    """Yield the paths that a template stands for."""
    found = re.search(r"\$\{(?P<expression>(?:[^{}]|\{[^{}]*\})*)\}", path)
    if found is None:
        yield path
        return
    expression = found["expression"]
    words: Iterable[str | None] = (PARAMETER,)
    if expression in constants:
        words = (constants[expression],)
    elif expression in choices:
        words = choices[expression]
    elif "?" in expression and (quoted := _WORD.findall(expression)):
        words = quoted
    for word in words:
        yield from _alternatives(
            path[: found.start()] + (word or PARAMETER) + path[found.end() :], constants, choices
        )


def _joined(folder: PurePosixPath, target: str) -> str:
    parts = list(folder.parts)
    for part in target.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
