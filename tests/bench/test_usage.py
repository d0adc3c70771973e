"""What server and database use from one reading to another."""

from motorpool.bench.usage import Reading, Usage, usage_between


def test_shares_are_of_the_time_between_two_readings() -> None:
    first = Reading(100.0, 7.0, 3.0, 1.0, 50_000_000)
    second = Reading(104.0, 9.0, 3.5, 1.25, 60_000_000)
    assert usage_between(first, second) == Usage(
        seconds=4.0, server_share=0.5, database_share=0.125, waiting_share=0.0625
    )
