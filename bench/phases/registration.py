"""Terminals that connect, register at once and stay connected."""

from collections.abc import Iterator
from contextlib import contextmanager

from motorpool.bench.load.plan import RegistrationLoad, RegistrationResult
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.measured_server import MeasuredServer
from motorpool.bench.options import BenchError

PREFIX = "133"
"""Of the numbers of its terminals."""
RESULT_SECONDS = 240.0
"""Time for connecting and registering all terminals."""


@contextmanager
def connected_fleet(
    server: MeasuredServer, count: int, *, first: int = 0, at_once: int = 0
) -> Iterator[RegistrationResult]:
    """Register `count` terminals, `at_once` in the same moment, and keep them connected during the block.

    With 0 all register in the same moment. Their numbers count from `first`: the same ones are the same
    terminals again.

    Raises:
        BenchError: the server refuses connections, or does not answer in time.
    """
    phones = server.phones(PREFIX, count, first)
    load = RegistrationLoad(host=server.host, port=server.jt808_port, phones=phones, at_once=at_once)
    try:
        with run_program("registrations", load) as program:
            yield program.wait_for(RegistrationResult, RESULT_SECONDS)
    except LoadFailed as error:
        raise BenchError(f"registration: {error}") from error
