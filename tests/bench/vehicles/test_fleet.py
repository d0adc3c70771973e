"""Who takes part in a simulated fleet."""

from motorpool.bench.vehicles.fleet import plan_fleet


def test_a_fleet_mixes_forms_and_codings_and_shares_nothing_with_another_seed() -> None:
    fleet = plan_fleet(vehicles=8, phones=3, h265=2)
    assert {plan.version for plan in fleet.vehicles} == {2013, 2019}
    assert [plan.video.coding.ffmpeg_name for plan in fleet.vehicles] == ["h264"] * 6 + ["hevc"] * 2
    assert {plan.backwards for plan in fleet.vehicles} == {True, False}
    ids = [device.unique_id for device in fleet.devices()]
    assert len(set(ids)) == 11
    other = [device.unique_id for device in plan_fleet(vehicles=8, phones=3, seed=2).devices()]
    assert not set(ids) & set(other)


def test_vehicles_on_the_same_street_drive_against_each_other_or_apart() -> None:
    vehicles = plan_fleet(vehicles=12).vehicles
    assert len({(plan.trip, plan.backwards) for plan in vehicles}) == 12
    assert len({plan.seed for plan in vehicles}) == 12
