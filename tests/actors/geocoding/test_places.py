"""Where something is, in words."""

from types import SimpleNamespace

import pytest

from motorpool.actors.geocoding import places
from motorpool.actors.geocoding.places import Places, Zones, near_town
from motorpool.actors.geocoding.towns import TownColumns, Towns, read_towns
from motorpool.actors.words.preferences import DISTANCE_UNITS, Preferences
from motorpool.storage.records import Geofence

POTSDAM = (52.39886, 13.06566)
SQUARE = "POLYGON ((52.0 13.0, 52.0 13.02, 52.02 13.02, 52.02 13.0))"


def words(latitude, longitude, *, address=None, zones=(), **preferences):
    point = SimpleNamespace(latitude=latitude, longitude=longitude)
    known = Places(Zones(zones), read_towns(), Preferences(**preferences))
    return known.place_in_words(point, address)


@pytest.mark.parametrize(
    ("preferences", "expected"),
    [
        ({}, "Potsdam, 3 km NE"),
        ({"language": "de"}, "Potsdam, 3 km NO"),
        ({"language": "zh"}, "Potsdam东北方向 3 km"),
        ({"distance": DISTANCE_UNITS["mi"]}, "Potsdam, 2 mi NE"),
        ({"language": "xx", "distance": DISTANCE_UNITS["nmi"]}, "Potsdam, 2 nmi NE"),
    ],
)
def test_outside_of_a_town_distance_and_direction_are_in_the_words_of_the_reader(preferences, expected):
    assert words(52.42, 13.10, **preferences) == expected


@pytest.mark.parametrize("aside", [-0.04, 0.0, 0.04])
def test_each_direction_is_the_middle_of_its_sector(aside):
    around = [(1, aside), (1, 1 + aside), (aside, 1), (-1, 1 - aside), (-1, aside), (-1, aside - 1)]
    around += [(aside, -1), (1, aside - 1)]
    town = Towns(TownColumns(["Here"], [0], [0.0], [10.0]))
    said = [
        near_town(SimpleNamespace(latitude=north / 10, longitude=10 + east / 10), town, Preferences())
        for north, east in around
    ]
    assert [each.split()[-1] for each in said] == ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]


def test_what_is_remembered_of_places_is_bounded(monkeypatch):
    monkeypatch.setattr(places, "MOST_REMEMBERED", 2)
    known = Places(Zones(), read_towns(), Preferences())
    for _ in range(2):
        said = [
            known.place_in_words(SimpleNamespace(latitude=52.42, longitude=13.1 + east / 1000), None)
            for east in (0, 10, 20, 0)
        ]
        assert said == ["Potsdam, 3 km NE", "Potsdam, 4 km NE", "Potsdam, 4 km NE", "Potsdam, 3 km NE"]
    assert len(known._near_towns) <= 2


def test_in_a_town_its_name_is_enough():
    assert words(*POTSDAM) == "Potsdam"


def test_the_zone_goes_before_the_address_and_that_before_the_town():
    zone = Geofence(id=1, name="De\npot", area=f"CIRCLE ({POTSDAM[0]} {POTSDAM[1]}, 100)")
    assert words(*POTSDAM, address="Road 1", zones=[zone]) == "De pot"
    assert words(52.42, 13.10, address="Road 1", zones=[zone]) == "Road 1"


def test_of_several_zones_the_smallest_counts():
    zones = [
        Geofence(id=1, name="Country", area="CIRCLE (52.01 13.01, 100000)"),
        Geofence(id=2, name="Square", area=SQUARE),
        Geofence(id=3, name="Road", area="LINESTRING (51.0 13.01, 53.0 13.01)"),
        Geofence(id=4, name=" ", area="CIRCLE (52.01 13.01, 10)"),
        Geofence(id=5, name="Broken", area="CIRCLE (52.01"),
        Geofence(id=6, name="Bridge", area="CIRCLE (52.015 13.015, 50)", attributes={"floor": 30}),
    ]
    assert words(52.01, 13.005, zones=zones) == "Square"
    assert words(52.01, 13.01, zones=zones) == "Square"
    assert words(52.015, 13.015, zones=zones) == "Bridge"
    assert words(52.5, 13.01, zones=zones) == "Road"
    assert words(52.5, 13.5, zones=zones) == "Country"


def test_a_device_that_never_had_a_fix_is_nowhere():
    assert words(0.0, 0.0, zones=[Geofence(id=1, name="Gulf", area="CIRCLE (0 0, 1000)")]) is None
