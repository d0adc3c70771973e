import type { capture as portugal } from "../pt/capture";
import type { TextsLike } from "../translate";

export const capture: Partial<TextsLike<typeof portugal>> = {
  "capture.download": "Baixar",
  "capture.removed": "O arquivo não está mais salvo.",
  "capture.failed": "Não foi salvo: {reason}",
  "capture.waiting": "Aguardando o veículo",
  "capture.stopped": "O veículo parou de enviar",
  "capture.arriving": "Chegando",
  "capture.ends": "termina por volta das {time}",
  "capture.end": "Encerrar aqui",
  "capture.requests": "Solicitações de vídeo",
  "capture.dismiss": "Remover desta lista",
  "capture.complete": "O vídeo de {name} foi salvo",
  "capture.failedOf": "O vídeo de {name} não foi salvo: {reason}",
  "footage.waiting": "Será solicitado quando o veículo ficar online, até {until}",
  "footage.fetching": "Chegando",
  "footage.cancel": "Cancelar",
};
