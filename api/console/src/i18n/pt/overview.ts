import type { overview as english } from "../en/overview";
import type { TextsLike } from "../translate";

export const overview = {
  "overview.title": "Visão geral",
  "overview.now": "Veículos agora",
  "overview.waiting": "O que espera",
  "overview.alarms": "Alarmes e avisos por rever",
  "overview.maintenance": "Manutenções por fazer",
  "overview.tickets": "Tickets atrasados",
  "overview.cameras": "Veículos com câmaras em silêncio",
  "overview.noneSilent": "Há notícias de todas as câmaras.",
  "overview.lost": "Sem imagem da câmara {cameras}",
  "overview.more": { one: "E mais {count}", other: "E mais {count}" },
  "overview.yesterday": "Ontem",
  "overview.yesterdayText":
    "Pelos contadores dos veículos. Os relatórios a que estes números levam seguem o percurso.",
  "overview.distance": "Distância",
  "overview.hours": "Horas de motor",
  "overview.drove": "Veículos que andaram",
  "overview.weekBefore": "{value} por dia na semana anterior ({change})",
  "overview.startHere": "Começar por esta página",
  "overview.startFleet": "Começar pela frota",
  "overview.startsHere": "A partir de agora começa pela visão geral.",
  "overview.startsFleet": "A partir de agora começa pela frota.",
} as const satisfies TextsLike<typeof english>;
