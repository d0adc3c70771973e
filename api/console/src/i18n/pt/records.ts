import type { records as english } from "../en/records";
import type { TextsLike } from "../translate";

export const records = {
  "record.archived": "arquivado",
  "record.archivedLabel": "Arquivado",
  "record.name": "Nome",
  "record.remove": "Remover {name}",
  "record.kept": "Já tinha escrito isto, e não está guardado.",
  "record.dropKept": "Descartar",
  "record.conflict":
    "Entretanto outra pessoa mudou {fields}. A sua versão está agora por cima: veja, e guarde outra vez.",
  "record.deleteTitle": "Eliminar {name}?",
  "record.edit": "Editar {name}",
  "record.delete": "Eliminar {name}",
  "record.archive": "Arquivar {name}",
  "record.restore": "Voltar a usar {name}",
  "record.wasArchived": "{name}: arquivado",
  "record.wasRestored": "{name}: de novo em uso",
  "record.showMore": "Mostrar mais",
  "record.archivedHint": "Deixa de ser oferecido; o que já o usa fica com ele.",
  "record.addMore": "Adicionar",
} satisfies TextsLike<typeof english>;
