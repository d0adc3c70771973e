import type { sent as portugal } from "../pt/sent";
import type { TextsLike } from "../translate";

export const sent: Partial<TextsLike<typeof portugal>> = {
  "sent.user": "Usuário",
  "sent.userOf": "Usuário {id}",
  "sent.you": "você",
  "sent.states": "Status",
  "sent.state.QUEUED": "Na fila",
  "sent.outcome.QUEUED": "Na fila até o veículo ficar online",
  "sent.ticket": "Chamado",
  "sent.empty": "Nenhum comando foi enviado ainda",
  "sent.emptyText":
    "O que é enviado aos veículos manualmente, por agendamentos e por notificações fica aqui, com o resultado.",
  "sent.emptyHere": "Nenhum comando foi enviado a este veículo ainda.",
  "sent.noneFoundText": "Escolha outro veículo, usuário, status ou período.",
};
