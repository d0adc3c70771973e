import type { capture as english } from "../en/capture";
import type { TextsLike } from "../translate";

export const capture = {
  "capture.download": "Descargar",
  "capture.removed": "El archivo ya no se conserva.",
  "capture.failed": "No se guardó: {reason}",
  "capture.progress": "Video recibido",
  "capture.waiting": "Esperando al vehículo",
  "capture.nothing": "El vehículo no envía nada",
  "capture.stopped": "El vehículo dejó de enviar",
  "capture.arriving": "Llegando",
  "capture.rate": "{rate} por segundo",
  "capture.ends": "termina hacia las {time}",
  "capture.end": "Terminar aquí",
  "capture.running": { one: "{count} captura en curso", other: "{count} capturas en curso" },
  "capture.mine": "Iniciadas en este navegador",
  "capture.requests": "Solicitudes de video",
  "capture.openHistory": "Mostrar en el historial",
  "capture.dismiss": "Quitar de esta lista",
  "capture.complete": "El video de {name} está guardado",
  "capture.failedOf": "El video de {name} no se guardó: {reason}",
  "footage.waiting": "Se pide cuando el vehículo esté en línea, hasta {until}",
  "footage.fetching": "Llegando",
  "footage.complete": "Completo",
  "footage.expired": "El vehículo no volvió a tiempo",
  "footage.cancel": "Retirar",
} satisfies TextsLike<typeof english>;
