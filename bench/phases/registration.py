"""Terminals that connect, register at once and stay connected."""

from collections.abc import Iterator
from contextlib import contextmanager

from motorpool.bench.load.plan import RegistrationLoad, RegistrationResult
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.options import BenchError
from motorpool.bench.server import Server

RESULT_SECONDS = 240.0
"""Time for connecting and registering all terminals."""


@contextmanager
def connected_fleet(
    server: Server, count: int, *, first: int = 0, at_once: int = 0
) -> Iterator[RegistrationResult]:
    """Register `count` terminals, `at_once` in the same moment, and keep them connected during the block.

    With 0 all register in the same moment. Their numbers count from `first`: the same ones are the same
    terminals again.

    Raises:
        BenchError: the server refuses connections, or does not answer in time.
    """
    phones = tuple(f"133{number:08d}" for number in range(first + 1, first + count + 1))
    load = RegistrationLoad(host=server.host, port=server.jt808_port, phones=phones, at_once=at_once)
    try:
        with run_program("registrations", load) as program:
            yield program.wait_for(RegistrationResult, RESULT_SECONDS)
    except LoadFailed as error:
        raise BenchError(f"registration: {error}") from error
