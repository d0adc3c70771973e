"""Builds the console into `dist/` (docs/decisions/0235-console-build.md).

Run by `make install`. Does nothing if `dist/` was built from the same sources.
"""

import argparse
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from motorpool.api.console.budgets import exceeded
from motorpool.api.console.nodejs import Node, NodeMissing, prepare_node

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DIST = HERE / "dist"
TOWNS = ROOT / "actors" / "geocoding" / "towns.json.gz"
"""What world/build.mjs writes for the server."""
STAMP = DIST / ".inputs"
"""Digest of the sources that `dist/` was built from."""
LANGUAGES = tuple(sorted(path.parent.name for path in (HERE / "src" / "i18n").glob("*/index.ts")))
"""Those of the console: each is a folder, and has a catalog of the server."""
WRITTEN = {
    HERE / "src" / "api" / "types.ts": ("api_types",),
    HERE / "src" / "format" / "kindTable.ts": ("words", "kinds"),
    HERE / "src" / "format" / "attributeTable.ts": ("words", "attributes"),
    **{
        HERE / "src" / "i18n" / language / f"{kind}.ts": ("words", kind, language)
        for language in LANGUAGES
        for kind in ("names", "values")
    },
    HERE / "src" / "i18n" / "en" / "meanings.ts": ("words", "meanings"),
}
"""Sources that modules beside this one write: the module, and what it is called with."""
API = ("actors", "api", "codecs", "runtime", "storage")
"""Folders whose Python files may change the OpenAPI document."""
WORDS = ROOT / "actors" / "words" / "catalogs"
"""The words of the server."""
INPUTS = (
    "package-lock.json",
    "vite.config.ts",
    "tsconfig.json",
    "index.html",
    "build.py",
    "src",
    "public",
    "world",
)
UNREAD = ("public/world/", "src/testing/")
"""Folders that a build writes, or that only tests read."""
BUILD_SECONDS = 300
COMPRESSED = {".css", ".html", ".js", ".json", ".svg", ".txt"}


class BuildFailed(Exception):
    """What was built must not be used."""


def write_sources(digest: str) -> None:
    """Write the sources that are made from the server, unless they were made from one with this digest."""
    made_from = HERE / "src" / "api" / ".types"
    is_known = made_from.exists() and made_from.read_text(encoding="utf-8") == digest
    if is_known and all(path.exists() for path in WRITTEN):
        return
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".src")}
    for path, (module, *arguments) in WRITTEN.items():
        command = (sys.executable, "-m", f"motorpool.api.console.{module}", *arguments)
        ended = subprocess.run(  # noqa: S603 - words of our own
            command, cwd=HERE, check=False, timeout=BUILD_SECONDS, env=environment, capture_output=True
        )
        if ended.returncode:
            raise BuildFailed(f"{path.name} could not be written:\n{ended.stderr.decode()}")
        if not path.exists() or path.read_bytes() != ended.stdout:
            path.write_bytes(ended.stdout)
    made_from.write_text(digest, encoding="utf-8")


def build(node: Node, digest: str) -> None:
    """Build into a folder beside `dist/`, which then takes its place.

    Raises BuildFailed if a budget is broken.
    """
    node.run("world/build.mjs", seconds=BUILD_SECONDS)
    new = HERE / "dist.new"
    words = ("build", "--outDir", new.name, "--emptyOutDir", "--logLevel", "warn")
    node.run("node_modules/vite/bin/vite.js", *words, seconds=BUILD_SECONDS)
    broken = exceeded(new)
    if broken:
        raise BuildFailed("; ".join(broken))
    with (new / "licences.txt").open("a", encoding="utf-8") as licences:
        licences.write((HERE / "world" / "licences.txt").read_text(encoding="utf-8"))
    compress(new)
    (new / STAMP.name).write_text(digest, encoding="utf-8")
    shutil.rmtree(DIST, ignore_errors=True)
    new.rename(DIST)


def compress(folder: Path) -> None:
    """Write each file that gzip makes smaller a second time, compressed, for the server to send."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in COMPRESSED:
            content = gzip.compress(path.read_bytes(), 9, mtime=0)
            path.with_name(f"{path.name}.gz").write_bytes(content)


def digest_of_api() -> str:
    """Return a digest of everything that the written sources are made from."""
    sources = (path for folder in API for path in (ROOT / folder).rglob("*.py"))
    return _digest([*WORDS.glob("*.toml"), *sources])


def digest_of_sources() -> str:
    """Return a digest of everything that Vite reads."""
    places = [HERE / name for name in INPUTS]
    paths = [path for place in places for path in (place.rglob("*") if place.is_dir() else [place])]
    return _digest(
        path
        for path in paths
        if ".test." not in path.name and not path.relative_to(HERE).as_posix().startswith(UNREAD)
    )


def _digest(paths: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in sorted(path for path in paths if path.is_file() and not path.name.startswith(".")):
        found.update(f"{path.relative_to(ROOT).as_posix()}\0{path.stat().st_size}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def is_current(sources: str) -> bool:
    """Tell whether `dist/` is what a build of these sources would make."""
    return TOWNS.exists() and STAMP.exists() and STAMP.read_text(encoding="utf-8") == sources


def run_script(name: str) -> int:
    """Run a script of package.json; return its exit code.

    Where there is neither Node.js nor network it is skipped, except with CI=true.
    """
    write_sources(digest_of_api())
    try:
        node = prepare_node(checks=True)
    except NodeMissing as error:
        print(f"{name} of the console: skipped, because Node.js or its packages are missing ({error})")
        return 1 if os.environ.get("CI") == "true" else 0
    try:
        node.run_npm("run", "--silent", name, seconds=None)
    except subprocess.CalledProcessError as error:
        return error.returncode
    except KeyboardInterrupt:
        return 130
    return 0


def build_if_changed(*, force: bool = False) -> int:
    """Build if a source or the API has changed; return the exit code.

    Without Node.js or network it says so in a line, and the code is 0.
    """
    write_sources(digest_of_api())
    sources = digest_of_sources()
    if is_current(sources) and not force:
        return 0
    try:
        node = prepare_node(checks=False)
    except NodeMissing as error:
        kept = "the one built before stays in use" if STAMP.exists() else "the server runs without it"
        print(f"The console was not built, because Node.js or its packages are missing ({error}); {kept}.")
        return 0
    build(node, sources)
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="build.py", description="Build the console into dist/.")
    parser.add_argument("--force", action="store_true", help="build even if nothing changed")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    command = commands.add_parser("run", help="run a script of package.json: check, dev, format or test")
    command.add_argument("script")
    options = parser.parse_args(arguments)
    try:
        return (
            run_script(options.script) if options.command == "run" else build_if_changed(force=options.force)
        )
    except (BuildFailed, subprocess.SubprocessError) as error:
        print(f"The console was not built: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
