import { notifications as portugal } from "../pt/notifications";
import type { TextsLike } from "../translate";

export const notifications: TextsLike<typeof portugal> = {
  ...portugal,
  "notification.noneText":
    "Uma notificação diz quais eventos chegam a quem e por qual meio: esta página, e-mail, mensagem de texto.",
  "notification.you": "{name} (você)",
  "notification.trying": "Olhando o dia de ontem …",
  "notification.deleteText": "Ninguém mais é notificado por ela. Isso não pode ser desfeito.",
  "notification.channelsText":
    "Por estes meios o servidor chega a você. O que falta, como um endereço, um teste diz.",
  "notification.ownText": "De que você é avisado, e por qual meio.",
  "notification.wasTested": "Um teste está a caminho: {channel}",
  "notification.paused": "Em pausa, falhava desde {at}: {error}. Um teste bem-sucedido retoma.",
  "notification.groups": "Grupos, com tudo o que há dentro",
  "notification.vehicles": "Veículos individuais",
  "notification.command": "Comando salvo que o veículo recebe",
  "notification.trialHint": "Conta, com o que está neste formulário, sobre eventos salvos; nada é enviado.",
  "notification.wordsHint": "No lugar do que o servidor diz. O que fica vazio continua como está.",
  "notification.subjectHint": "Dos e-mails, e o título onde houver.",
  "notification.example": "Em um exemplo diria a você",
  "notification.placeholder.address": "Endereço",
  "notification.placeholder.driver": "Motorista",
  "notification.preview": "A mais recente teria dito a você",
};
