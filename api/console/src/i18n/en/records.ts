/** Texts of lists and forms of records, which are loaded with the places that have them. */
export const records = {
  "record.archived": "archived",
  "record.archivedLabel": "Archived",
  "record.name": "Name",
  "record.remove": "Remove {name}",
  "record.kept": "You had typed this before, and it is not saved.",
  "record.dropKept": "Drop it",
  "record.conflict":
    "Somebody else has changed {fields} meanwhile. Yours is on top of it now: look at it, and save again.",
  "record.deleteTitle": "Delete {name}?",
  "record.edit": "Edit {name}",
  "record.delete": "Delete {name}",
  "record.archive": "Archive {name}",
  "record.restore": "Use {name} again",
  "record.wasArchived": "{name} is archived",
  "record.wasRestored": "{name} is used again",
  "record.showMore": "Show more",
  "record.archivedHint": "It is not offered any more; what refers to it keeps it.",
  "record.addMore": "Add",
} as const;
