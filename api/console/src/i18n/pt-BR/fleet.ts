import type { fleet as portugal } from "../pt/fleet";
import type { TextsLike } from "../translate";

export const fleet: Partial<TextsLike<typeof portugal>> = {
  "fleet.search": "Buscar nome ou número",
  "fleet.status": "Status",
  "fleet.empty": "Nenhum veículo ainda",
  "fleet.emptyText": "Um veículo aparece aqui quando é adicionado e vinculado à sua conta.",
  "fleet.connect": "Conectar um rastreador",
  "fleet.noMatchText": "Altere a busca ou os filtros.",
  "fleet.noPlace": "Sem posição ainda",
  "fleet.lastHeard": "Última comunicação há {span}",
  "fleet.lastHeardMoving": "Última comunicação há {span} · estava a {speed}",
  "fleet.findAddress": "Buscar o endereço “{text}”",
  "fleet.noAddress": "Nenhum endereço encontrado.",
  "fleet.firstSteps": "Até o primeiro veículo no mapa",
  "fleet.step.login": "Você já pode entrar",
  "fleet.step.vehicle": "Adicionar um veículo pelo modelo ou número do rastreador",
  "fleet.step.server": "Configurar o endereço deste servidor no rastreador",
  "fleet.step.report": "O rastreador comunica e envia uma posição",
};
