import type { capture as english } from "../en/capture";
import type { Message } from "../translate";

export const capture = {
  "capture.download": "Descarregar",
  "capture.removed": "O ficheiro já não está guardado.",
  "capture.failed": "Não guardado: {reason}",
  "capture.progress": "Vídeo que já chegou",
  "capture.waiting": "À espera do veículo",
  "capture.nothing": "O veículo não envia nada",
  "capture.stopped": "O veículo deixou de enviar",
  "capture.arriving": "A chegar",
  "capture.rate": "{rate} por segundo",
  "capture.ends": "termina cerca das {time}",
  "capture.end": "Terminar aqui",
  "capture.running": { one: "{count} captura em curso", other: "{count} capturas em curso" },
  "capture.mine": "Iniciadas neste navegador",
  "capture.requests": "Pedidos de vídeo",
  "capture.openHistory": "Mostrar no histórico",
  "capture.dismiss": "Retirar desta lista",
  "capture.complete": "O vídeo de {name} está guardado",
  "capture.failedOf": "O vídeo de {name} não foi guardado: {reason}",
  "footage.waiting": "Pedido quando o veículo ficar online, até {until}",
  "footage.fetching": "A chegar",
  "footage.complete": "Completo",
  "footage.expired": "O veículo não voltou a tempo",
  "footage.cancel": "Retirar",
} satisfies Record<keyof typeof english, Message>;
