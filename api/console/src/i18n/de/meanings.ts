import type { meanings as english } from "../en/meanings";
import type { TextsLike } from "../translate";

export const meanings = {
  "meaning.map.tiles":
    "Straßen: `openfreemap`, `none` oder die Adresse eines MapLibre-Stils, von Rasterkacheln oder von Vektorkacheln mit `{z}`, `{x}` und `{y}`. Browser fragen deren Server.",
  "meaning.map.tiles_dark": "Die Adresse im dunklen Farbschema. Nicht gesetzt: die von `tiles`.",
  "meaning.map.attribution":
    "Wen die Karte als Quelle von `tiles` oder `file` nennt, außer dem, was ein Stil selbst nennt.",
  "meaning.map.file":
    "Eine PMTiles-Datei im Datenordner, etwa `map/region.pmtiles`, anstelle von `openfreemap`.",
  "meaning.map.layers":
    "Weitere wählbare Ebenen der Karte, jede mit Name, Adresse und Quelle: `Satellite https://tiles.example.org/{z}/{x}/{y}.jpg © Somebody`.",
  "meaning.map.hosts":
    "Weitere Server, auf die ein Stil verweist: `https://fonts.example.org`, `https://*.tiles.example.org`.",
  "meaning.map.share_tiles":
    "Ob auch Gäste mit Freigabelink Ebenen anderer Server sehen. Nicht gesetzt: außer wenn `tiles` auf `openfreemap` steht.",
  "meaning.mail.host": "Adresse des Mailservers. Zusammen mit `address` werden damit E-Mails gesendet.",
  "meaning.mail.port": "Port des Mailservers. 0: 465 mit `tls`, 587 mit `starttls`, 25 mit `none`.",
  "meaning.mail.security":
    "Wie die Verbindung gesichert ist. Zertifikate werden geprüft, auch gegen `SSL_CERT_FILE`.",
  "meaning.mail.username": "Benutzername, mit dem sich der Server anmeldet. Nicht gesetzt: ohne Anmeldung.",
  "meaning.mail.password": "Das zugehörige Passwort.",
  "meaning.mail.address": "Absender der E-Mails: `fleet@example.org`.",
  "meaning.mail.name": "Name, der neben der Absenderadresse steht.",
  "meaning.mail.seconds": "So lange dauert das Einliefern einer E-Mail höchstens.",
  "meaning.sms.url":
    "Adresse der Anfrage. Ist sie gesetzt, werden SMS gesendet. Sie kann `{phone}`, `{message}` und `{id}` enthalten.",
  "meaning.sms.method": "Methode der Anfrage.",
  "meaning.sms.headers": "Weitere Kopfzeilen: `X-Api-Key: 123`.",
  "meaning.sms.authorization": "Wert der Kopfzeile `Authorization`.",
  "meaning.sms.template":
    "Inhalt der Anfrage, außer bei `GET`: JSON oder ein Formular wie `to={phone}&text={message}`.",
  "meaning.sms.seconds": "Der SMS-Dienst antwortet innerhalb dieser Zeit.",
  "meaning.sms.per_user":
    "So viele SMS kann ein Benutzer in einer Stunde als Befehle, Tests und Ankündigungen senden. Administratoren können Ankündigungen an beliebig viele Benutzer senden.",
  "meaning.sms.per_hour": "So viele solche SMS können alle Benutzer zusammen in einer Stunde senden.",
  "meaning.telegram.token":
    "Token des Bots, der Benachrichtigungen sendet. Nicht gesetzt: es werden keine gesendet.",
  "meaning.telegram.url": "Die Bot-API, die auch ein eigener Server sein kann.",
  "meaning.pushover.token":
    "Token der Anwendung, die Benachrichtigungen sendet. Nicht gesetzt: es werden keine gesendet.",
  "meaning.pushover.url": "Die API von Pushover.",
  "meaning.ntfy.url": "Der Server, der auch ein eigener sein kann.",
  "meaning.ntfy.token":
    "Zugriffstoken des Kontos, das Benachrichtigungen sendet. Nicht gesetzt und ohne `username` oder `anonymous`: es werden keine gesendet.",
  "meaning.ntfy.username": "Name des Kontos, anstelle eines Tokens.",
  "meaning.ntfy.password": "Das zugehörige Passwort.",
  "meaning.ntfy.anonymous":
    "Ob Benachrichtigungen ohne Konto veröffentlicht werden, wenn der Server das allen erlaubt.",
  "meaning.geocoder.type": "Art des Geocoders. Ist sie gesetzt, werden Adressen gesucht.",
  "meaning.geocoder.url": "Adresse eines eigenen Geocoders. Nicht gesetzt: der öffentliche dieser Art.",
  "meaning.geocoder.key": "Der Schlüssel, den Sie vom Geocoder erhalten haben.",
  "meaning.geocoder.language": "Sprache der Adressen: `de`. Nicht gesetzt: der Geocoder wählt.",
  "meaning.geocoder.format":
    "Form einer Adresse: `%h` Hausnummer, `%r` Straße, `%t` Ort, `%u` Ortsteil, `%d` Kreis, `%s` Bundesland, `%c` Land, `%p` Postleitzahl, `%f` wie der Geocoder sie schreibt.",
  "meaning.geocoder.cache_size": "So viele Adressen werden gemerkt.",
  "meaning.geocoder.per_second":
    "So viele Anfragen pro Sekunde werden höchstens gestellt, wie es das öffentliche Nominatim verlangt. 0: ohne Grenze.",
  "meaning.geocoder.seconds":
    "Eine Adresse wird innerhalb dieser Zeit gefunden, Warteschlange eingeschlossen.",
  "meaning.geocoder.on_request": "Ob Berichte fehlende Adressen von Positionen suchen.",
  "meaning.geocoder.request_seconds":
    "So lange wartet ein Bericht höchstens auf Adressen. Was bis dahin nicht gefunden wurde, lässt er weg.",
  "meaning.geocoder.positions":
    "Ob jede gespeicherte Position eine Adresse erhält, kurz nachdem sie gespeichert wurde.",
  "meaning.geocoder.reuse_metres":
    "Eine Position, die so nah an der letzten des Fahrzeugs mit Adresse liegt, erhält dieselbe Adresse.",
  "meaning.openid.issuer":
    "Die Adresse des Anbieters (Issuer). Das Übrige wird aus seinem Discovery-Dokument gelesen.",
  "meaning.openid.client_id": "Unter welcher ID der Anbieter diesen Server kennt.",
  "meaning.openid.client_secret": "Das zugehörige Geheimnis.",
  "meaning.openid.force": "Schaltet Passwörter ab: alle Benutzer melden sich über den Anbieter an.",
  "meaning.openid.allow_registration":
    "Legt unbekannte Benutzer bei ihrer ersten Anmeldung an, auch wenn die Registrierung geschlossen ist.",
  "meaning.openid.scopes": "Welche Scopes vom Anbieter verlangt werden.",
  "meaning.openid.groups_claim": "Der Claim, in dem die Gruppen eines Benutzers stehen.",
  "meaning.openid.admin_group": "Wer in dieser Gruppe ist, ist Administrator.",
  "meaning.openid.allow_group": "Nur wer in dieser Gruppe oder in `admin_group` ist, kann sich anmelden.",
  "meaning.openid.require_verified":
    "Weist alle ab, die ohne `email_verified` kommen; für Anbieter, bei denen jeder eine beliebige Adresse eingeben kann.",
  "meaning.positions.retention_days":
    "Positionen werden so lange nach ihrem Empfang gelöscht, außer der letzten jedes Fahrzeugs. 0: nie. Nicht gesetzt: 730 in einer neuen Installation, 0 in einer Datenbank, die angelegt wurde, bevor es diesen Standardwert gab.",
  "meaning.events.retention_days":
    "Ereignisse werden nach dieser Zeit gelöscht. 0: nie. Nicht gesetzt: 730 in einer neuen Installation, sonst 0.",
  "meaning.audit.retention_days":
    "Einträge des Audit-Protokolls werden nach dieser Zeit gelöscht. 0: nie. Nicht gesetzt: 730 in einer neuen Installation, sonst 0.",
  "meaning.statistics.retention_days":
    "Statistiken werden nach dieser Zeit gelöscht. 0: nie. Nicht gesetzt: 730 in einer neuen Installation, sonst 0.",
  "meaning.schedules.retention_days": "Läufe geplanter Befehle werden nach dieser Zeit gelöscht. 0: nie.",
  "meaning.files.quota_bytes":
    "So viel Speicherplatz belegen Fotos und Dateien von Alarmen zusammen höchstens; die ältesten werden zuerst gelöscht. 0: ohne Grenze. Nicht gesetzt: 10737418240 (10 GiB) in einer neuen Installation, 0 in einer Datenbank, die angelegt wurde, bevor es diesen Standardwert gab.",
  "meaning.files.device_quota_bytes":
    "So viel Speicherplatz belegen Fotos und Dateien von Alarmen eines Fahrzeugs höchstens; die ältesten werden zuerst gelöscht. 0: ohne Grenze. Nicht gesetzt: 1073741824 (1 GiB) in einer neuen Installation, sonst 0.",
  "meaning.files.retention_days":
    "Fotos und Dateien von Alarmen werden nach dieser Zeit gelöscht. 0: nie. Nicht gesetzt: 730 in einer neuen Installation, sonst 0.",
  "meaning.captures.quota_bytes":
    "So viel Speicherplatz belegen alle Mitschnitte zusammen höchstens; die ältesten Dateien werden zuerst gelöscht. 0: ohne Grenze. Nicht gesetzt: 10737418240 (10 GiB) in einer neuen Installation, sonst 0.",
  "meaning.captures.retention_days":
    "Dateien von Mitschnitten werden nach dieser Zeit gelöscht. 0: nie. Nicht gesetzt: 730 in einer neuen Installation, sonst 0.",
  "meaning.quotas.user_records":
    "So viele Zonen kann ein Benutzer anlegen, und ebenso viele Fahrer, Aufträge, Wartungen, Kalender, gespeicherte Befehle und Gruppen. Für Administratoren gilt, was alle zusammen haben können.",
  "meaning.quotas.user_bytes":
    "So groß sind Attribute, Flächen und Kalendertexte der Zonen, die ein Benutzer anlegt, höchstens; ebenso die jeder anderen Art von `user_records` und `user_tasks` und die der Geräte.",
  "meaning.quotas.user_geofence_points": "So viele Punkte haben alle Zonen, die ein Benutzer anlegt.",
  "meaning.quotas.user_tasks":
    "So viele Benachrichtigungen kann ein Benutzer anlegen, und ebenso viele geplante Befehle und geplante Berichte.",
  "meaning.quotas.user_calendar_cost":
    "So aufwendig sind alle Kalender, die ein Benutzer anlegt; Schichten einer Woche kosten einige hundert Schritte.",
  "meaning.quotas.user_notified":
    "So viele Empfänger haben die Benachrichtigungen, die ein Benutzer anlegt: ein Ereignis wird für jeden davon geprüft.",
  "meaning.quotas.user_ticket_rules": "So viele Ticketregeln haben alle Firmen, die ein Benutzer anlegt.",
  "meaning.quotas.user_kept_bytes":
    "So groß sind die Mitschnitte und Dateien, die ein Benutzer behält, unabhängig von Alter und Kontingent. Für Administratoren gilt, was alle zusammen behalten können.",
  "meaning.quotas.server_kept_bytes": "So groß sind die Mitschnitte und Dateien, die alle Benutzer behalten.",
  "meaning.quotas.server_records":
    "So viele Zonen haben alle Benutzer zusammen, und ebenso viele Datensätze jeder anderen Art von `user_records`.",
  "meaning.quotas.server_bytes": "So groß ist jede Art von `user_bytes` bei allen Benutzern zusammen.",
  "meaning.quotas.server_geofence_points": "So viele Punkte haben die Zonen aller Benutzer.",
  "meaning.quotas.server_tasks":
    "So viele Benachrichtigungen haben alle Benutzer zusammen, und ebenso viele geplante Befehle und geplante Berichte.",
  "meaning.quotas.server_calendar_cost": "So aufwendig sind die Kalender aller Benutzer.",
  "meaning.quotas.server_notified": "So viele Empfänger haben die Benachrichtigungen aller Benutzer.",
  "meaning.quotas.server_ticket_rules": "So viele Ticketregeln haben alle Firmen.",
  "meaning.quotas.device_geofences":
    "So viele Zonen sind mit einem Fahrzeug verknüpft, direkt oder über seine Gruppen: eine Position kann für jede ein Ereignis auslösen.",
  "meaning.quotas.device_geofence_points":
    "So viele Punkte haben diese Zonen: eine Position muss unter Umständen mit jeder Kante zwischen zweien verglichen werden.",
  "meaning.quotas.device_computed_attributes":
    "So viele berechnete Attribute sind mit einem Fahrzeug verknüpft, direkt oder über seine Gruppen.",
  "meaning.quotas.device_expression_characters":
    "So viele Zeichen haben die Ausdrücke dieser berechneten Attribute.",
  "meaning.quotas.device_maintenances":
    "So viele Wartungen sind mit einem Fahrzeug verknüpft, direkt oder über seine Gruppen.",
  "meaning.quotas.device_notifications":
    "So viele Benachrichtigungen sind mit einem Fahrzeug verknüpft, direkt oder über seine Gruppen.",
  "meaning.quotas.device_scheduled_steps":
    "So viele Schritte haben die geplanten Befehle, die mit einem Fahrzeug verknüpft sind, direkt oder über seine Gruppen.",
  "meaning.quotas.device_linked_devices": "So viele Geräte reisen mit einem Fahrzeug.",
  "meaning.quotas.sensor_limits":
    "So viele Sensoren mit Grenzen stehen in den Attributen eines Fahrzeugs, einer Gruppe oder des Servers: eine Position wird mit denen ihres Fahrzeugs, seiner Gruppen und des Servers verglichen.",
  "unit.messages": "SMS",
  "unit.places": "Orte",
  "unit.days": "Tage",
  "unit.bytes": "Bytes",
  "unit.points": "Punkte",
  "unit.steps": "Schritte",
  "unit.links": "Empfänger",
  "unit.rules": "Regeln",
  "unit.characters": "Zeichen",
  "unit.sensors": "Sensoren",
} satisfies TextsLike<typeof english>;
