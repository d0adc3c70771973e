import type { words as english } from "../en/words";
import type { TextsLike } from "../translate";

export const words = {
  "words./fleet":
    "karte fahrzeuge autos pkw lkw transporter liste ortung tracking tracker positionen wo übersicht start dashboard fuhrpark flotte",
  "words./live":
    "video kameras kamera stream livestream übertragung wand videowand zusehen dashcam cctv mosaik",
  "words./library":
    "aufzeichnungen filme clips video herunterladen mitschnitte medien gespeichert aufnahmen fotos bilder schnappschüsse galerie nachweise beweise",
  "words./reports":
    "Bericht Auswertung Statistik Fahrten Stopps Fahrtenbuch Kilometer Strecke Kraftstoff Leerlauf Fahrer Tabelle Excel CSV Export Summen",
  "words./overview": "Übersicht Dashboard Start Zahlen morgens heute",
  "words./zones": "geofences geofence geozaun geozäune gebiete orte standorte depots polygon",
  "words./events":
    "alarme alarm warnungen meldungen benachrichtigungen hinweise eingang vorfälle prüfen prüfung quittieren verwerfen ungelesen offen verstöße tempo geschwindigkeit protokoll sos ton",
  "words./tickets":
    "helpdesk support servicedesk tafel kanban fälle anfragen beschwerden störungen sla überfällig zugewiesen",
  "words./commands":
    "befehl befehle protokoll verlauf gesendet warteschlange antwort antworten motor wegfahrsperre fernsteuerung wer",
  "words./schedules": "zeitplan zeitgesteuert automatisch wöchentlich nacht zeitschaltuhr befehle",
  "words./reports/scheduled": "mail wöchentlich täglich monatlich automatisch senden bericht",
  "words./calendars": "kalender geschäftszeiten schichten feiertage öffnungszeiten ical woche",
  "words./connect": "hinzufügen fahrzeug gerät gps terminal imei einbauen registrieren koppeln neu",
  "words./admin": "verwaltung einstellungen einrichten konfiguration benutzer rechte",
  "words./admin/users":
    "Konten Personen Mitarbeiter Rechte Rollen Berechtigungen einladen sperren Passwort Sitzungen Administratoren Manager",
  "words./admin/groups": "Flotten Abteilungen Ordner Baum Hierarchie",
  "words./admin/links": "Rechte Berechtigungen Zugriff zuweisen zuordnen wer sieht was",
  "words./admin/devices": "geräte flotte tabelle liste masse import export csv excel archiv gruppen spalten",
  "words./admin/drivers": "fahrer schlüssel karte ibutton rfid wer fährt",
  "words./admin/maintenance": "service öl inspektion fällig zurücksetzen kilometer stunden reparatur",
  "words./admin/orders": "auftrag transport lieferung",
  "words./admin/attributes": "berechnetes attribut ausdruck formel rechnen sensor",
  "words./admin/commands": "gespeicherter befehl vorlage",
  "words./admin/notifications": "benachrichtigen alarmieren mail sms telegram webhook wer erfährt nachricht",
  "words./admin/server":
    "server einstellungen verwaltung administration admin konfiguration system smtp mail e-mail sms telegram benachrichtigungen karte straßen satellit adressen sso openid aufbewahrung speicher kontingent grenzen",
  "words./helpdesk":
    "firmen firma tickets einrichten teams bearbeiter kontakte sla servicezeiten geschäftszeiten kategorien prioritäten workflow niederlassungen webhook regeln kunden support",
  "words./helpdesk/new": "firma helpdesk hinzufügen anlegen beginnen",
  "words./zones/new": "zeichnen geofence geozaun gebiet polygon kreis korridor anlegen",
  "words./account": "einstellungen profil benutzer optionen name e-mail telefon",
  "words.alarm": "letzter warnung sos panik notfall",
  "words.secondWindow": "bildschirm monitor zweites öffnen",
  "words.help": "hilfe tasten tastenkürzel tastatur handbuch support",
  "words.logout": "abmelden ausloggen logout beenden sitzung",
  "words.theme": "farbschema darstellung farben modus nacht tag kontrast design",
  "words.language": "sprache übersetzung texte",
  "words.preferences":
    "einstellungen einheiten einheit km meilen knoten zeitzone format koordinaten spalten tastenkürzel",
  "words.password": "einstellungen kennwort sicherheit ändern",
  "words.codes": "einstellungen sicherheit zwei faktor 2fa totp mfa authenticator",
  "words.sessions": "einstellungen geräte browser anmeldungen wo",
  "words.tokens": "einstellungen api zugriff programm schnittstelle",
  "words.shares": "einstellungen links gäste öffentlich freigabe",
  "words.live.vehicle": "video kamera kameras stream zusehen bild dashcam",
  "words.history.vehicle":
    "fahrten fahrt touren stopps halte parken strecke route routen spur wiedergabe bericht berichte export exportieren excel csv gpx kml entfernung kilometer fahrtenbuch geschwindigkeit tag gestern vergangenheit aufzeichnungen",
  "words.events.vehicle": "alarme warnungen benachrichtigungen protokoll vorfälle",
  "words.commands.vehicle":
    "befehl motor zündung abstellen wegfahrsperre sperren freigeben neustart neu starten senden sms ausgang",
  "words.settings.vehicle": "bearbeiten umbenennen name nummer modell löschen entfernen attribute gruppe",
  "words.follow": "verfolgen zentrieren karte orten",
  "words.share": "link gast öffentlich senden standort teilen",
} satisfies TextsLike<typeof english>;
