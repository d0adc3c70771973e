"""How the supported geocoders look for places by their names.

Formats as their providers document them (Nominatim and LocationIQ search, Photon, GeocodeJSON, OpenCage v1,
Google Geocoding, HERE geocode v1, TomTom geocode 2, Geoapify v1, Base Adresse Nationale).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from motorpool.actors.geocoding.geocoders import Json


class FoundAddress(msgspec.Struct, frozen=True):
    """A place that a geocoder knows."""

    name: str
    """Its address in one line."""
    latitude: float
    """Degrees, north positive."""
    longitude: float
    """Degrees, east positive."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """Where the places are in a response."""

    rows: Callable[[Json], Json]
    """The list of them."""
    point: Callable[[Json], tuple[Json, Json]]
    """Latitude and longitude of one."""
    response: Callable[[Json], Json]
    """A response about this one alone, in the form that says where coordinates are."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """The request of one kind of geocoder, and the form of its response."""

    url: str
    """URL of the public service; `{keyword}` stands where it is not a parameter."""
    form: Form
    reverse: str | None = None
    """On a server of one's own, how the URL that finds the address of coordinates ends: `path` in its place
    makes it the URL of the search. Empty: both have the same URL; None: such a server is not searched."""
    path: str = ""
    keyword: str = "q"
    """Query parameter of what is looked for."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Further ones."""

    def url_at(self, own: str | None) -> str | None:
        """Return the URL of the search, where that for coordinates is `own`; None: the public service's."""
        if own is None:
            return self.url
        if self.reverse is None or not own.rstrip("/").endswith(self.reverse):
            return None
        return own.rstrip("/").removesuffix(self.reverse) + self.path


def _feature_point(feature: Json) -> tuple[Json, Json]:
    longitude, latitude = feature["geometry"]["coordinates"][:2]
    return latitude, longitude


_FEATURES: Final = Form(
    rows=lambda answer: answer["features"],
    point=_feature_point,
    response=lambda feature: {"features": [feature]},
)
_OSM: Final = Form(
    rows=lambda answer: answer if isinstance(answer, list) else [],
    point=lambda place: (place["lat"], place["lon"]),
    response=lambda place: place,
)

SEARCHES: Mapping[str, Search] = {
    "nominatim": Search(
        url="https://nominatim.openstreetmap.org/search",
        form=_OSM,
        reverse="/reverse",
        path="/search",
        parameters={"format": "jsonv2", "addressdetails": "1"},
    ),
    "locationiq": Search(
        url="https://us1.locationiq.com/v1/search",
        form=_OSM,
        reverse="/reverse",
        path="/search",
        parameters={"format": "json", "addressdetails": "1"},
    ),
    "photon": Search(url="https://photon.komoot.io/api", form=_FEATURES, reverse="/reverse", path="/api"),
    "geocodejson": Search(
        url="https://nominatim.openstreetmap.org/search",
        form=_FEATURES,
        reverse="/reverse",
        path="/search",
        parameters={"format": "geocodejson", "addressdetails": "1"},
    ),
    "geoapify": Search(
        url="https://api.geoapify.com/v1/geocode/search",
        form=_FEATURES,
        reverse="/reverse",
        path="/search",
        keyword="text",
    ),
    "ban": Search(
        url="https://api-adresse.data.gouv.fr/search/",
        form=_FEATURES,
        reverse="/reverse",
        path="/search/",
    ),
    "opencage": Search(
        url="https://api.opencagedata.com/geocode/v1/json",
        form=Form(
            rows=lambda answer: answer["results"],
            point=lambda result: (result["geometry"]["lat"], result["geometry"]["lng"]),
            response=lambda result: {"results": [result]},
        ),
        reverse="",
        parameters={"no_annotations": "1"},
    ),
    "google": Search(
        url="https://maps.googleapis.com/maps/api/geocode/json",
        form=Form(
            rows=lambda answer: answer["results"],
            point=lambda result: (
                result["geometry"]["location"]["lat"],
                result["geometry"]["location"]["lng"],
            ),
            response=lambda result: {"results": [result]},
        ),
        reverse="",
        keyword="address",
    ),
    "here": Search(
        url="https://geocode.search.hereapi.com/v1/geocode",
        form=Form(
            rows=lambda answer: answer["items"],
            point=lambda item: (item["position"]["lat"], item["position"]["lng"]),
            response=lambda item: {"items": [item]},
        ),
    ),
    "tomtom": Search(
        url="https://api.tomtom.com/search/2/geocode/{keyword}.json",
        form=Form(
            rows=lambda answer: answer["results"],
            point=lambda result: (result["position"]["lat"], result["position"]["lon"]),
            response=lambda result: {"addresses": [result]},
        ),
        keyword="",
    ),
}
