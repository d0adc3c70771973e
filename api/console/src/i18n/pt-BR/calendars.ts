import { calendars as portugal } from "../pt/calendars";
import type { TextsLike } from "../translate";

export const calendars: TextsLike<typeof portugal> = {
  ...portugal,
  "calendar.search": "Buscar calendários",
  "calendar.hidden": "Calendário {id}, que você não vê",
  "calendar.textHint": "O que se escreve aqui fica exatamente assim.",
  "calendar.unused": "Nada do que você vê usa este calendário.",
  "calendar.hoursOfDay": "{hours} horas, muda o horário",
  "calendar.deleteText":
    "As zonas, as notificações e os veículos que o usam passam a valer sempre, e os relatórios que ele programa são excluídos. Um calendário de um agendamento ou do atendimento não pode ser excluído.",
};
