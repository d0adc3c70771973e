import type { capture as english } from "../en/capture";
import type { TextsLike } from "../translate";

export const capture = {
  "capture.download": "Herunterladen",
  "capture.removed": "Die Datei wird nicht mehr aufbewahrt.",
  "capture.failed": "Nicht gespeichert: {reason}",
  "capture.progress": "Bereits empfangenes Video",
  "capture.waiting": "Wartet auf das Fahrzeug",
  "capture.nothing": "Das Fahrzeug sendet nichts",
  "capture.stopped": "Das Fahrzeug sendet nicht mehr",
  "capture.arriving": "Wird empfangen",
  "capture.rate": "{rate} pro Sekunde",
  "capture.ends": "endet etwa um {time}",
  "capture.end": "Hier beenden",
  "capture.running": { one: "{count} Mitschnitt läuft", other: "{count} Mitschnitte laufen" },
  "capture.mine": "In diesem Browser begonnen",
  "capture.requests": "Videoanforderungen",
  "capture.openHistory": "Im Verlauf zeigen",
  "capture.dismiss": "Aus dieser Liste entfernen",
  "capture.complete": "Das Video von {name} ist gespeichert",
  "capture.failedOf": "Das Video von {name} wurde nicht gespeichert: {reason}",
  "footage.waiting": "Wird abgerufen, sobald das Fahrzeug online ist, bis {until}",
  "footage.fetching": "Wird abgerufen",
  "footage.complete": "Vollständig",
  "footage.expired": "Das Fahrzeug war nicht rechtzeitig wieder da",
  "footage.cancel": "Zurückziehen",
} satisfies TextsLike<typeof english>;
