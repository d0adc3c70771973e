"""How each provider is asked and read; the answers are shaped as its documentation shows them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.geocoding.addresses import Address
from motorpool.actors.geocoding.geocoders import PROVIDERS
from motorpool.actors.geocoding.searches import SEARCHES

OSM = {
    "house_number": "6",
    "road": "Marktplatz",
    "suburb": "Mitte",
    "town": "Bruchsal",
    "county": "Landkreis Karlsruhe",
    "state": "Baden-Württemberg",
    "postcode": "76646",
    "country": "Deutschland",
    "country_code": "de",
}
FEATURE = {
    "housenumber": "6",
    "street": "Marktplatz",
    "district": "Mitte",
    "city": "Bruchsal",
    "county": "Landkreis Karlsruhe",
    "state": "Baden-Württemberg",
    "postcode": "76646",
}
EXPECTED = Address(
    house="6",
    road="Marktplatz",
    settlement="Bruchsal",
    suburb="Mitte",
    district="Landkreis Karlsruhe",
    state="Baden-Württemberg",
    country="DE",
    postcode="76646",
)


def component(text, *types, short=None):
    return {"long_name": text, "short_name": short or text, "types": list(types)}


ANSWERS = {
    "nominatim": ({"display_name": "all of it", "address": OSM}, {"full": "all of it"}),
    "locationiq": ({"display_name": "all of it", "address": OSM}, {"full": "all of it"}),
    "opencage": ({"results": [{"components": OSM, "formatted": "all of it"}]}, {"full": "all of it"}),
    "photon": ({"features": [{"properties": {**FEATURE, "countrycode": "DE"}}]}, {}),
    "geocodejson": (
        {
            "features": [
                {"properties": {"geocoding": {**FEATURE, "country_code": "de", "label": "all of it"}}}
            ]
        },
        {"full": "all of it"},
    ),
    "geoapify": (
        {"features": [{"properties": {**FEATURE, "country_code": "de", "formatted": "all of it"}}]},
        {"full": "all of it"},
    ),
    "ban": (
        {
            "features": [
                {
                    "properties": {
                        "label": "8 Boulevard du Port 80000 Amiens",
                        "housenumber": "8",
                        "name": "8 Boulevard du Port",
                        "street": "Boulevard du Port",
                        "postcode": "80000",
                        "city": "Amiens",
                        "context": "80, Somme, Hauts-de-France",
                        "type": "housenumber",
                    }
                }
            ]
        },
        {
            "house": "8",
            "road": "Boulevard du Port",
            "settlement": "Amiens",
            "suburb": "",
            "district": "Somme",
            "state": "Hauts-de-France",
            "country": "FR",
            "postcode": "80000",
            "full": "8 Boulevard du Port 80000 Amiens",
        },
    ),
    "google": (
        {
            "status": "OK",
            "results": [
                {
                    "formatted_address": "all of it",
                    "address_components": [
                        component("6", "street_number"),
                        component("Marktplatz", "route", short="Marktpl."),
                        component("Mitte", "political", "sublocality", "sublocality_level_1"),
                        component("Bruchsal", "locality", "political"),
                        component("Landkreis Karlsruhe", "administrative_area_level_2", "political"),
                        component(
                            "Baden-Württemberg", "administrative_area_level_1", "political", short="BW"
                        ),
                        component("Germany", "country", "political", short="DE"),
                        component("76646", "postal_code"),
                    ],
                }
            ],
        },
        {"state": "BW", "full": "all of it"},
    ),
    "here": (
        {
            "items": [
                {
                    "title": "all of it",
                    "address": {
                        "label": "all of it",
                        "countryCode": "DEU",
                        "state": "Baden-Württemberg",
                        "county": "Landkreis Karlsruhe",
                        "city": "Bruchsal",
                        "district": "Mitte",
                        "street": "Marktplatz",
                        "postalCode": "76646",
                        "houseNumber": "6",
                    },
                }
            ]
        },
        {"country": "DEU", "full": "all of it"},
    ),
    "tomtom": (
        {
            "addresses": [
                {
                    "address": {
                        "streetNumber": "6",
                        "streetName": "Marktplatz",
                        "countryCode": "DE",
                        "countrySubdivision": "Baden-Württemberg",
                        "countrySecondarySubdivision": "Landkreis Karlsruhe",
                        "municipality": "Bruchsal",
                        "municipalitySubdivision": "Mitte",
                        "postalCode": "76646",
                        "freeformAddress": "all of it",
                    }
                }
            ]
        },
        {"full": "all of it"},
    ),
}
NOTHING = {
    "nominatim": {"error": "Unable to geocode"},
    "locationiq": {"error": "Unable to geocode"},
    "opencage": {"results": []},
    "google": {"status": "ZERO_RESULTS", "results": []},
    "here": {"items": []},
    "tomtom": {"addresses": []},
}


def test_every_provider_is_tested_here():
    assert set(ANSWERS) == set(PROVIDERS)


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_the_parts_of_an_address_are_found_in_the_providers_answer(name):
    answer, differences = ANSWERS[name]
    assert PROVIDERS[name].read(answer) == Address(
        **{**{each: getattr(EXPECTED, each) for each in Address.__struct_fields__}, **differences}
    )


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_a_place_without_an_address_has_none(name):
    assert PROVIDERS[name].read(NOTHING.get(name, {"features": []})) is None


def test_photon_names_a_street_itself_by_its_name():
    answer = {"features": [{"properties": {"name": "Marktplatz", "type": "street", "city": "Bruchsal"}}]}
    assert PROVIDERS["photon"].read(answer) == Address(road="Marktplatz", settlement="Bruchsal")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
shapes = st.one_of(
    json_values,
    st.fixed_dictionaries({"address": json_values}),
    st.sampled_from(["results", "features", "items", "addresses"]).flatmap(
        lambda key: st.fixed_dictionaries(
            {
                key: st.lists(
                    st.fixed_dictionaries(
                        {"properties": json_values, "components": json_values, "address": json_values}
                    ),
                    max_size=2,
                )
            }
        )
    ),
)


@given(st.sampled_from(sorted(PROVIDERS)), shapes)
def test_an_answer_of_any_shape_is_read_or_stumbled_over_in_known_ways(name, answer):
    try:
        found = PROVIDERS[name].read(answer)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError):
        return
    assert found is None or all(isinstance(getattr(found, part), str) for part in Address.__struct_fields__)


POINTS = {
    "nominatim": {"lat": "49.1", "lon": "8.6"},
    "locationiq": {"lat": "49.1", "lon": "8.6"},
    "opencage": {"geometry": {"lat": 49.1, "lng": 8.6}},
    "google": {"geometry": {"location": {"lat": 49.1, "lng": 8.6}}},
    "here": {"position": {"lat": 49.1, "lng": 8.6}},
    "tomtom": {"position": {"lat": 49.1, "lon": 8.6}},
}
"""Where a place is, as each provider says it in its searches; the others answer GeoJSON."""


@pytest.mark.parametrize("kind", PROVIDERS)
def test_searches_are_read(kind):
    answer, _ = ANSWERS[kind]
    first = next((value[0] for value in answer.values() if isinstance(value, list)), answer)
    row = {**first, **POINTS.get(kind, {"geometry": {"coordinates": [8.6, 49.1]}})}
    form = SEARCHES[kind].form
    is_list = form.response(row) is row
    lists = {name: [row] for name in ("features", "results", "items")}
    found = form.rows([row] if is_list else lists)
    assert found == [row]
    assert tuple(map(float, form.point(row))) == (49.1, 8.6)
    assert PROVIDERS[kind].read(form.response(row)) == PROVIDERS[kind].read(answer)


@pytest.mark.parametrize(
    ("kind", "own", "url"),
    [
        ("nominatim", None, "https://nominatim.openstreetmap.org/search"),
        ("nominatim", "https://geo.example/n/reverse", "https://geo.example/n/search"),
        ("nominatim", "https://geo.example/n/reverse.php", None),
        ("photon", "http://10.0.0.1:2322/reverse", "http://10.0.0.1:2322/api"),
        ("ban", "https://geo.example/reverse/", "https://geo.example/search/"),
        ("google", "https://geo.example/json", "https://geo.example/json"),
        ("here", "https://geo.example/v1/revgeocode", None),
    ],
)
def test_a_server_of_ones_own_searches_beside_where_it_says_what_is_at_a_place(kind, own, url):
    assert SEARCHES[kind].url_at(own) == url
