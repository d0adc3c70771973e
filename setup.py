"""Builds the package only with the console in it, which is made before. All else stands in pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

CONSOLE = Path(__file__).parent / "api" / "console" / "dist" / "index.html"


class BuildWithConsole(build_py):
    """Copies the modules and the files of the console."""

    def run(self) -> None:
        """Raises SystemExit where the console was not built, which an editable installation may be later."""
        if not self.editable_mode and not CONSOLE.is_file():
            raise SystemExit("the console is not built: run `make install` (or api/console/build.py) first")
        super().run()


setup(cmdclass={"build_py": BuildWithConsole})
