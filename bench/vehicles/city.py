"""Round trips of the simulated vehicles along the main streets of Berlin.

Way-points are junctions and bends, taken off a map by eye (within some ten metres) in the order of driving.
"""

from typing import NamedTuple


class Waypoint(NamedTuple):
    """A junction or bend."""

    latitude: float
    longitude: float


class RoundTrip(NamedTuple):
    """A closed tour: the first way-point follows the last."""

    name: str
    limit_kmh: float
    """Speed limit."""
    waypoints: tuple[Waypoint, ...]


def _tour(name: str, limit_kmh: float, *waypoints: tuple[float, float]) -> RoundTrip:
    return RoundTrip(name, limit_kmh, tuple(Waypoint(*waypoint) for waypoint in waypoints))


ROUND_TRIPS = (
    _tour(
        "Tiergarten",
        50,
        (52.51628, 13.37770),  # Brandenburger Tor
        (52.51497, 13.35920),
        (52.51451, 13.35012),  # Großer Stern
        (52.51120, 13.34350),
        (52.50706, 13.33600),  # Bahnhof Zoo
        (52.50493, 13.33500),  # Breitscheidplatz
        (52.50190, 13.34270),  # Wittenbergplatz
        (52.49920, 13.35380),  # Nollendorfplatz
        (52.50290, 13.36030),
        (52.50660, 13.36800),
        (52.50960, 13.37590),  # Potsdamer Platz
        (52.51270, 13.37660),
    ),
    _tour(
        "Karl-Marx-Allee",
        50,
        (52.52190, 13.41320),  # Alexanderplatz
        (52.52020, 13.42060),
        (52.51810, 13.42870),  # Strausberger Platz
        (52.51700, 13.44160),
        (52.51590, 13.45400),  # Frankfurter Tor
        (52.51050, 13.45210),
        (52.50530, 13.44860),  # Warschauer Straße
        (52.50190, 13.44570),  # Oberbaumbrücke
        (52.50080, 13.44220),  # Schlesisches Tor
        (52.50400, 13.43600),
        (52.51030, 13.43160),
        (52.51420, 13.42020),
        (52.51780, 13.41360),
    ),
    _tour(
        "Kurfürstendamm",
        50,
        (52.50350, 13.33250),
        (52.50190, 13.32190),  # Uhlandstraße
        (52.50000, 13.30710),  # Adenauerplatz
        (52.49770, 13.29610),
        (52.50010, 13.28800),
        (52.50640, 13.28270),  # Messedamm
        (52.50960, 13.27270),  # Theodor-Heuss-Platz
        (52.51030, 13.28700),
        (52.51140, 13.30560),
        (52.51270, 13.32170),  # Ernst-Reuter-Platz
        (52.50940, 13.32740),
        (52.50640, 13.33180),
    ),
    _tour(
        "Kreuzberg",
        40,
        (52.49780, 13.39170),  # Hallesches Tor
        (52.49370, 13.38840),  # Mehringdamm
        (52.48950, 13.38640),
        (52.48500, 13.38630),  # Platz der Luftbrücke
        (52.48600, 13.39530),
        (52.48740, 13.40770),
        (52.48680, 13.42450),  # Hermannplatz
        (52.49120, 13.42190),
        (52.49560, 13.41990),
        (52.49900, 13.41820),  # Kottbusser Tor
        (52.50360, 13.41050),  # Moritzplatz
        (52.50130, 13.40150),
    ),
    _tour(
        "Mitte und Prenzlauer Berg",
        40,
        (52.52500, 13.36940),  # Hauptbahnhof
        (52.52990, 13.37690),
        (52.53170, 13.38860),  # Nordbahnhof
        (52.53640, 13.39770),
        (52.54130, 13.41210),  # Eberswalder Straße
        (52.53480, 13.42190),
        (52.52900, 13.42500),
        (52.52510, 13.41870),
        (52.52670, 13.41050),  # Rosa-Luxemburg-Platz
        (52.52980, 13.40130),  # Rosenthaler Platz
        (52.52550, 13.38740),  # Oranienburger Tor
        (52.52310, 13.37940),
    ),
    _tour(
        "Stadtring",
        80,
        (52.47840, 13.34290),  # Innsbrucker Platz
        (52.47730, 13.35270),
        (52.47350, 13.36540),  # Südkreuz
        (52.47110, 13.37800),
        (52.47000, 13.38570),  # Tempelhof
        (52.46680, 13.39500),
        (52.46710, 13.41570),
        (52.47130, 13.42640),
        (52.48010, 13.42500),
        (52.48330, 13.40240),
        (52.48480, 13.38500),
        (52.48600, 13.36900),
        (52.48300, 13.35500),
    ),
)
