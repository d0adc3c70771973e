import type { history as portugal } from "../pt/history";
import type { TextsLike } from "../translate";

export const history: Partial<TextsLike<typeof portugal>> = {
  "history.badSpan": "Este período não foi entendido.",
  "history.map": "Mapa do trajeto",
  "history.wholeRoute": "Mostrar todo o trajeto",
  "history.replay": "Reprodução do trajeto",
  "history.side": "O que é listado",
  "history.side.day": "Viagens e paradas",
  "history.stop": "Parada {number}",
  "history.tripsAndStops": "Viagens e paradas",
  "history.noTrips": "Nenhuma viagem nem parada neste período.",
  "history.tooMuch": "Posições demais para desenhar",
  "history.shorter": "Escolha um período mais curto. As viagens, as paradas e os arquivos incluem todas.",
  "history.save": "Salvar como arquivo",
  "history.saveWorkbook": "Viagens, paradas e trajeto em uma planilha",
  "history.saveAs": "Trajeto em",
  "history.printed": "De {from} a {to}, horários de {zone}.",
  "history.stops": { one: "{count} parada", other: "{count} paradas" },
};
