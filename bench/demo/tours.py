"""Longer tours of the demonstration, of the way-points of the round trips and in the order of driving.

A vehicle of the demonstration does one of them some ten times a day.
"""

from motorpool.bench.vehicles.city import ROUND_TRIPS, RoundTrip, Waypoint

_TIERGARTEN, _AVENUE, _KURFUERSTENDAMM, _KREUZBERG, _MITTE, _RING = (trip.waypoints for trip in ROUND_TRIPS)

WEST = RoundTrip(
    "West",
    50,
    (
        # Brandenburger Tor, Zoo, Wittenbergplatz and back to Breitscheidplatz
        *_TIERGARTEN[:6],
        # Kurfürstendamm, Messedamm, Theodor-Heuss-Platz, Ernst-Reuter-Platz
        *_KURFUERSTENDAMM[:10],
        # Straße des 17. Juni, and by Nollendorfplatz and Potsdamer Platz
        Waypoint(52.51360, 13.33600),
        Waypoint(52.51390, 13.34960),
        Waypoint(52.50520, 13.35250),
        *_TIERGARTEN[7:],
    ),
)
EAST = RoundTrip(
    "East",
    50,
    (
        # Hauptbahnhof, Nordbahnhof, Eberswalder Straße, Rosa-Luxemburg-Platz
        *_MITTE[:9],
        # Alexanderplatz, Frankfurter Tor, Warschauer Straße, Schlesisches Tor
        *_AVENUE[:9],
        # Kottbusser Tor, Moritzplatz, Hallesches Tor
        *_KREUZBERG[9:],
        _KREUZBERG[0],
        # Potsdamer Platz, Brandenburger Tor
        Waypoint(52.50370, 13.38050),
        *_TIERGARTEN[10:],
        _TIERGARTEN[0],
        Waypoint(52.51890, 13.37650),
    ),
)
SOUTH = RoundTrip(
    "South",
    60,
    (
        # Innsbrucker Platz, Südkreuz, Tempelhof, and north to Hermannplatz
        *_RING[:8],
        _KREUZBERG[6],
        # Kottbusser Tor, Hallesches Tor, Platz der Luftbrücke
        *_KREUZBERG[7:],
        *_KREUZBERG[:4],
        # Nollendorfplatz
        Waypoint(52.49310, 13.36790),
        Waypoint(52.49560, 13.35900),
        _TIERGARTEN[7],
        Waypoint(52.48840, 13.34400),
    ),
)
