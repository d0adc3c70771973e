import type { ComponentChildren } from "preact";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import "./drawer.css";

interface StageProps {
  /** Name of the list. */
  label: string;
  onShow: () => void;
  /** The map. */
  children: ComponentChildren;
}

/**
 * A map with a list beside it, and the button that brings the list back. The place is `with-drawer` and the list
 * `drawer-list`: from 700 to 1,099 pixels it lies over the map while the place is `drawer-open`.
 */
export function ListStage({ label, onShow, children }: StageProps) {
  return (
    <div class="list-stage">
      {children}
      <button type="button" class="list-unfold" onClick={onShow}>
        <Icon name="list" size={18} />
        {label}
      </button>
    </div>
  );
}

/** Folds the list away. */
export function FoldButton({ onFold }: { onFold: () => void }) {
  const label = t("fleet.hideList");
  return (
    <button type="button" class="icon-button list-fold" aria-label={label} title={label} onClick={onFold}>
      <Icon name="fold" />
    </button>
  );
}

/** Pixels of a map that a panel or list of its place lies over; 0 where they lie beside it. */
export function coveredBy(name: ".vehicle-panel" | ".drawer-list", map: HTMLElement | null): number {
  const over = map?.closest(".with-drawer")?.querySelector(name);
  return over && getComputedStyle(over).position === "absolute" ? over.getBoundingClientRect().width + 10 : 0;
}
