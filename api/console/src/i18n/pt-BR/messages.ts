import { messages as portugal } from "../pt/messages";
import type { TextsLike } from "../translate";

export const messages: TextsLike<typeof portugal> = {
  ...portugal,
  "messages.waiting": "Aguardando mensagens",
  "messages.mayNot": "Você não pode ver mensagens.",
  "messages.mayNotText": "São para administradores, porque podem conter senhas de dispositivos.",
  "messages.received": "Do dispositivo",
  "messages.sent": "Para o dispositivo",
  "messages.notExplained": "Só é explicado o que o dispositivo envia.",
  "messages.field.deviceTime": "Hora do dispositivo",
  "messages.waitingText":
    "O que o dispositivo envia e recebe é mostrado a partir de agora, enquanto esta página estiver aberta.",
};
