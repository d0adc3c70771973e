import type { frame as portugal } from "../pt/frame";
import type { TextsLike } from "../translate";

export const frame: Partial<TextsLike<typeof portugal>> = {
  "frame.tickets": "Chamados",
  "frame.ticketsOverdue": {
    one: "{count} dos seus chamados está atrasado",
    other: "{count} dos seus chamados estão atrasados",
  },
  "frame.acting": "Você está agindo como {name}.",
  "frame.viewing": "Você vê o que {name} vê. Nada pode ser alterado.",
  "frame.back": "Voltar para {name}",
  "frame.secondWindowText": "Abrir esta página de novo; as duas mostram o veículo escolhido em qualquer uma",
  "frame.linked": "Vinculada",
  "frame.linkedText": "Esta janela mostra o veículo escolhido em outra. Pressione para encerrar.",
  "frame.lost": "Sem conexão. O que você vê tem {age}.",
  "frame.lostNow": "Sem conexão. Tentando de novo.",
  "frame.databaseAway": "O banco de dados não está disponível: nada pode ser salvo.",
  "frame.positionsWait": "As posições não podem ser salvas e aguardam.",
  "frame.memoryShort": "O servidor tem pouca memória livre; novos vídeos e planilhas são recusados.",
  "frame.filesShort": "O servidor tem conexões abertas demais; as novas aguardam.",
  "frame.clockSet": "O relógio do servidor foi ajustado.",
  "frame.noDuties": "Nenhum servidor em funcionamento faz o que tem hora marcada.",
  "frame.missing": "Esta página não existe, ou você não tem acesso.",
  "frame.sessionOver": "Sua sessão terminou",
  "frame.sessionOverText": "Faça login de novo para continuar de onde parou.",
};
