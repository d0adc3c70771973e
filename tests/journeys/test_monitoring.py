"""deploy/alerts.yml and deploy/grafana.json, compared with what a server shows, and tried with Prometheus
(docs/server.md#health-and-diagnostics).
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
import yaml
from prometheus_client import Counter
from prometheus_client.parser import text_string_to_metric_families
from tests.journeys.proxies import running

from motorpool.actors.messages import conditions
from motorpool.actors.messages.counters import COUNTERS
from motorpool.actors.upkeep.memory_limit import Memory
from motorpool.api.metrics import MachineCollector

ROOT = Path(__file__).parents[2]
ALERTS = ROOT / "deploy" / "alerts.yml"
RULES = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"][0]["rules"]
DASHBOARD = json.loads((ROOT / "deploy" / "grafana.json").read_text(encoding="utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
TARGETS = [target for panel in PANELS for target in panel["targets"]]
OF_TARGET = {"job", "instance"}
"""Labels that Prometheus adds."""
UNITS = {"bytes", "cps", "none", "percentunit", "reqps", "s"}

needs_prometheus = pytest.mark.skipif(
    not all(map(shutil.which, ("prometheus", "promtool"))) and os.environ.get("CI") != "true",
    reason="Prometheus is not installed",
)


def filled(expression):
    """The expression of a panel, with what Grafana puts in place of its variables."""
    return expression.replace("$__rate_interval", "1m").replace("$instance", ".*")


EXPRESSIONS = [
    *(rule["expr"] for rule in RULES),
    *(filled(target["expr"]) for target in TARGETS),
    *(filled(annotation["expr"]) for annotation in DASHBOARD["annotations"]["list"]),
]


def metrics_of(expression):
    """The names of metrics, each with the labels by which it is chosen."""
    chosen = re.findall(r"\b(motorpool_\w+|up\b)(?:\{(.*?)\})?", expression)
    return [(name, set(re.findall(r"(\w+)\s*=", labels))) for name, labels in chosen]


@pytest.fixture(scope="module")
def watched(start_server):
    """A server that has just started, and has something to forward to."""
    with start_server({"MOTORPOOL_FORWARD_URL": "http://127.0.0.1:9/"}) as server:
        yield server


def page_of(server):
    return httpx.get(f"{server.url}/metrics").text


@pytest.fixture(scope="module")
def shown(watched, tmp_path_factory):
    """The names of all samples that a running server shows, with their labels."""
    text = page_of(watched)
    found = {"up": set()}
    # Of memory only where it is limited, as it may not be here.
    machine = MachineCollector(tmp_path_factory.mktemp("data"))
    machine._memory_limit = SimpleNamespace(read=lambda: Memory(limit=2, used=1))
    found |= {family.name: set() for family in machine.collect()}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
        if not family.samples:
            # Counters that appear with their first event.
            [counter] = [
                each
                for each in COUNTERS
                if isinstance(each, Counter) and each.describe()[0].name == family.name
            ]
            found[f"{family.name}_total"] = set(counter._labelnames)
    return found


def test_every_metric_and_label_is_one_that_a_server_shows(shown):
    for expression in EXPRESSIONS:
        for name, labels in metrics_of(expression):
            assert name in shown, expression
            assert labels <= shown[name] | OF_TARGET, expression


def test_what_is_grouped_by_or_written_is_a_label_of_the_metrics(shown):
    named = [(target["expr"], target["legendFormat"], r"\{\{\s*(\w+)\s*\}\}") for target in TARGETS]
    named += [(rule["expr"], str(rule["annotations"]), r"\$labels\.(\w+)") for rule in RULES]
    for expression, text, pattern in named:
        labels = OF_TARGET.union(*(shown[name] for name, _ in metrics_of(expression)))
        written = set(re.findall(pattern, text))
        groups = [set(re.findall(r"\w+", group)) for group in re.findall(r"\bby \((.*?)\)", expression)]
        assert written <= labels, expression
        assert all(group <= labels and written <= group for group in groups), expression


def test_what_alarms_count_is_there_before_anything_has_happened(watched):
    """Prometheus sees no increase where a counter appears with its first event."""
    text = page_of(watched)
    names = {name for rule in RULES for name, _ in metrics_of(rule["expr"])}
    absent = {name for name in names if not re.search(rf"^{name}[ {{]", text, re.MULTILINE)}
    # Memory may have no limit here.
    assert absent - {"motorpool_memory_used_bytes", "motorpool_memory_limit_bytes"} == {"up"}


def test_every_figure_worth_an_alarm_has_a_rule_and_every_rule_is_of_one():
    page = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
    table = page.partition("\n| figure | meaning |\n")[2].partition("\n\n")[0]
    figures = {name for row in table.splitlines()[1:] for name in re.findall(r"`(\w+)", row.split("|")[1])}
    assert figures == {name for rule in RULES for name, _ in metrics_of(rule["expr"])}
    expected = {f'motorpool_condition{{condition="{kind.name}"}} == 1' for kind in conditions.ALL}
    assert expected <= {rule["expr"] for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_says_how_long_how_bad_and_what_to_do(rule):
    assert re.fullmatch(r"\d+[mh]", rule["for"])
    assert rule["labels"]["severity"] in {"critical", "warning"}
    # tests/test_docs.py finds the page and its heading.
    assert rule["annotations"].keys() == {"summary", "description", "runbook"}
    assert all(rule["annotations"].values())


def test_the_dashboard_shows_every_metric(shown):
    there = {name for target in TARGETS for name, _ in metrics_of(target["expr"])}
    hidden = {name for name in shown if not name.endswith("_created")} - there
    assert hidden == set()


def test_the_dashboard_is_one_that_grafana_loads():
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    cells = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert panel["title"]
        assert place["x"] + place["w"] <= 24
        covered = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not covered & cells, panel["title"]
        cells |= covered
    source = {"type": "prometheus", "uid": "${datasource}"}
    assert [each["name"] for each in DASHBOARD["templating"]["list"]] == ["datasource", "instance"]
    for panel in PANELS:
        assert panel["description"]
        assert panel["datasource"] == source
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
    for target in TARGETS:
        assert target["datasource"] == source
        assert target["legendFormat"]
        assert 'instance=~"$instance"' in target["expr"]


def promtool(*words):
    done = subprocess.run(["promtool", *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_prometheus
def test_prometheus_understands_every_rule_and_every_panel(tmp_path):
    assert f"{len(RULES)} rules found" in promtool("check", "rules", str(ALERTS))
    rules = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(EXPRESSIONS)]
    path = tmp_path / "panels.yml"
    path.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    assert f"{len(rules)} rules found" in promtool("check", "rules", str(path))


def condition(name):
    return f'motorpool_condition{{condition="{name}"}}'


def counted(name, labels=""):
    """A counter that grows every minute, by 1 and by 0."""
    return {f"motorpool_{name}_total{labels}": "0+1x200"}, {f"motorpool_{name}_total{labels}": "7+0x200"}


GIB = 1 << 30
FIRES = {
    # What makes an alert fire, what is just good enough, and minutes after which it fires and does not yet.
    "MotorpoolDown": ({'up{job="motorpool"}': "0x200"}, {}, 2, 1),
    "MotorpoolRestarts": (
        {"motorpool_positions_stored_created": "1x9 2x9 3x9 4x170"},
        {"motorpool_positions_stored_created": "1x9 2x9 3x180"},
        31,
        30,
    ),
    "MotorpoolDatabase": ({condition("database"): "1x200"}, {condition("database"): "0x200"}, 1, 0),
    "MotorpoolPositionsWait": ({condition("positions"): "1x200"}, {condition("positions"): "0x200"}, 2, 1),
    "MotorpoolPositionsDropped": (*counted("positions_dropped"), 2, 1),
    "MotorpoolDiskFull": ({condition("disk"): "1x200"}, {condition("disk"): "0x200"}, 1, 0),
    "MotorpoolDiskFills": (
        {"motorpool_disk_free_bytes": f"{9 * GIB}x200", "motorpool_disk_bytes": f"{100 * GIB}x200"},
        {"motorpool_disk_free_bytes": f"{11 * GIB}x200", "motorpool_disk_bytes": f"{100 * GIB}x200"},
        60,
        59,
    ),
    "MotorpoolDiskFills within three days": (
        {
            "motorpool_disk_free_bytes": f"{39 * GIB}-{GIB // 100}x200",
            "motorpool_disk_bytes": f"{100 * GIB}x200",
        },
        {
            "motorpool_disk_free_bytes": f"{39 * GIB}-{GIB // 200}x200",
            "motorpool_disk_bytes": f"{100 * GIB}x200",
        },
        61,
        60,
    ),
    "MotorpoolMemoryShort": ({condition("memory"): "1x200"}, {condition("memory"): "0x200"}, 5, 4),
    "MotorpoolMemoryHigh": (
        {"motorpool_memory_used_bytes": "81x200", "motorpool_memory_limit_bytes": "100x200"},
        {"motorpool_memory_used_bytes": "80x200", "motorpool_memory_limit_bytes": "100x200"},
        30,
        29,
    ),
    "MotorpoolOpenFiles": ({condition("open_files"): "1x200"}, {condition("open_files"): "0x200"}, 1, 0),
    "MotorpoolAcceptFailures": (*counted("accept_failures", '{port="http"}'), 11, 5),
    "MotorpoolClock": ({condition("clock"): "1x200"}, {condition("clock"): "0x200"}, 1, 0),
    "MotorpoolNoDuties": ({condition("duties"): "1x200"}, {condition("duties"): "0x200"}, 1, 0),
    "MotorpoolLoopStalls": (
        {"motorpool_loop_longest_stall_seconds": "1.1x200"},
        {"motorpool_loop_longest_stall_seconds": "1x200"},
        10,
        9,
    ),
    "MotorpoolLoopStalls often": (
        {"motorpool_loop_stalls_total": "0+7x200"},
        {"motorpool_loop_stalls_total": "0+6x200"},
        20,
        10,
    ),
    "MotorpoolServerErrors": (
        {
            'motorpool_http_requests_total{operation="a", status="5xx"}': "0+6x200",
            'motorpool_http_requests_total{operation="b", status="2xx"}': "0+94x200",
        },
        {
            'motorpool_http_requests_total{operation="a", status="5xx"}': "0+4x200",
            'motorpool_http_requests_total{operation="b", status="2xx"}': "0+96x200",
        },
        11,
        10,
    ),
    "MotorpoolActorsFail": (*counted("actors_restarts", '{kind="device"}'), 5, 2),
    "MotorpoolActorsFail given up": (*counted("actors_given_up", '{kind="device"}'), 2, 1),
    "MotorpoolConnectionsRefused": (
        {'motorpool_connections_refused_total{port="jt808"}': "0+2x200"},
        {'motorpool_connections_refused_total{port="jt808"}': "0+1x200"},
        30,
        15,
    ),
    "MotorpoolProxyHeaders": (*counted("proxy_headers_rejected", '{port="jt808"}'), 11, 5),
    "MotorpoolNotificationsDiscarded": (*counted("notifications_discarded"), 2, 1),
    "MotorpoolOutboxGivenUp": (*counted("outbox_given_up", '{lane="mail"}'), 2, 1),
    "MotorpoolForwardDropped": (*counted("forward_dropped", '{reason="full"}'), 2, 1),
    "MotorpoolTicketsOverdue": (
        {"motorpool_tickets_overdue_seconds": "301x200"},
        {"motorpool_tickets_overdue_seconds": "300x200"},
        5,
        4,
    ),
    "MotorpoolTicketsFail": (*counted("tickets_failed"), 2, 1),
    "MotorpoolTicketsFail to be made": (*counted("ticket_rule_events_discarded"), 2, 1),
    "MotorpoolLogLinesSuppressed": (
        {"motorpool_log_lines_suppressed_total": "0+20x200"},
        {"motorpool_log_lines_suppressed_total": "0+16x200"},
        120,
        60,
    ),
}


def series(instance, values):
    """Series of a server; it answers, unless `values` say otherwise."""
    for selector, numbers in {'up{job="motorpool"}': "1x200", **values}.items():
        name, _, labels = selector.rstrip("}").partition("{")
        labels = ", ".join(filter(None, [labels, f'instance="{instance}"']))
        if "job=" not in labels:
            labels += ', job="motorpool"'
        yield {"series": f"{name}{{{labels}}}", "values": numbers}


@needs_prometheus
def test_each_alert_fires_for_the_server_that_it_is_about_and_not_before(tmp_path):
    """Of two servers the one that is well causes no alert."""
    assert {name.partition(" ")[0] for name in FIRES} | {"MotorpoolNotScraped"} == {
        rule["alert"] for rule in RULES
    }
    severities = {rule["alert"]: rule["labels"]["severity"] for rule in RULES}
    tests = []
    for name, (bad, good, minutes, too_few) in FIRES.items():
        alert = name.partition(" ")[0]
        firing = 'count by (alertname, severity, instance) (ALERTS{alertstate="firing"})'
        labels = f'{{alertname="{alert}", instance="a:8082", severity="{severities[alert]}"}}'
        tests.append(
            {
                "name": name,
                "interval": "1m",
                "input_series": [*series("a:8082", bad), *series("b:8082", good)],
                "promql_expr_test": [
                    {"expr": firing, "eval_time": f"{too_few}m", "exp_samples": []},
                    {
                        "expr": firing,
                        "eval_time": f"{minutes}m",
                        "exp_samples": [{"labels": labels, "value": 1}],
                    },
                ],
            }
        )
    tests.append(
        {
            "name": "no server is known",
            "interval": "1m",
            "alert_rule_test": [
                {"alertname": "MotorpoolNotScraped", "eval_time": "9m", "exp_alerts": []},
                {
                    "alertname": "MotorpoolNotScraped",
                    "eval_time": "10m",
                    "exp_alerts": [
                        {
                            "exp_labels": {"severity": "critical", "job": "motorpool"},
                            "exp_annotations": next(
                                rule["annotations"]
                                for rule in RULES
                                if rule["alert"] == "MotorpoolNotScraped"
                            ),
                        }
                    ],
                },
            ],
        }
    )
    path = tmp_path / "alerts.json"
    path.write_text(json.dumps({"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": tests}))
    promtool("test", "rules", str(path))


@needs_prometheus
@pytest.mark.long
def test_prometheus_watches_a_server(watched, free_port, eventually, tmp_path):
    """Of a server that is well no alert is pending, and its panels have lines."""
    port = free_port()
    (tmp_path / "prometheus.yml").write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "100ms", "evaluation_interval": "100ms"},
                "rule_files": [str(ALERTS)],
                "scrape_configs": [
                    {
                        "job_name": "motorpool",
                        "static_configs": [{"targets": [watched.url.removeprefix("http://")]}],
                    }
                ],
            }
        )
    )
    command = [
        "prometheus",
        f"--config.file={tmp_path}/prometheus.yml",
        f"--storage.tsdb.path={tmp_path}/data",
    ]
    command.append(f"--web.listen-address=127.0.0.1:{port}")
    with (
        running(command, port, tmp_path / "log"),
        httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1") as client,
    ):

        def query(expression):
            answer = client.get("/query", params={"query": expression}).json()
            assert answer["status"] == "success", answer
            return answer["data"]["result"]

        def rules():
            return client.get("/rules").json()["data"]["groups"][0]["rules"]

        assert eventually(lambda: httpx.get(f"http://127.0.0.1:{port}/-/ready").is_success)
        # A rate needs two values.
        assert eventually(lambda: query("sum(rate(motorpool_http_requests_total[1m]))"))
        assert eventually(lambda: all(rule["health"] == "ok" for rule in rules()))
        assert {rule["name"]: rule["state"] for rule in rules()} == dict.fromkeys(
            (rule["alert"] for rule in RULES), "inactive"
        )
        samples = page_of(watched)
        for target in TARGETS:
            names = {name for name, _ in metrics_of(target["expr"])} - {"up"}
            is_there = all(re.search(rf"^{name}[ {{]", samples, re.MULTILINE) for name in names)
            # What is chosen by a value, or counts failures, is not there as long as all is well.
            if is_there and not re.search(r' > 0|="5xx"', target["expr"]):
                assert query(filled(target["expr"])), target["expr"]
