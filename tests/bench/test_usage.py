"""What server and database use from one reading to another."""

import math

from motorpool.bench.usage import Reading, Usage, usage_between


def test_shares_are_of_the_time_between_two_readings() -> None:
    first = Reading(100.0, 7.0, 3.0, 1.0, 50_000_000)
    second = Reading(104.0, 9.0, 3.5, 1.25, 60_000_000)
    assert usage_between(first, second) == Usage(
        seconds=4.0, server_share=0.5, database_share=0.125, waiting_share=0.0625
    )


def test_of_no_work_the_cost_is_not_known_and_not_zero() -> None:
    usage = Usage(seconds=4.0, server_share=0.5, database_share=0.25, waiting_share=0.0)
    assert (usage.server_us(2), usage.database_us(2)) == (1e6, 0.5e6)
    assert math.isnan(usage.server_us(0))
    assert math.isnan(usage.database_us(0))
