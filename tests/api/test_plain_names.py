"""Names have no control characters, line breaks or what turns the direction of text (docs/http-api.md)."""

from urllib.parse import quote

from tests.api.cases import on_one_server

from motorpool.storage.plain_tables import GEOFENCES
from motorpool.storage.records import Geofence

UNFIT = ["\x1b[31m", "\x07", "\x7f", "\x85", "a\nb", "a\rb", "a\tb", "\u2028x", "\u202egpj.exe", "\u2066x"]
FIT = ["Dep\xf3sito", "\u062d\u0627\u200f 7", "\u0645\u06cc\u200c\u062e", "\U0001f469\u200d\U0001f692"]
"""With marks of direction and joiners, as Arabic, Persian and emoji need them."""
NEEDED = {
    "users": {"name": "x", "email": "new@example.org", "password": "x"},
    "devices": {"name": "x", "uniqueId": "x"},
    "groups": {"name": "x"},
    "geofences": {"name": "x", "area": "CIRCLE (1 2, 3)"},
    "drivers": {"name": "x", "uniqueId": "x"},
    "maintenance": {"name": "x", "type": "hours"},
    "companies": {"name": "x"},
    "attributes/computed": {"attribute": "x", "expression": "1", "type": "Number"},
}
FIELDS = [
    ("users", "name"),
    ("users", "email"),
    ("users", "login"),
    ("users", "phone"),
    ("devices", "name"),
    ("devices", "uniqueId"),
    ("devices", "model"),
    ("devices", "category"),
    ("groups", "name"),
    ("geofences", "name"),
    ("drivers", "name"),
    ("drivers", "uniqueId"),
    ("maintenance", "name"),
    ("maintenance", "type"),
    ("companies", "name"),
    ("attributes/computed", "attribute"),
]


async def test_names_of_all_kinds_are_one_line_of_plain_characters(served):
    for path, field in FIELDS:
        for text in UNFIT:
            sent = {**NEEDED[path], field: f"x{text}x"}
            refused = await served.admin.post(f"/{path}", json=sent)
            assert (refused.status, refused.text.split(":")[0]) == (400, field), (path, text)
    for number, text in enumerate(FIT):
        sent = {"name": text, "uniqueId": f"{number}{text}", "contact": text}
        made = await served.admin.post("/devices", json=sent)
        assert (made.status, made.json()["name"]) == (200, text), made.text
        made = await served.admin.post("/groups", json={"name": text})
        assert (made.status, made.json()["name"]) == (200, text), made.text


async def test_longer_texts_have_line_breaks_but_no_control_characters(served):
    fence = {**NEEDED["geofences"], "description": "Gate 1\r\n\tring twice"}
    made = await served.admin.post("/geofences", json=fence)
    assert (made.status, made.json()["description"]) == (200, fence["description"])
    for text in ("\x1b[2J", "\u202ex"):
        refused = await served.admin.post("/geofences", json={**fence, "description": text})
        assert (refused.status, refused.text.split(":")[0]) == (400, "description")
    settings = (await served.admin.get("/server")).json()
    for text, status in (("Maintenance\nat noon", 200), ("\x1b[2J", 400)):
        assert (await served.admin.put("/server", json={**settings, "announcement": text})).status == status


async def test_the_subject_of_a_ticket_is_a_name(served):
    company = (await served.admin.post("/companies", json={"name": "x"})).json()["id"]
    assert (await served.admin.post("/tickets/defaults", json={"companyId": company})).status == 200
    ticket = {"subject": "x", "companyId": company, "description": "a\nb"}
    made = await served.admin.post("/tickets", json=ticket)
    assert made.status == 200
    for text in ("\x1b[2J", "\u202ex"):
        refused = await served.admin.post("/tickets", json={**ticket, "subject": f"x{text}"})
        assert (refused.status, refused.text.split(":")[0]) == (400, "subject")
        refused = await served.admin.put(f"/tickets/{made.json()['id']}", json={"subject": f"x{text}"})
        assert (refused.status, refused.text.split(":")[0]) == (400, "subject")


async def test_stored_names_stay_readable_and_are_kept_by_an_edit_of_something_else(served, database):
    old = await GEOFENCES.insert(database, Geofence(name="a\x1b\nb", area="CIRCLE (1 2, 3)"))
    shown = (await served.admin.get(f"/geofences/{old.id}")).json()
    assert shown["name"] == "a\x1b\nb"
    kept = await served.admin.put(f"/geofences/{old.id}", json={**shown, "description": "x"})
    assert (kept.status, kept.json()["name"]) == (200, "a\x1b\nb")
    refused = await served.admin.put(f"/geofences/{old.id}", json={**shown, "name": "c\x1b"})
    assert refused.status == 400
    assert refused.text == "name: holds the character U+001B, which is not allowed here"


@on_one_server("name", ["a\x1b.css", "a\u202e.css", "a\n.css", "a\x85/b.css", "\u2066a/b.css"])
async def test_files_and_folders_have_plain_names(served, name):
    answer = await served.admin.post(
        f"/server/file/{quote(name)}", data=b"x", headers={"Content-Type": "application/octet-stream"}
    )
    assert answer.status in {400, 404}, answer.text
