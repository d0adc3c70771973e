import { records as portugal } from "../pt/records";
import type { TextsLike } from "../translate";

export const records: TextsLike<typeof portugal> = {
  ...portugal,
  "record.kept": "Você já tinha escrito isto, e não foi salvo.",
  "record.conflict":
    "Enquanto isso, outra pessoa mudou {fields}. Sua versão agora está por cima: confira e salve de novo.",
  "record.deleteTitle": "Excluir {name}?",
  "record.delete": "Excluir {name}",
};
