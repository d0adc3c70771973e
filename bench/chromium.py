"""Runs a program that drives Chromium, in a process of its own."""

import os
import subprocess
import sys

from motorpool.bench.options import BenchError


def run_in_chromium(module: str, *arguments: str, password: str, seconds: float) -> str:
    """Run a module of the benchmark to its end, and return the last line that it writes.

    It finds the password of its login in the environment, which others do not see.

    Raises:
        BenchError: Chromium or Playwright is missing, the program failed, or took longer than `seconds`.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", f"motorpool.bench.{module}", *arguments],
            env=os.environ | {"MOTORPOOL_BROWSER_PASSWORD": password},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BenchError("Chromium did not finish in time") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        named = [line for line in lines if "Error" in line] or lines or ["no output"]
        raise BenchError(f"Chromium: {named[-1]}")
    return done.stdout.splitlines()[-1]
