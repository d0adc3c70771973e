import { useRef, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import type { Layer } from "../../map/base";
import { Icon } from "../../parts/Icon";
import { Menu } from "../../parts/Menu";
import { chooseLayer, chosenLayer } from "./layerChoice";

/** The menu of what maps show over the outlines; nothing where there is no choice. */
export function LayersButton({ layers }: { layers: readonly Layer[] }) {
  const button = useRef<HTMLButtonElement>(null);
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  if (layers.length === 0) return null;
  const shown = chosenLayer(layers);
  const open = () => {
    const box = button.current?.getBoundingClientRect();
    if (box) setAt({ x: box.right + 6, y: box.top });
  };
  const items = [...layers, null].map((layer) => ({
    label: layer ? (layer.name ?? t("map.streets")) : t("map.plain"),
    checked: layer === shown,
    run: () => chooseLayer(layer),
  }));
  const label = t("map.layers");
  return (
    <>
      <button
        ref={button}
        type="button"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={at !== null}
        onClick={open}
      >
        <Icon name="layers" size={18} />
      </button>
      {at && <Menu label={label} items={items} at={at} onClose={() => setAt(null)} />}
    </>
  );
}
