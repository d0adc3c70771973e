import { overview as portugal } from "../pt/overview";
import type { TextsLike } from "../translate";

export const overview: TextsLike<typeof portugal> = {
  ...portugal,
  "overview.cameras": "Veículos com câmeras em silêncio",
  "overview.noneSilent": "Há notícias de todas as câmeras.",
  "overview.lost": "Sem imagem da câmera {cameras}",
  "overview.alarms": "Alarmes e avisos a revisar",
  "overview.maintenance": "Manutenções a fazer",
  "overview.drove": "Veículos que rodaram",
  "overview.startsHere": "A partir de agora você começa pela visão geral.",
  "overview.startsFleet": "A partir de agora você começa pela frota.",
};
