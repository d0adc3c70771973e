"""What a type checker must know of tells and asks: mypy finds the errors marked in the examples, no more."""

import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).with_name("typing_examples.py.txt")
ROOT = Path(__file__).parents[2]


def test_asks_are_typed_by_their_request_and_tells_by_their_kind(tmp_path: Path) -> None:
    lines = EXAMPLES.read_text().splitlines()
    example = tmp_path / "typing_examples.py"
    example.write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    command += ["--cache-dir", str(ROOT / ".mypy_cache"), str(example)]
    done = subprocess.run(command, cwd=ROOT / ".src", capture_output=True, text=True, check=False)
    found = re.findall(r"^.*typing_examples\.py:(\d+): error: .*\[([a-z-]+)\]$", done.stdout, re.MULTILINE)
    expected = [
        (str(number), wanted[1])
        for number, line in enumerate(lines, 1)
        if (wanted := re.search(r"# error: ([a-z-]+)$", line))
    ]
    assert found == expected, done.stdout + done.stderr
    assert len(expected) >= 6
