import type { records as english } from "../en/records";
import type { TextsLike } from "../translate";

export const records = {
  "record.archived": "archiviert",
  "record.archivedLabel": "Archiviert",
  "record.name": "Name",
  "record.remove": "{name} entfernen",
  "record.kept": "Das hatten Sie schon eingegeben; es ist nicht gespeichert.",
  "record.dropKept": "Verwerfen",
  "record.conflict":
    "Inzwischen hat jemand anders {fields} geändert. Ihre Fassung liegt jetzt darüber: Sehen Sie sie an und speichern Sie erneut.",
  "record.deleteTitle": "{name} löschen?",
  "record.edit": "{name} bearbeiten",
  "record.delete": "{name} löschen",
  "record.archive": "{name} archivieren",
  "record.restore": "{name} wieder verwenden",
  "record.wasArchived": "{name} ist archiviert",
  "record.wasRestored": "{name} wird wieder verwendet",
  "record.showMore": "Mehr zeigen",
  "record.archivedHint": "Wird nicht mehr angeboten; was darauf verweist, behält es.",
  "record.addMore": "Hinzufügen",
} satisfies TextsLike<typeof english>;
