"""Many JT/T 808 terminals that report at a steady rate, before an instant and after it.

`python -m motorpool.bench.load.reporters` reads a ReporterLoad from standard input and writes Marks and a
ReporterResult to standard output.
"""

import gc
import sys
import time
from array import array

import msgspec

from motorpool.bench.latencies import Latencies
from motorpool.bench.load.output import raise_file_limit, write_message
from motorpool.bench.load.plan import Mark, ReporterLoad, ReporterResult, ReportSpan
from motorpool.bench.load.terminals import Terminals


def run_load(load: ReporterLoad) -> ReporterResult:
    """Connect, report until the first span begins, then measure both.

    Raises:
        OSError: the server refuses or closes.
    """
    terminals = Terminals(load.terminals)
    terminals.connect()
    edge = time.perf_counter() + load.edge_epoch - time.time()
    write_message(Mark("ready"))
    rate = load.terminals.rate
    terminals.pace(edge - load.before_seconds, rate)
    terminals.latencies = array("d")
    write_message(Mark("begin"))
    terminals.pace(edge, rate)
    before, terminals.latencies = terminals.latencies, array("d")
    terminals.late = 0
    write_message(Mark("edge"))
    terminals.pace(edge + load.during_seconds, rate)
    write_message(Mark("end"))
    terminals.settle()
    return ReporterResult(
        before=_span(before),
        during=_span(terminals.latencies),
        sent=sum(terminals.sent),
        rejected=terminals.rejected,
        lost=sum(terminals.sent) - sum(terminals.answered),
        late=terminals.late,
    )


def _span(latencies: "array[float]") -> ReportSpan:
    return ReportSpan(answers=len(latencies), latencies=Latencies.of(latencies))


def main() -> None:
    """Read the load, run it, write the result."""
    load = msgspec.json.decode(sys.stdin.readline(), type=ReporterLoad)
    raise_file_limit()
    # There are no reference cycles here, and a collection would count as the server's latency.
    gc.disable()
    write_message(run_load(load))


if __name__ == "__main__":
    main()
