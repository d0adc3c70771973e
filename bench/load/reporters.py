"""Many JT/T 808 terminals that report at a steady rate, before an instant and after it.

`python -m motorpool.bench.load.reporters` reads a ReporterLoad from standard input and writes Marks and a
ReporterResult to standard output.
"""

import gc
import sys
import time
from array import array

import msgspec

from motorpool.bench.load.plan import Mark, ReporterLoad, ReporterResult, ReportSpan
from motorpool.bench.load.telling import percentile_ms, raise_file_limit, tell
from motorpool.bench.load.terminals import Terminals


def carry_out(load: ReporterLoad) -> ReporterResult:
    """Connect, report until the first span begins, then measure both.

    Raises:
        OSError: the server refuses or closes.
    """
    terminals = Terminals(load.terminals)
    terminals.connect()
    edge = time.perf_counter() + load.edge_epoch - time.time()
    tell(Mark("ready"))
    rate = load.terminals.rate
    terminals.pace(edge - load.before_seconds, rate)
    terminals.latencies = array("d")
    tell(Mark("begin"))
    terminals.pace(edge, rate)
    before, terminals.latencies = terminals.latencies, array("d")
    terminals.late = 0
    tell(Mark("edge"))
    terminals.pace(edge + load.during_seconds, rate)
    tell(Mark("end"))
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
    ordered = sorted(latencies)
    return ReportSpan(
        answers=len(ordered),
        p50_ms=percentile_ms(ordered, 0.50),
        p99_ms=percentile_ms(ordered, 0.99),
        worst_ms=percentile_ms(ordered, 1.0),
    )


def main() -> None:
    """Read the load, carry it out, tell the result."""
    load = msgspec.json.decode(sys.stdin.readline(), type=ReporterLoad)
    raise_file_limit()
    # Nothing here makes cycles; a collection in mid-run would be measured as the server's.
    gc.disable()
    tell(carry_out(load))


if __name__ == "__main__":
    main()
