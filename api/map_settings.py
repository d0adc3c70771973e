"""Settings of the console's map, and what follows from them (docs/console.md#map)."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

OPENFREEMAP: Final = "openfreemap"
"""The word for the styles of OpenFreeMap, https://openfreemap.org: free for all uses, without a key."""
NO_TILES: Final = "none"
"""The word for the map without tiles."""
OPENFREEMAP_LIGHT: Final = "https://tiles.openfreemap.org/styles/positron"
OPENFREEMAP_DARK: Final = "https://tiles.openfreemap.org/styles/dark"
MOST_LAYERS: Final = 8
MOST_HOSTS: Final = 16

_HOST = r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?"
TILES: Final = re.compile(rf"{_HOST}/[!-~]+")
"""The host becomes part of a Content-Security-Policy; a query may hold a key."""
ORIGIN: Final = re.compile(r"https?://(?:\*\.)?[A-Za-z0-9.-]+(?::[0-9]{1,5})?")
LAYER: Final = re.compile(
    rf"(?P<name>\S.{{0,39}}?)\s+(?P<tiles>{TILES.pattern})(?:\s+(?P<attribution>\S.*))?"
)


class MapLayer(msgspec.Struct, frozen=True):
    """What a map may show over the outlines of the world: a MapLibre style, tiles, or a PMTiles file."""

    light: str
    """Its address; a path is one of this server."""
    dark: str
    """The address in the dark theme."""
    name: str | None = None
    """None: the layer that is shown first, which the page calls streets."""
    attribution: str | None = None
    """What the map names as its source, besides what the style says itself."""


@dataclass(frozen=True, kw_only=True)
class MapSettings:
    """What the console's map shows besides outlines and cities (docs/console.md#map)."""

    tiles: Annotated[str, Meta(extra={"form": "tiles"})] = OPENFREEMAP
    """Streets: `openfreemap`, `none`, or the URL of a MapLibre style, of raster tiles or of vector tiles with
    `{z}`, `{x}` and `{y}`. Browsers ask its host."""
    tiles_dark: Annotated[str | None, Meta(extra={"form": "tilesUrl"})] = None
    """The URL in the dark theme; unset: that of `tiles`."""
    attribution: str | None = None
    """Whom the map names as the source of `tiles` or `file`, besides what a style says itself."""
    file: Annotated[Path | None, Meta(extra={"form": "pmtiles"})] = None
    """PMTiles file in the data folder, such as `map/region.pmtiles`, in place of `openfreemap`."""
    layers: Annotated[tuple[str, ...], Meta(max_length=MOST_LAYERS, extra={"form": "layer"})] = ()
    """Further layers to choose on the map, each as name, URL and source: `Satellite
    https://tiles.example.org/{z}/{x}/{y}.jpg © Somebody`."""
    hosts: Annotated[tuple[str, ...], Meta(max_length=MOST_HOSTS, extra={"form": "origin"})] = ()
    """Further hosts that a style refers to: `https://fonts.example.org`, `https://*.tiles.example.org`."""
    share_tiles: bool | None = None
    """Whether guests of share links see layers of other hosts too; unset: unless `tiles` is `openfreemap`."""

    @property
    def streets(self) -> MapLayer | None:
        """The layer that is shown first; None: there are outlines only."""
        if self.tiles not in {OPENFREEMAP, NO_TILES}:
            return MapLayer(self.tiles, self.tiles_dark or self.tiles, attribution=self.attribution)
        if self.file is not None:
            path = f"/map/{self.file.name}"
            return MapLayer(path, path, attribution=self.attribution)
        if self.tiles == OPENFREEMAP:
            dark = self.tiles_dark or OPENFREEMAP_DARK
            return MapLayer(OPENFREEMAP_LIGHT, dark, attribution=self.attribution)
        return None

    @property
    def all_layers(self) -> tuple[MapLayer, ...]:
        """`streets`, and the further ones."""
        found = [] if self.streets is None else [self.streets]
        for text in self.layers:
            match = LAYER.fullmatch(text)
            assert match is not None
            name, tiles, attribution = match["name"], match["tiles"], match["attribution"]
            found.append(MapLayer(tiles, tiles, name=name, attribution=attribution))
        return tuple(found)

    @property
    def origins(self) -> tuple[str, ...]:
        """The other servers that the map loads from, as origins."""
        urls = [
            url for layer in self.all_layers for url in (layer.light, layer.dark) if not url.startswith("/")
        ]
        hosts = [f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, urls)]
        return tuple(dict.fromkeys((*hosts, *self.hosts)))

    @property
    def guests_see_tiles(self) -> bool:
        """Whether browsers of guests of share links may ask other servers."""
        return self.tiles != OPENFREEMAP if self.share_tiles is None else self.share_tiles
