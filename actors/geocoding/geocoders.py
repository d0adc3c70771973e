"""The supported geocoders: the request for the address of a place, and the reader of the response.

Formats as their providers document them (Nominatim and LocationIQ reverse, Photon, GeocodeJSON, OpenCage v1,
Google Geocoding, HERE revgeocode v1, TomTom reverseGeocode 2, Geoapify v1, Base Adresse Nationale).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from motorpool.actors.geocoding.addresses import Address

Json = Any
"""The parsed response of a provider, of any form."""


@dataclass(frozen=True, kw_only=True)
class Provider:
    """One kind of geocoder."""

    url: str
    """URL of the public service, with the placeholders `{latitude}` and `{longitude}` where needed."""
    parameters: Mapping[str, str]
    """Query parameters, with the same placeholders."""
    read: Callable[[Json], Address | None]
    """Returns the address in a response, None where there is none at that place."""
    key: str = ""
    """Query parameter of the API key; empty where none is needed."""
    language: str = ""
    """Query parameter of the language; empty where it cannot be chosen."""
    failures: frozenset[str] = field(default=frozenset())
    """Values of `status` in a response with status 200 that mean a failure."""
    no_address: frozenset[int] = field(default=frozenset())
    """HTTP statuses that mean that there is no address at that place."""


def _text(value: Json) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _first(parts: Mapping[str, Json], *names: str) -> str:
    return next((_text(parts[name]) for name in names if _text(parts.get(name))), "")


def _osm(parts: Mapping[str, Json], full: Json) -> Address:
    """Read the parts as OpenStreetMap names them."""
    return Address(
        house=_first(parts, "house_number"),
        road=_first(parts, "road", "pedestrian", "footway", "path", "cycleway"),
        settlement=_first(parts, "city", "town", "village", "municipality", "hamlet"),
        suburb=_first(parts, "suburb", "city_district", "neighbourhood", "quarter"),
        district=_first(parts, "state_district", "county", "region"),
        state=_first(parts, "state"),
        country=_first(parts, "country_code").upper(),
        postcode=_first(parts, "postcode"),
        full=_text(full),
    )


def _nominatim(answer: Json) -> Address | None:
    if "error" in answer:
        return None
    return _osm(answer["address"], answer.get("display_name"))


def _opencage(answer: Json) -> Address | None:
    if not answer["results"]:
        return None
    return _osm(answer["results"][0]["components"], answer["results"][0].get("formatted"))


def _features(answer: Json) -> Address | None:
    """Read GeoJSON, whose properties are the parts; GeocodeJSON nests them one level deeper."""
    if not answer["features"]:
        return None
    parts = answer["features"][0]["properties"]
    parts = parts.get("geocoding", parts)
    road = _first(parts, "street")
    if not road and parts.get("type") in {"street", "road"}:
        road = _first(parts, "name")
    return Address(
        house=_first(parts, "housenumber"),
        road=road,
        settlement=_first(parts, "city", "town", "village", "locality"),
        suburb=_first(parts, "suburb", "district"),
        district=_first(parts, "county"),
        state=_first(parts, "state"),
        country=_first(parts, "country_code", "countrycode").upper(),
        postcode=_first(parts, "postcode"),
        full=_first(parts, "formatted", "label"),
    )


def _ban(answer: Json) -> Address | None:
    """Read the response of Base Adresse Nationale, which covers France and leaves out the country."""
    if not answer["features"]:
        return None
    parts = answer["features"][0]["properties"]
    context = _first(parts, "context").split(", ")
    return Address(
        house=_first(parts, "housenumber"),
        road=_first(parts, "street", "name"),
        settlement=_first(parts, "city"),
        suburb=_first(parts, "district"),
        district=context[1] if len(context) > 1 else "",
        state=context[2] if len(context) > 2 else "",
        country="FR",
        postcode=_first(parts, "postcode"),
        full=_first(parts, "label"),
    )


def _google(answer: Json) -> Address | None:
    if not answer["results"]:
        return None
    result = answer["results"][0]
    parts: dict[str, str] = {}
    for component in result["address_components"]:
        short = {"country", "administrative_area_level_1"} & set(component["types"])
        for kind in component["types"]:
            parts.setdefault(kind, component["short_name" if short else "long_name"])
    return Address(
        house=_first(parts, "street_number"),
        road=_first(parts, "route"),
        settlement=_first(parts, "locality", "postal_town"),
        suburb=_first(parts, "sublocality", "neighborhood"),
        district=_first(parts, "administrative_area_level_2"),
        state=_first(parts, "administrative_area_level_1"),
        country=_first(parts, "country"),
        postcode=_first(parts, "postal_code"),
        full=_text(result.get("formatted_address")),
    )


def _here(answer: Json) -> Address | None:
    if not answer["items"]:
        return None
    parts = answer["items"][0]["address"]
    return Address(
        house=_first(parts, "houseNumber"),
        road=_first(parts, "street"),
        settlement=_first(parts, "city"),
        suburb=_first(parts, "district"),
        district=_first(parts, "county"),
        state=_first(parts, "state"),
        country=_first(parts, "countryCode"),
        postcode=_first(parts, "postalCode"),
        full=_first(parts, "label"),
    )


def _tomtom(answer: Json) -> Address | None:
    if not answer["addresses"]:
        return None
    parts = answer["addresses"][0]["address"]
    return Address(
        house=_first(parts, "streetNumber"),
        road=_first(parts, "streetName", "street"),
        settlement=_first(parts, "municipality"),
        suburb=_first(parts, "municipalitySubdivision"),
        district=_first(parts, "countrySecondarySubdivision"),
        state=_first(parts, "countrySubdivision"),
        country=_first(parts, "countryCode"),
        postcode=_first(parts, "postalCode"),
        full=_first(parts, "freeformAddress"),
    )


_PLACE = {"lat": "{latitude}", "lon": "{longitude}"}

PROVIDERS: Mapping[str, Provider] = {
    "nominatim": Provider(
        url="https://nominatim.openstreetmap.org/reverse",
        parameters={**_PLACE, "format": "jsonv2", "zoom": "18", "addressdetails": "1"},
        read=_nominatim,
        key="key",
        language="accept-language",
    ),
    "locationiq": Provider(
        url="https://us1.locationiq.com/v1/reverse",
        parameters={**_PLACE, "format": "json", "zoom": "18", "addressdetails": "1"},
        read=_nominatim,
        key="key",
        language="accept-language",
        no_address=frozenset({404}),
    ),
    "photon": Provider(
        url="https://photon.komoot.io/reverse",
        parameters={**_PLACE, "limit": "1"},
        read=_features,
        key="key",
        language="lang",
    ),
    "geocodejson": Provider(
        url="https://nominatim.openstreetmap.org/reverse",
        parameters={**_PLACE, "format": "geocodejson", "addressdetails": "1"},
        read=_features,
        key="key",
        language="accept-language",
    ),
    "geoapify": Provider(
        url="https://api.geoapify.com/v1/geocode/reverse",
        parameters={**_PLACE, "limit": "1"},
        read=_features,
        key="apiKey",
        language="lang",
    ),
    "ban": Provider(
        url="https://api-adresse.data.gouv.fr/reverse/",
        parameters={**_PLACE, "limit": "1"},
        read=_ban,
    ),
    "opencage": Provider(
        url="https://api.opencagedata.com/geocode/v1/json",
        parameters={"q": "{latitude},{longitude}", "no_annotations": "1", "limit": "1"},
        read=_opencage,
        key="key",
        language="language",
    ),
    "google": Provider(
        url="https://maps.googleapis.com/maps/api/geocode/json",
        parameters={"latlng": "{latitude},{longitude}"},
        read=_google,
        key="key",
        language="language",
        failures=frozenset(
            {"OVER_QUERY_LIMIT", "OVER_DAILY_LIMIT", "REQUEST_DENIED", "INVALID_REQUEST", "UNKNOWN_ERROR"}
        ),
    ),
    "here": Provider(
        url="https://revgeocode.search.hereapi.com/v1/revgeocode",
        parameters={"at": "{latitude},{longitude}", "limit": "1"},
        read=_here,
        key="apiKey",
        language="lang",
    ),
    "tomtom": Provider(
        url="https://api.tomtom.com/search/2/reverseGeocode/{latitude},{longitude}.json",
        parameters={},
        read=_tomtom,
        key="key",
        language="language",
    ),
}
