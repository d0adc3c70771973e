import type { overview as english } from "../en/overview";
import type { TextsLike } from "../translate";

export const overview = {
  "overview.title": "Panorama",
  "overview.now": "Vehículos ahora",
  "overview.waiting": "Lo que espera",
  "overview.alarms": "Alarmas y avisos por revisar",
  "overview.maintenance": "Mantenimientos pendientes",
  "overview.tickets": "Tickets atrasados",
  "overview.cameras": "Vehículos con cámaras en silencio",
  "overview.noneSilent": "Hay noticias de todas las cámaras.",
  "overview.lost": "Sin imagen de la cámara {cameras}",
  "overview.more": { one: "Y {count} más", other: "Y {count} más" },
  "overview.yesterday": "Ayer",
  "overview.yesterdayText":
    "Según los contadores de los vehículos. Los informes a los que llevan estas cifras siguen el recorrido.",
  "overview.distance": "Distancia",
  "overview.hours": "Horas de motor",
  "overview.drove": "Vehículos que circularon",
  "overview.weekBefore": "{value} al día en la semana anterior ({change})",
  "overview.startHere": "Empezar por esta página",
  "overview.startFleet": "Empezar por la flota",
  "overview.startsHere": "A partir de ahora empieza por el panorama.",
  "overview.startsFleet": "A partir de ahora empieza por la flota.",
} as const satisfies TextsLike<typeof english>;
