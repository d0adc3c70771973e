async def test_the_house_has_the_systems_clock(served):
    assert served.context.clock is served.clock
    assert not served.context.closing.is_set()
