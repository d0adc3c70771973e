import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.api.configuration.errors import SettingsError
from motorpool.api.configuration.keys import keys
from motorpool.api.program.configuration import RENAMED, load
from motorpool.api.program.settings_listing import describe

CLUSTER = "database = 'postgresql://x'\n[cluster]\nname = 'a'\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "motorpool.toml"
    path.write_text(text, "utf-8")
    return path


def test_secrets_in_a_file_that_others_may_read_are_a_warning(tmp_path):
    file = tmp_path / "motorpool.toml"
    file.write_text('[mail]\npassword = "x"\n')
    for mode, warned in ((0o644, True), (0o604, True), (0o640, False), (0o600, False)):
        file.chmod(mode)
        _, warnings = load(file, {})
        assert [f"chmod o-r {file}" in warning for warning in warnings] == [True] * warned
    file.write_text('[mail]\nname = "Fleet"\n')
    file.chmod(0o644)
    assert load(file, {})[1] == ()


def test_a_key_that_others_may_read_is_a_warning(tmp_path):
    key = tmp_path / "key.pem"
    key.write_text("PEM")
    file = write(tmp_path, f"[http]\ntls_certificate = 'c.pem'\ntls_key = '{key}'")
    for mode, warned in ((0o644, True), (0o640, False)):
        key.chmod(mode)
        _, warnings = load(file, {})
        assert [f"chmod o-r {key}" in warning for warning in warnings] == [True] * warned


def test_a_text_in_place_of_a_list_is_a_warning_that_says_what_to_write(tmp_path):
    file = write(tmp_path, "[http]\ntrusted_proxies = '10.0.0.5, 10.0.0.6'")
    settings, warnings = load(file, {})
    assert settings.http.trusted_proxies == ("10.0.0.5", "10.0.0.6")
    assert warnings == (
        f'{file}: [http] trusted_proxies is a text in place of a list; write ["10.0.0.5","10.0.0.6"]',
    )
    # Variables have no other form.
    assert load(write(tmp_path, ""), {"MOTORPOOL_HTTP_TRUSTED_PROXIES": "10.0.0.5"})[1] == ()


def test_several_processes_are_linked_without_a_name_for_their_cluster(tmp_path):
    file = write(tmp_path, "nodes = 2\n[link]\nurl = 'nats://127.0.0.1:4222'")
    settings, _ = load(file, {})
    assert (settings.nodes, settings.link.url) == (2, "nats://127.0.0.1:4222")
    assert load(file, {"MOTORPOOL_NODES": "0"})[0].nodes == 0
    for wrong in ("-1", "65", "two"):
        with pytest.raises(SettingsError, match="MOTORPOOL_NODES"):
            load(file, {"MOTORPOOL_NODES": wrong})


def test_without_a_file_and_variables_the_defaults_of_the_contract_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings, warnings = load(None, {})
    assert settings.data == Path("data")
    assert settings.bind == "127.0.0.1:8082"
    assert settings.address == ("127.0.0.1", 8082)
    assert settings.database == "embedded"
    assert settings.device.host == "0.0.0.0"
    assert settings.public.host is None
    assert settings.port.offset == 0
    assert settings.protocols is None
    assert settings.admin.email is None
    assert settings.webhook.allow == ()
    assert settings.register.unknown is False
    assert warnings == ()


def test_attributes_of_protocols_are_assignments(tmp_path):
    settings, _ = load(write(tmp_path, '[device]\nprotocol_attributes = ["h02.ack=true"]'), {})
    assert settings.device.protocol_attributes == ("h02.ack=true",)
    variable = "MOTORPOOL_DEVICE_PROTOCOL_ATTRIBUTES"
    settings, _ = load(write(tmp_path, ""), {variable: "h02.ack=true, devicePassword=1=2"})
    assert settings.device.protocol_attributes == ("h02.ack=true", "devicePassword=1=2")
    for wrong in ("h02.ack", "color=red", "speedLimit=3", "h03.ack=true"):
        with pytest.raises(SettingsError, match="no attribute of a protocol"):
            load(write(tmp_path, ""), {variable: wrong})


def test_every_variable_of_the_contract_is_a_setting(tmp_path):
    path = write(tmp_path, "")
    settings, warnings = load(
        path,
        {
            "MOTORPOOL_DATA": "/srv/fleet",
            "MOTORPOOL_BIND": "[::1]:9000",
            "MOTORPOOL_DATABASE": "postgresql://fleet@db/fleet",
            "MOTORPOOL_DEVICE_HOST": "10.0.0.5",
            "MOTORPOOL_PUBLIC_HOST": "203.0.113.9",
            "MOTORPOOL_PORT_OFFSET": "100",
            "MOTORPOOL_PROTOCOLS": "jt808, osmand",
            "MOTORPOOL_ADMIN_EMAIL": "a@example.org",
            "MOTORPOOL_ADMIN_PASSWORD": "secret",
            "MOTORPOOL_WEBHOOK_ALLOW": "10.0.0.0/8,192.168.1.1",
            "MOTORPOOL_REGISTER_UNKNOWN": "true",
            "PATH": "/bin",
        },
    )
    assert settings.data == Path("/srv/fleet")
    assert settings.address == ("::1", 9000)
    assert settings.database == "postgresql://fleet@db/fleet"
    assert settings.device.host == "10.0.0.5"
    assert settings.public.host == "203.0.113.9"
    assert settings.port.offset == 100
    assert settings.protocols == ("jt808", "osmand")
    assert settings.admin.email == "a@example.org"
    assert settings.admin.password == "secret"
    assert settings.webhook.allow == ("10.0.0.0/8", "192.168.1.1")
    assert settings.register.unknown is True
    assert warnings == ()


