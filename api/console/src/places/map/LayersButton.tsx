import { useRef } from "preact/hooks";
import { t } from "../../i18n/translate";
import type { Layer } from "../../map/base";
import { Icon } from "../../parts/Icon";
import { Menu } from "../../parts/Menu";
import { chooseLayer, chosenLayer } from "./layerChoice";

/** Pixels of the window. */
interface Corner {
  x: number;
  y: number;
}

/** Opens the menu of layers, beside itself. */
export function LayersButton({ isOpen, onOpen }: { isOpen: boolean; onOpen: (at: Corner) => void }) {
  const button = useRef<HTMLButtonElement>(null);
  const label = t("map.layers");
  const open = () => {
    const box = button.current?.getBoundingClientRect();
    if (box) onOpen({ x: box.right + 6, y: box.top });
  };
  return (
    <button
      ref={button}
      type="button"
      aria-label={label}
      title={label}
      aria-haspopup="menu"
      aria-expanded={isOpen}
      onClick={open}
    >
      <Icon name="layers" size={18} />
    </button>
  );
}

interface LayersMenuProps {
  layers: readonly Layer[];
  at: Corner;
  onClose: () => void;
}

/** What maps show over the outlines, to choose from. */
export function LayersMenu({ layers, at, onClose }: LayersMenuProps) {
  const shown = chosenLayer(layers);
  const items = [...layers, null].map((layer) => ({
    label: layer ? (layer.name ?? t("map.streets")) : t("map.plain"),
    checked: layer === shown,
    run: () => chooseLayer(layer),
  }));
  return <Menu label={t("map.layers")} items={items} at={at} onClose={onClose} />;
}
