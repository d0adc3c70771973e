"""The two sides of `--compare`: a server, a checkout of Motorpool to start one of, or an earlier run."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec

from motorpool.bench.baseline import read_run
from motorpool.bench.comparison import Change, compare
from motorpool.bench.figures import Figure
from motorpool.bench.options import BenchError, Options
from motorpool.bench.server import servers_of

Measure = Callable[[str, Options], Sequence[Figure]]
"""Runs the scenarios for a side with these options, and returns their figures."""


def compare_sides(
    words: Sequence[str], options: Options, repeats: int, measure: Measure
) -> Iterator[list[Change]]:
    """Measure both sides by turns so often, except those that were measured earlier, and compare them.

    What the turns so far tell is yielded after each of them.

    A side is an address such as http://127.0.0.1:8082, a folder with a checkout (`.` is that of the current
    folder), or a file that `--json` wrote.

    Raises:
        BenchError: one cannot be measured.
    """
    kept = [_earlier(word) for word in words]
    runs: list[list[Sequence[Figure]]] = [[] if found is None else [found] for found in kept]
    in_turns = kept == [None, None]
    if None not in kept:
        yield compare(runs[0], runs[1], in_turns=in_turns)
        return
    for turn in range(repeats):
        # The one that was first is second in the next turn: neither always meets a machine that has rested.
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            if kept[side] is None:
                runs[side].append(_measure(words[side], options, measure))
        yield compare(runs[0], runs[1], in_turns=in_turns)


def check_sides(words: Sequence[str]) -> None:
    """Refuse what is no side, before anything is measured.

    Raises:
        BenchError: it is none.
    """
    for word in words:
        if _earlier(word) is None and not is_address(word):
            _checkout(word)


def is_address(word: str) -> bool:
    """Return whether a side is the address of a server."""
    return word.startswith(("http://", "https://"))


def _earlier(word: str) -> list[Figure] | None:
    path = Path(word)
    if is_address(word) or not path.is_file():
        return None
    try:
        return read_run(path).results
    except (OSError, msgspec.MsgspecError) as error:
        raise BenchError(f"cannot read {word}: {error}") from error


def _measure(word: str, options: Options, measure: Measure) -> Sequence[Figure]:
    if is_address(word):
        return measure(word, msgspec.structs.replace(options, server=word))
    own = _checkout(word)
    with servers_of(own) if own is not None else nullcontext():
        return measure(word, msgspec.structs.replace(options, server=None))


def _checkout(word: str) -> Path | None:
    """Return the folder of a checkout; None of this program's own."""
    folder = Path(word).resolve()
    if not (folder / ".src" / "motorpool").is_dir():
        raise BenchError(f"{word} is no address, no checkout of Motorpool and no file of an earlier run")
    return None if folder == Path(__file__).resolve().parent.parent else folder
