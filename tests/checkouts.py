"""Copies of this checkout to build the package in: that leaves a folder `build`."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
NEEDED = (".src", "pyproject.toml", "setup.py", "README.md", "LICENSE")
CONSOLE = Path("api") / "console" / "dist"


def link_checkout(folder: Path, *, with_console: bool) -> None:
    """Fill an empty folder with links to what the package is built of."""
    for name in NEEDED:
        (folder / name).symlink_to(ROOT / name)
    if with_console:
        (folder / CONSOLE).parent.mkdir(parents=True)
        (folder / CONSOLE).symlink_to(ROOT / CONSOLE)
