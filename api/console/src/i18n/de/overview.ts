import type { overview as english } from "../en/overview";
import type { TextsLike } from "../translate";

export const overview = {
  "overview.title": "Überblick",
  "overview.now": "Fahrzeuge jetzt",
  "overview.waiting": "Was wartet",
  "overview.alarms": "Alarme und Warnungen zu prüfen",
  "overview.maintenance": "Fällige Wartungen",
  "overview.tickets": "Verspätete Tickets",
  "overview.cameras": "Fahrzeuge mit stummen Kameras",
  "overview.noneSilent": "Von allen Kameras wird gehört.",
  "overview.lost": "Kein Bild von Kamera {cameras}",
  "overview.more": { one: "Und {count} weiteres", other: "Und {count} weitere" },
  "overview.yesterday": "Gestern",
  "overview.yesterdayText":
    "Nach den Zählern der Fahrzeuge. Die Berichte, zu denen diese Zahlen führen, folgen der Spur.",
  "overview.distance": "Strecke",
  "overview.hours": "Motorstunden",
  "overview.drove": "Fahrzeuge, die fuhren",
  "overview.weekBefore": "{value} am Tag in der Woche davor ({change})",
  "overview.startHere": "Mit dieser Seite beginnen",
  "overview.startFleet": "Mit der Flotte beginnen",
  "overview.startsHere": "Sie beginnen ab jetzt mit dem Überblick.",
  "overview.startsFleet": "Sie beginnen ab jetzt mit der Flotte.",
} as const satisfies TextsLike<typeof english>;
