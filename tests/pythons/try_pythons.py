"""Tries the package with each Python of this machine: `python -m tests.pythons.try_pythons [PYTHON …]`, which
`make test-pythons` runs.

Each Python gets two new environments: one by the lock file, one with the newest of everything that the
package index has for it, as `pip install` of the wheel takes it. smoke.py is run in both. The exit code is 1
if any of it fails, or if there is no Python.
"""

import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from packaging.specifiers import SpecifierSet
from tests.checkouts import ROOT, link_checkout

LOCK = ROOT / "requirements.lock"
SMOKE = Path(__file__).with_name("smoke.py")
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
ABSENT = "no matching distribution found for "
"""What pip says of a locked version that has no wheel for a Python."""
TRIES = ("locked", "newest")
SECONDS = 1800.0
"""Time for one program: what is installed may have to be downloaded."""


class Python(NamedTuple):
    """A Python of this machine."""

    version: tuple[int, int, int]
    path: Path
    """Of its program, without symbolic links."""

    @property
    def title(self) -> str:
        """Its version, such as "3.13.0"."""
        return ".".join(map(str, self.version))


class Outcome(NamedTuple):
    """What came of one environment."""

    result: str
    """Shown in the table."""
    is_failure: bool = False
    details: str = ""


class Failed(Exception):
    """A program that is needed failed; the text is what it said."""


def supported() -> SpecifierSet:
    """Return which Pythons the package is for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return SpecifierSet(project["requires-python"])


def candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield programs that may be Pythons: `python3.N` of the search path, and those of pyenv."""
    for folder in environment.get("PATH", "").split(os.pathsep):
        if folder:
            yield from (
                path for path in Path(folder).glob("python3.*") if path.suffix.removeprefix(".").isdigit()
            )
    root = environment.get("PYENV_ROOT") or Path(environment.get("HOME", "/")) / ".pyenv"
    yield from Path(root).glob("versions/*/bin/python3")


def identify(paths: Iterable[Path], versions: SpecifierSet) -> list[Python]:
    """Return the Pythons of these versions among the programs, each once, the oldest first."""
    found = set()
    ask = "import sys; print(*sys.version_info[:3], sys._base_executable)"
    for path in paths:
        try:
            # A shim of pyenv fails for a version that is not chosen; that is found in its folder.
            told = run([str(path), "-I", "-c", ask]).split(maxsplit=3)
        except (Failed, OSError):
            continue
        major, minor, micro = map(int, told[:3])
        python = Python((major, minor, micro), Path(told[3].strip()).resolve())
        if python.title in versions:
            found.add(python)
    return sorted(found)


def run(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    """Run a program outside of the checkout; return its output. Raises Failed."""
    try:
        done = subprocess.run(
            command, cwd="/", env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(command)} took longer than {SECONDS:g} s") from None
    if done.returncode:
        raise Failed(f"{' '.join(command)}\n{done.stdout}{done.stderr}".strip())
    return done.stdout


def install(program: Path, wheel: Path, kind: str) -> None:
    """Install the wheel into an environment. Raises Failed."""
    pip = [str(program), *PIP]
    if kind == "locked":
        run([*pip, "install", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(LOCK)])
        run([*pip, "install", "--no-deps", str(wheel)])
    else:
        run([*pip, "install", "--upgrade", "--upgrade-strategy", "eager", str(wheel)])


def attempt(python: Python, wheel: Path, kind: str) -> Outcome:
    """Install the wheel for a Python, and try it."""
    with tempfile.TemporaryDirectory(prefix="motorpool-python-") as name:
        folder = Path(name)
        # PostgreSQL may run as another user, who must be able to enter.
        folder.chmod(0o755)
        program = folder / "bin" / "python"
        try:
            run([str(python.path), "-m", "venv", name])
            install(program, wheel, kind)
        except Failed as failure:
            text = str(failure)
            _, absent, rest = text.lower().partition(ABSENT)
            if kind == "locked" and absent:
                return Outcome(f"no wheel of {rest.split()[0]}")
            return Outcome("NOT INSTALLED", is_failure=True, details=text)
        try:
            run([str(program), str(SMOKE)])
        except Failed as failure:
            return Outcome("FAILED", is_failure=True, details=str(failure))
        return Outcome("works")


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout in an empty folder. Raises Failed."""
    link_checkout(folder, with_console=True)
    run([sys.executable, *PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(folder)])
    [wheel] = folder.glob("*.whl")
    return wheel


def main(arguments: list[str]) -> int:
    """Try the Pythons that are named, else all that are found; return the exit code."""
    paths = map(Path, arguments) if arguments else candidates(os.environ)
    pythons = identify(paths, supported())
    if not pythons:
        print("there is no Python to try")
        return 1
    failures = []
    with tempfile.TemporaryDirectory(prefix="motorpool-wheel-") as name:
        wheel = build_wheel(Path(name))
        print(f"{'Python':10}", *(f"{kind:24}" for kind in TRIES), "program")
        for python in pythons:
            outcomes = [attempt(python, wheel, kind) for kind in TRIES]
            print(f"{python.title:10}", *(f"{each.result:24}" for each in outcomes), python.path, flush=True)
            failures += [
                f"{python.title}, {kind}: {outcome.details}"
                for kind, outcome in zip(TRIES, outcomes, strict=True)
                if outcome.is_failure
            ]
    for failure in failures:
        print(f"\n{failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
