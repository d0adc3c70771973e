export const map = {
  "map.title": "Map of the vehicles",
  "map.zoomIn": "Zoom in",
  "map.zoomOut": "Zoom out",
  "map.all": "Show all vehicles",
  "map.follow": "Follow this vehicle",
  "map.unavailable": "The map cannot be shown",
  "map.needsWebgl": "The browser needs WebGL for it. The list has all vehicles.",
  "map.notLoaded": "The map could not be loaded.",
  "map.credits": "Outlines: Natural Earth · Cities: GeoNames",
  "map.place": "This place",
  "map.vehiclesHere": { one: "{count} vehicle here", other: "{count} vehicles here" },
} as const;
