export const map = {
  "map.title": "Mapa dos veículos",
  "map.zoomIn": "Aproximar",
  "map.zoomOut": "Afastar",
  "map.all": "Mostrar todos os veículos",
  "map.follow": "Seguir este veículo",
  "map.unavailable": "Não é possível mostrar o mapa",
  "map.needsWebgl": "O navegador precisa de WebGL. A lista tem todos os veículos.",
  "map.notLoaded": "Não foi possível carregar o mapa.",
  "map.credits": "Contornos: Natural Earth · Cidades: GeoNames",
  "map.place": "Este lugar",
  "map.vehiclesHere": { one: "{count} veículo aqui", other: "{count} veículos aqui" },
} as const;
