import type { library as portugal } from "../pt/library";
import type { TextsLike } from "../translate";

export const library: Partial<TextsLike<typeof portugal>> = {
  "library.search": "Buscar",
  "library.kinds.photo": "Fotos",
  "library.kinds.still": "Imagens salvas",
  "library.kinds.sound": "Áudio",
  "library.kind.photo": "Foto",
  "library.kind.still": "Imagem salva",
  "library.kind.sound": "Áudio",
  "library.kind.file": "Arquivo",
  "library.kept": "Mantido",
  "library.inTicket": "Em um chamado",
  "library.emptyText":
    "Aqui aparecem as fotos e os vídeos que os veículos enviam com os alarmes, e o vídeo capturado ao vivo ou no histórico de um veículo.",
  "library.keep": "Manter",
  "library.release": "Mantido: deixar de manter",
  "library.isKept": "O arquivo é mantido: nem a idade nem a cota o excluem",
  "library.released": "O arquivo não é mais mantido",
  "library.delete": "Excluir",
  "library.deleteIt": "Excluir o arquivo",
  "library.deleteQuestion": "Excluir este arquivo para sempre? Não será possível recuperá-lo.",
  "library.deleted": "O arquivo foi excluído",
  "library.stays": "O que é mantido ou está em um chamado não pode ser excluído.",
  "library.proof": "Evento e evidências",
  "library.notPlayable": "Não é possível reproduzir o arquivo aqui. Baixe-o para abrir com outro programa.",
  "library.fileOnly": "Este arquivo não é mostrado aqui. Baixe-o para abrir.",
};
