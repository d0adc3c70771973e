"""Settings from motorpool.toml and the environment; the environment wins (docs/decisions/0005)."""

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from motorpool.api.configuration.errors import SettingsError
from motorpool.api.configuration.keys import PREFIX, Value, keys, title_of, variable_name
from motorpool.api.configuration.parser import build, parse
from motorpool.api.program.private_files import is_readable_by_others
from motorpool.api.settings import Place, Settings, Source

ELSEWHERE = frozenset({"MOTORPOOL_SIMULATE_EMAIL", "MOTORPOOL_SIMULATE_PASSWORD"})
"""Variables of our other programs: known, but no settings of the server."""

RENAMED: Mapping[Place, Place] = {
    ("schedules", "homecoming_seconds"): ("schedules", "reconnect_grace_seconds"),
}
"""Section and key of settings of earlier releases, and what they are called now."""

DEFAULT_FILE = Path("motorpool.toml")

DEMO_DEVICE_HOST = "127.0.0.1"


def load(
    file: Path | None, environ: Mapping[str, str], *, demo: bool = False
) -> tuple[Settings, tuple[str, ...]]:
    """Read the settings and the warnings about unknown variables.

    `file` None reads motorpool.toml in the working folder if there is one. Raises SettingsError.
    """
    warnings: list[str] = []
    chosen = _from_file(file, warnings)
    sources: dict[Place, Source] = dict.fromkeys(chosen, "file")
    known = {key.variable: key for key in keys()}
    renamed = {variable_name(*old): variable_name(*new) for old, new in RENAMED.items()}
    path = file or DEFAULT_FILE
    if any(key.secret and (key.section, key.name) in chosen for key in keys()) and is_readable_by_others(
        path
    ):
        warnings.append(f"{path} holds secrets, and any user of this machine may read it: chmod o-r {path}")
    for variable, text in environ.items():
        if not variable.startswith(PREFIX) or variable in ELSEWHERE:
            continue
        if variable in renamed:
            raise SettingsError(f"{variable} is now {renamed[variable]}")
        if variable not in known:
            near = difflib.get_close_matches(variable, known, n=1, cutoff=0.0)
            warnings.append(f"{variable} is no setting of this program; the nearest is {near[0]}")
            continue
        key = known[variable]
        chosen[key.place] = parse(key, text, variable)
        sources[key.place] = "environment"
    if demo:
        chosen.setdefault(("device", "host"), DEMO_DEVICE_HOST)
        data = chosen.get(("", "data"), Settings.data)
        chosen["", "data"] = Path(str(data)) / "demo"
    settings = build(chosen, sources)
    key_file = settings.http.tls_key
    if key_file is not None and is_readable_by_others(key_file):
        warnings.append(f"any user of this machine may read the key {key_file}: chmod o-r {key_file}")
    return settings, tuple(warnings)


def _from_file(file: Path | None, warnings: list[str]) -> dict[Place, Value]:
    path = file or DEFAULT_FILE
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        if file is None:
            return {}
        raise SettingsError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from None
    by_place = {(key.section, key.name): key for key in keys()}
    names = {section for section, _ in by_place if section}
    chosen: dict[Place, Value] = {}
    for name, value in content.items():
        entries = (
            {(name, inner): item for inner, item in value.items()}
            if name in names and isinstance(value, dict)
            else {("", name): value}
        )
        for place, item in entries.items():
            if place in RENAMED:
                raise SettingsError(f"{path}: {title_of(*place)} is now {title_of(*RENAMED[place])}")
            if place not in by_place:
                titles = {key.title: key for key in by_place.values()}
                title = title_of(*place)
                near = difflib.get_close_matches(title, titles, n=1, cutoff=0.0)
                raise SettingsError(f"{path}: {title} is no setting; the nearest is {near[0]}")
            key = by_place[place]
            chosen[place] = parse(key, item, f"{path}: {key.title}")
            if isinstance(item, str) and isinstance(chosen[place], tuple):
                meant = msgspec.json.encode(chosen[place]).decode()
                warnings.append(f"{path}: {key.title} is a text in place of a list; write {meant}")
    return chosen