def test_the_environment_wins_over_the_file(tmp_path):
    path = write(tmp_path, 'bind = "127.0.0.1:1"\n[video]\nsegment_seconds = 4\nwindow_segments = 9\n')
    settings, _ = load(path, {"MOTORPOOL_VIDEO_SEGMENT_SECONDS": "3.5"})
    assert settings.bind == "127.0.0.1:1"
    assert settings.video.segment_seconds == 3.5
    assert settings.video.window_segments == 9


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("bnid = 1", "bnid is no setting; the nearest is bind"),
        ("[htpt]\nbacklog = 1", "htpt is no setting; the nearest is"),
        ("[http]\nbaklog = 1", "[http] baklog is no setting; the nearest is [http] backlog"),
        ("[http]\nbacklog = 'many'", "[http] backlog: 'many' is not a whole number"),
        ("[http]\nbacklog = 1.5", "[http] backlog: 1.5 is not a whole number"),
        ("[http]\nbacklog = 0", "[http] backlog: 0 is less than 1"),
        ("[http]\nbacklog = true", "[http] backlog: True is not a number"),
        ("[http]\nbacklog = '\u0663\u0663'", "[http] backlog: '\u0663\u0663' is not a whole number"),
        ("[video]\nsegment_seconds = inf", "[video] segment_seconds: inf is not a number"),
        ("[video]\nsegment_seconds = 21", "[video] segment_seconds: 21 is more than 20"),
        ("[video]\nautostart = 'maybe'", "[video] autostart: 'maybe' is neither true nor false"),
        ("[log]\nformat = 'xml'", "[log] format: 'xml' is none of text, json"),
        ("[http]\ntrusted_proxies = ['10.0.0.0/40']", "[http] trusted_proxies"),
        ("[http]\ntrusted_proxies = 5", "[http] trusted_proxies: 5 is not a list of words"),
        ("bind = 'localhost'", "bind: 'localhost' is no address such as 127.0.0.1:8082"),
        ("bind = 'localhost:99999'", "bind: 'localhost:99999' is no address"),
        ("data = ''", "data: '' is not a text"),
        ("http = 5", "http is no setting"),
        ("[admin]\nemail = 'a@b'", "MOTORPOOL_ADMIN_EMAIL and MOTORPOOL_ADMIN_PASSWORD need each other"),
        (
            "[device]\nproxy_protocol = true",
            "[device] proxy_protocol and [device] trusted_proxies need each other",
        ),
        (
            "[device]\ntrusted_proxies = ['10.0.0.5']",
            "[device] proxy_protocol and [device] trusted_proxies need each other",
        ),
        ("[device]\ntrusted_proxies = ['10.0.0.0/40']", "[device] trusted_proxies"),
        ("[cluster]\nname = 'north'", "the embedded database is for one server"),
        ("[node]\naddress = 'http://10.0.0.5:8083'", "[node] address needs [cluster] name"),
        ("[link]\nurl = 'nats://10.0.0.5:4222'", "[link] url needs [cluster] name, or several nodes"),
        ("[link]\nurl = 'http://10.0.0.5:4222'", "[link] url"),
        ("[link]\nurl = 'nats://a, nats:///'", "is no address such as nats://10.0.0.21:4222"),
        ("[node]\nroles = ['api']", "[node] roles needs [cluster] name: a server that is alone"),
        (f"{CLUSTER}[node]\nroles = ['api', 'video']", "'video', which is none of devices, api, duties"),
        (f"{CLUSTER}[node]\nroles = []", "[node] roles names none of devices, api, duties"),
        (f"{CLUSTER}[node]\nroles = ['duties']", "[node] roles without api needs [node] address"),
        ("[node]\naddress = 'http://10.0.0.5'", "[node] address: 'http://10.0.0.5' is no address such as"),
        ("[node]\naddress = 'http://0.0.0.0:8083'", "which other servers can reach"),
        ("[node]\naddress = 'https://a:8083'", "[node] address: 'https://a:8083' is no address such as"),
        ("[node]\naddress = 'http://a:8083/x'", "[node] address: 'http://a:8083/x' is no address such as"),
        ("[node]\naddress = 'http://a:99999'", "[node] address: 'http://a:99999' is no address such as"),
        ("[http]\ntls_key = 'k'", "[http] tls_certificate and [http] tls_key need each other"),
        (
            "[public]\nurl = 'fleet.example.org'",
            "[public] url: 'fleet.example.org' is no address such as https",
        ),
        ("[public]\nurl = 'http://[::1'", "[public] url: 'http://[::1' is no address such as https"),
        ("[openid]\nissuer = 'https://x/?a=1'\nclient_id = 'm'", "[openid] issuer: 'https://x/?a=1' is no"),
        ("[openid]\nclient_id = 'm'", "[openid] issuer and [openid] client_id need each other"),
        ("[openid]\nforce = true", "[openid] force needs [openid] issuer and [openid] client_id"),
        ("[[", "not valid TOML"),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it(tmp_path, text, named):
    with pytest.raises(SettingsError) as caught:
        load(write(tmp_path, text), {})
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_variable_is_named_as_a_variable(tmp_path):
    with pytest.raises(SettingsError, match="MOTORPOOL_PORT_OFFSET: 'x' is not a whole number"):
        load(write(tmp_path, ""), {"MOTORPOOL_PORT_OFFSET": "x"})


