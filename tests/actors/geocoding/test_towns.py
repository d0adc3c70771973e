"""The town that a place is in, or the nearest one."""

import gzip
import json
import math

import pytest
from geographiclib.geodesic import Geodesic
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.geocoding.towns import FILE, FoundTown, NearTown, TownColumns, Towns, fold, read_towns
from motorpool.actors.rules.distance import EARTH_RADIUS, great_circle

SPHERE = Geodesic(EARTH_RADIUS, 0)
PLACES = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


def towns(*rows):
    """Towns of rows of name, population, latitude and longitude."""
    columns = zip(*sorted(rows, key=lambda row: row[2]), strict=True)
    return Towns(TownColumns(*map(list, columns)))


@given(st.lists(PLACES, min_size=1, max_size=20), PLACES)
def test_the_nearest_is_that_of_the_great_circle(centres, place):
    found = towns(*((str(n), 0, *centre) for n, centre in enumerate(centres))).nearest(*place)
    least = min(great_circle(*centre, *place) for centre in centres)
    at = great_circle(*centres[int(found.name)], *place)
    assert at == pytest.approx(least, abs=1)
    # Around the radius, and at the same distance within a millimetre, either answer is right.
    assert found.metres == pytest.approx(at if at > 1000 else 0, abs=1 if abs(at - 1000) > 1 else 1001)


@pytest.mark.parametrize(
    ("centre", "place"),
    [
        ((52.39886, 13.06566), (52.42, 13.10)),
        ((-17.0, 179.9), (-17.2, -179.8)),
        ((-17.0, -179.9), (-16.8, 179.8)),
        ((89.0, 10.0), (89.0, -170.0)),
        ((-89.5, 100.0), (-89.9, -20.0)),
        ((40.0, 10.0), (-60.0, 20.0)),
    ],
)
def test_distance_and_direction_from_the_centre(centre, place):
    found = towns(("Here", 0, *centre)).nearest(*place)
    true = SPHERE.Inverse(*centre, *place)
    assert found.metres == pytest.approx(true["s12"], rel=1e-6)
    assert 0 <= found.bearing <= 360
    assert math.remainder(found.bearing - true["azi1"], 360) == pytest.approx(0, abs=1e-6)


def test_a_large_town_covers_small_ones_around_it_except_their_own_cores():
    found = towns(("City", 3_000_000, 52.52, 13.40), ("Suburb", 20_000, 52.56, 13.40))
    assert found.nearest(52.54, 13.46) == NearTown("City", 0.0, 0.0)
    assert found.nearest(52.561, 13.40) == NearTown("Suburb", 0.0, 0.0)
    assert found.nearest(52.63, 13.40).name == "Suburb"


def test_without_towns_or_a_place_on_earth_there_is_none(tmp_path):
    assert read_towns(tmp_path / "none.json.gz").nearest(52.0, 13.0) is None
    known = towns(("Here", 0, 0.0, 0.0))
    assert known.nearest(float("nan"), 0.0) is None
    assert known.nearest(0.0, float("inf")) is None
    assert known.nearest(91.0, 0.0) is None


def test_the_list_has_the_towns_of_the_world_and_no_sections_of_cities():
    known = read_towns()
    assert len(known) > 40_000
    assert known.nearest(52.39886, 13.06566) == NearTown("Potsdam", 0.0, 0.0)
    assert known.nearest(52.52, 13.55).name == "Berlin"
    assert known.nearest(-16.5, -180.0).name == "Labasa"
    names = json.loads(gzip.decompress(FILE.read_bytes()))["name"]
    assert "Marzahn" not in names


def test_towns_are_found_by_the_beginning_of_their_name_accents_and_case_aside():
    known = towns(("São Paulo", 9, -23.0, -46.0), ("Sao  Tomé", 5, 0.3, 6.7), ("Santos", 7, -24.0, -46.3))
    assert [town.name for town in known.search("sao", 9)] == ["São Paulo", "Sao  Tomé"]
    assert [town.name for town in known.search(" SÃO T", 9)] == ["Sao  Tomé"]
    assert [town.name for town in known.search("sa", 2)] == ["São Paulo", "Santos"]
    assert known.search("paulo", 9) == known.search(" ", 9) == known.search("sa", 0) == []


def test_towns_called_so_come_first_then_the_nearest_or_else_the_largest():
    known = towns(("Porto", 2, 41.1, -8.6), ("Porto Alegre", 9, -30.0, -51.2), ("Portola", 1, 39.8, -120.5))
    assert [town.name for town in known.search("porto", 9)] == ["Porto", "Porto Alegre", "Portola"]
    assert [town.name for town in known.search("porto", 9, (40.0, -120.0))] == [
        "Porto",
        "Portola",
        "Porto Alegre",
    ]
    assert known.search("portol", 1) == [FoundTown("Portola", "", 39.8, -120.5)]


@given(st.text(max_size=8), st.text(max_size=8))
def test_a_name_is_found_by_any_beginning_of_it(name, rest):
    known = towns((name + rest, 1, 0.0, 0.0))
    assert [town.name for town in known.search(name, 9)] == ([name + rest] if fold(name) else [])


def test_the_list_knows_countries():
    (found,) = read_towns().search("potsdam", 1, (52.4, 13.1))
    assert (found.name, found.country) == ("Potsdam", "DE")
