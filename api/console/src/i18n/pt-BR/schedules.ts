import { schedules as portugal } from "../pt/schedules";
import type { TextsLike } from "../translate";

export const schedules: TextsLike<typeof portugal> = {
  ...portugal,
  "schedule.noneText":
    "Um agendamento envia sozinho comandos salvos quando os horários de um calendário começam e terminam, como um bloqueio do motor à noite.",
  "schedule.onStart": "Quando seus horários começam, enviar",
  "schedule.onEnd": "Quando seus horários terminam, enviar",
  "schedule.addStep": "Comando salvo",
  "schedule.noCommands": "Ainda não há comandos salvos. Salve primeiro um em um veículo.",
  "schedule.queueHint":
    "Sem minutos, um veículo offline fica de fora. O que ainda espera quando a outra lista é enviada é descartado.",
  "schedule.hiddenCommand": "Comando {id}, que você não vê",
  "schedule.hiddenCalendar": "Você não vê o calendário dele.",
  "schedule.targets": "Para quais veículos",
  "schedule.groups": "Grupos, com tudo o que há dentro",
  "schedule.singleVehicles": "Veículos individuais",
  "schedule.offText": "só é enviado manualmente",
  "schedule.noOwner":
    "o dono foi excluído: edite e salve, e os comandos são enviados com as permissões de quem salvar",
  "schedule.wasSwitchedOff": "{name} está desativado, e o que esperava não é mais enviado",
  "schedule.deleteText": "O que ainda espera não é enviado. Isso não pode ser desfeito.",
  "schedule.next.end": "Termina {at}",
  "schedule.edge.end": "termina",
  "schedule.run.start": "Executar o início agora",
  "schedule.run.end": "Executar o fim agora",
  "schedule.runAct": "Enviar agora",
  "schedule.driving": { one: "{count} deles está em movimento.", other: "{count} deles estão em movimento." },
  "schedule.wasRun": "Em execução; o resultado aparece abaixo",
  "schedule.phase.start": "Início",
  "schedule.phase.manual": "Manual",
  "schedule.reason.missed": "o servidor estava parado nesse horário",
  "schedule.reason.device_not_found": "o veículo foi excluído",
  "schedule.reason.command_not_found": "o comando salvo foi excluído",
  "schedule.reason.not_sent": "a conexão do veículo recusou o comando",
  "schedule.use.priority": "Prioridade de chamados",
};
