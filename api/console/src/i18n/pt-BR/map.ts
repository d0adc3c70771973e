import type { map as portugal } from "../pt/map";
import type { TextsLike } from "../translate";

export const map: Partial<TextsLike<typeof portugal>> = {
  "map.zoomIn": "Ampliar",
  "map.zoomOut": "Reduzir",
  "map.needsWebgl": "O navegador precisa de WebGL para o mapa. A lista tem todos os veículos.",
  "map.late": "Sem ruas ainda: nada chegou de {host}.",
  "map.unreachable": "Sem ruas: não é possível acessar {host}.",
  "map.place": "Este local",
  "map.town": "Cidade",
  "map.within": "Em um raio de",
};
