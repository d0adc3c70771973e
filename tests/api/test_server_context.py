async def test_the_house_has_the_systems_clock(served):
    assert served.house.clock is served.clock
    assert not served.house.closing.is_set()
