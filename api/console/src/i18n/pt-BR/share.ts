import type { share as portugal } from "../pt/share";
import type { TextsLike } from "../translate";

export const share: Partial<TextsLike<typeof portugal>> = {
  "share.share": "Compartilhar",
  "share.title": "Compartilhar {name}",
  "share.for": "Por quanto tempo",
  "share.seenLive": "Vídeo ao vivo das câmeras",
  "share.seenNothing": "Nenhum outro veículo, e nenhuma página sua deste console",
  "share.list": "Compartilhado agora",
  "share.none": "Nada está compartilhado.",
  "share.end": "Encerrar",
  "share.gone": "Não é mais seu",
  "share.links": "Links compartilhados",
  "share.linksText":
    "Links com que convidados veem um veículo ou um grupo. Para criar um, abra um veículo e escolha Compartilhar.",
  "share.guest": "Compartilhado com você",
  "share.shared": "Veículos compartilhados",
  "share.all": "Todos os veículos compartilhados",
  "share.nothing": "No momento não há nenhum veículo aqui.",
  "share.over": "Este link foi encerrado",
  "share.invitedText":
    "Você entrou como {name}. O link mostra o que é compartilhado com o convidado, e encerra sua sessão neste navegador.",
  "share.stay": "Continuar na sessão",
};
