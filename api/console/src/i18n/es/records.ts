import type { records as english } from "../en/records";
import type { TextsLike } from "../translate";

export const records = {
  "record.archived": "archivado",
  "record.archivedLabel": "Archivado",
  "record.name": "Nombre",
  "record.remove": "Quitar a {name}",
  "record.kept": "Esto lo había escrito antes, y no está guardado.",
  "record.dropKept": "Descartarlo",
  "record.conflict":
    "Entretanto otra persona cambió {fields}. Lo suyo queda ahora encima: revíselo y guarde de nuevo.",
  "record.deleteTitle": "¿Eliminar {name}?",
  "record.edit": "Editar {name}",
  "record.delete": "Eliminar {name}",
  "record.archive": "Archivar {name}",
  "record.restore": "Volver a usar {name}",
  "record.wasArchived": "{name}: archivado",
  "record.wasRestored": "{name}: de nuevo en uso",
  "record.showMore": "Mostrar más",
  "record.archivedHint": "Ya no se ofrece; lo que lo usa lo conserva.",
  "record.addMore": "Añadir",
} satisfies TextsLike<typeof english>;
