import pytest
from tests.api.cases import on_one_server


async def test_all_cases_run_and_one_that_fails_is_named():
    run = []

    @on_one_server(("number", "text"), [(1, "one"), (2, "two"), (3, "three")])
    async def test(number, text, limit):
        run.append((number, text))
        assert number < limit

    await test(limit=4)
    assert run == [(1, "one"), (2, "two"), (3, "three")]
    with pytest.raises(AssertionError) as failure:
        await test(limit=2)
    assert run[3:] == [(1, "one"), (2, "two")]
    assert failure.value.__notes__ == ["case: (2, 'two')"]
