import type { zone as portugal } from "../pt/zone";
import type { TextsLike } from "../translate";

export const zone: Partial<TextsLike<typeof portugal>> = {
  "zone.search": "Buscar uma zona",
  "zone.empty": "Nenhuma zona ainda",
  "zone.drawCircle": "Clique no mapa no centro do círculo e depois na borda.",
  "zone.userId": "Usuários que a veem",
  "zone.unknownLink": "Nº {id}",
  "zone.noShape": "Desenhe a zona no mapa ou informe os pontos.",
  "zone.notSaved": "Ainda não salva",
  "zone.saved": "Zona salva",
  "zone.deleted": "Zona excluída",
  "zone.deleteTitle": "Excluir a zona {name}?",
  "zone.deleteText":
    "Os veículos deixam de ser monitorados nela, e as notificações dela também são excluídas. Os eventos passados permanecem.",
  "zone.partly": "A zona foi salva, mas nem tudo o que pertence a ela ({part}): {reason}",
  "zone.partNotices": "notificações",
  "zone.conflict": "Outra alteração foi salva enquanto isso. Mudou: {fields}.",
  "zone.keepBoth": "Salvar a minha por cima",
  "zone.discardText": "O que você mudou nesta zona não foi salvo.",
  "zone.enterNumbers": "Informar números",
  "zone.conflictTitle": "Alterada enquanto isso",
};
