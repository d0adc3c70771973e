import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { t } from "../i18n/translate";
import { Icon } from "./Icon";

interface FilterBarProps {
  /** How many filters are set, which the button tells. */
  count?: number;
  /** What the button says instead of *Filters*, such as the chosen span; the number stands behind it. */
  label?: string | undefined;
  /** What is never folded away, such as the search or the way to save. */
  lead?: ComponentChildren;
  /** A class of the box around the filters, which lays them out. */
  class?: string;
  children: ComponentChildren;
}

/**
 * Filters of a place. On phones the button *Filters (2)* shows them and folds them away again; wider windows always
 * show them, and have no button.
 *
 *     <FilterBar count={filters.kinds.length} class="event-filter">
 *       <TimeField … />
 *       <Picker … />
 *     </FilterBar>
 */
export function FilterBar({ count = 0, label, lead, class: box = "", children }: FilterBarProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <div class={`filter-bar${open ? " open" : ""}`}>
      <div class="filter-bar-lead">
        {lead}
        <button
          type="button"
          class="quiet filter-bar-toggle"
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen(!open)}
        >
          <Icon name="filter" size={18} />
          <span>{textOf(label, count)}</span>
        </button>
      </div>
      <div id={id} class={`filter-bar-body ${box}`}>
        {children}
      </div>
    </div>
  );
}

function textOf(label: string | undefined, count: number): string {
  if (label !== undefined) return count > 0 ? `${label} (${count})` : label;
  return count > 0 ? t("common.filtersSet", { count }) : t("common.filters");
}