def test_a_wrong_database_url_does_not_show_its_password(tmp_path):
    with pytest.raises(SettingsError) as caught:
        load(write(tmp_path, ""), {"MOTORPOOL_DATABASE": "mysql://root:hunter2@db"})
    assert "MOTORPOOL_DATABASE" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_named_file_that_is_missing_stops_the_start(tmp_path):
    with pytest.raises(SettingsError, match="no such file"):
        load(tmp_path / "none.toml", {})


def test_an_unknown_variable_is_a_warning_with_the_nearest_name(tmp_path):
    _, warnings = load(write(tmp_path, ""), {"MOTORPOOL_BNID": "1", "MOTORPOOL_SIMULATE_EMAIL": "x"})
    assert warnings == ("MOTORPOOL_BNID is no setting of this program; the nearest is MOTORPOOL_BIND",)


def test_demo_lives_in_a_folder_of_its_own_and_listens_on_loopback(tmp_path):
    settings, _ = load(write(tmp_path, ""), {"MOTORPOOL_DATA": "/srv"}, demo=True)
    assert settings.data == Path("/srv/demo")
    assert settings.device.host == "127.0.0.1"
    settings, _ = load(write(tmp_path, ""), {"MOTORPOOL_DEVICE_HOST": "0.0.0.0"}, demo=True)
    assert settings.device.host == "0.0.0.0"


def test_what_motorpool_settings_prints_is_a_file_that_loads_with_every_key_named(tmp_path):
    lines = list(describe())
    assert any("MOTORPOOL_BIND" in line for line in lines)
    assert any(line == '# bind = "127.0.0.1:8082"' for line in lines)
    uncommented = "\n".join(
        line.removeprefix("# ") if " = " in line and "MOTORPOOL_" not in line else line for line in lines
    )
    content = tomllib.loads(uncommented)
    assert content["http"]["backlog"] == 1024
    for section in ("admin", "http"):
        # Unset texts are shown empty, which is the same as unset.
        content[section] = {key: value for key, value in content[section].items() if value != ""}
    settings, _ = load(write(tmp_path, uncommented), {})
    defaults, _ = load(write(tmp_path, ""), {})
    assert settings == defaults


@given(st.text(alphabet=st.characters(exclude_characters="\x00", exclude_categories=("Cs",)), max_size=40))
def test_any_text_in_a_variable_is_a_setting_or_one_line(text):
    for variable in (
        "MOTORPOOL_PORT_OFFSET",
        "MOTORPOOL_BIND",
        "MOTORPOOL_VIDEO_AUTOSTART",
        "MOTORPOOL_PROTOCOLS",
    ):
        refusal = ""
        try:
            load(Path("/dev/null"), {variable: text})
        except SettingsError as error:
            refusal = str(error)
        assert refusal == "" or variable in refusal
        assert "\n" not in refusal


def test_the_program_ends_with_2_and_one_line_for_a_wrong_setting(tmp_path):
    path = write(tmp_path, "bind = 5")
    done = subprocess.run(
        [sys.executable, "-m", "motorpool", "serve", "--config", str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert done.stderr == f"motorpool: {path}: bind: 5 is not a text\n"


def test_a_renamed_setting_in_the_file_stops_the_start_and_names_the_new_one(tmp_path):
    path = write(tmp_path, "[schedules]\nhomecoming_seconds = 30\n")
    with pytest.raises(SettingsError) as caught:
        load(path, {})
    assert str(caught.value) == (
        f"{path}: [schedules] homecoming_seconds is now [schedules] reconnect_grace_seconds"
    )


def test_a_renamed_setting_in_the_environment_stops_the_start_and_names_the_new_one(tmp_path):
    with pytest.raises(SettingsError) as caught:
        load(write(tmp_path, ""), {"MOTORPOOL_SCHEDULES_HOMECOMING_SECONDS": "30"})
    assert str(caught.value) == (
        "MOTORPOOL_SCHEDULES_HOMECOMING_SECONDS is now MOTORPOOL_SCHEDULES_RECONNECT_GRACE_SECONDS"
    )


def test_what_replaces_a_renamed_setting_exists():
    places = {(key.section, key.name) for key in keys()}
    assert set(RENAMED.values()) <= places
    assert not set(RENAMED) & places
