import type { vehicle as portugal } from "../pt/vehicle";
import type { TextsLike } from "../translate";

export const vehicle: Partial<TextsLike<typeof portugal>> = {
  "vehicle.live": "Ao vivo",
  "vehicle.settings": "Ajustes",
  "vehicle.missing": "Este veículo não existe, ou você não tem acesso.",
  "vehicle.address": "Endereço",
  "vehicle.lastReport": "Última comunicação",
  "vehicle.contact": "Contato",
  "vehicle.openWindow": "Abrir em outra janela",
  "vehicle.invalid": "O dispositivo não confia nesta posição",
};
