import { useEffect, useId, useRef, useState } from "preact/hooks";
import { t } from "../i18n/translate";
import { Icon } from "./Icon";
import { plain } from "./plain";
import { Rows } from "./Rows";
import { hasTouch } from "./touch";

export interface Pick {
  id: string | number;
  name: string;
  /** A second name that is searched as well, such as a number. */
  note?: string;
  /** Other words for it, which are searched and not shown. */
  words?: string;
}

interface PickerProps {
  label: string;
  items: readonly Pick[];
  /** The id that is chosen, or null. */
  value: string | number | null;
  onChange: (id: string | number | null) => void;
  /** Offered first, for no choice at all. */
  noneLabel?: string;
  placeholder?: string;
  disabled?: boolean;
}

/** Pixels; a fingertip needs more. */
export const OPTION_HEIGHT = hasTouch ? 44 : 36;

/** Items whose name, note or other words hold all words of a text. */
export function picked<T extends Pick>(items: readonly T[], text: string): readonly T[] {
  const words = plain(text).split(/\s+/).filter(Boolean);
  if (words.length === 0) return items;
  return items.filter((item) => {
    const known = plain(`${item.name} ${item.note ?? ""} ${item.words ?? ""}`);
    return words.every((word) => known.includes(word));
  });
}

/** A choice of many, by typing (the combobox of the ARIA Authoring Practices). */
export function Picker({
  label,
  items,
  value,
  onChange,
  noneLabel,
  placeholder,
  disabled = false,
}: PickerProps) {
  const id = useId();
  const [text, setText] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const root = useRef<HTMLDivElement>(null);
  const open = text !== null;
  const all = noneLabel === undefined ? items : [{ id: "", name: noneLabel }, ...items];
  const found = open ? picked(all, text) : [];
  const chosen = items.find((item) => item.id === value);

  useEffect(() => {
    if (!open) return;
    const leave = (event: Event) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setText(null);
    };
    document.addEventListener("pointerdown", leave);
    document.addEventListener("focusin", leave);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("focusin", leave);
    };
  }, [open]);

  function begin() {
    if (open) return;
    setText("");
    setAt(
      Math.max(
        0,
        all.findIndex((item) => item.id === (value ?? "")),
      ),
    );
  }

  function choose(item: Pick | undefined) {
    if (!item) return;
    setText(null);
    onChange(item.id === "" ? null : item.id);
  }

  function press(event: KeyboardEvent) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) begin();
      else setAt(Math.max(0, Math.min(found.length - 1, at + (event.key === "ArrowDown" ? 1 : -1))));
    } else if (event.key === "Enter" && open) {
      event.preventDefault();
      choose(found[at]);
    } else if (event.key === "Escape" && open) {
      event.preventDefault();
      event.stopPropagation();
      setText(null);
    }
  }

  return (
    <div class="field picker" ref={root}>
      <label for={id}>{label}</label>
      <div class="field-line">
        <input
          id={id}
          role="combobox"
          aria-expanded={open}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={open && found[at] ? `${id}-${found[at].id}` : undefined}
          autocomplete="off"
          disabled={disabled}
          placeholder={placeholder ?? noneLabel ?? ""}
          value={text ?? chosen?.name ?? ""}
          onClick={begin}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
        <Icon name="down" size={16} />
      </div>
      {open && (
        <div class="picker-list" id={`${id}-list`}>
          {found.length === 0 && <p class="picker-none">{t("common.noMatch")}</p>}
          <Rows
            role="listbox"
            label={label}
            count={found.length}
            rowHeight={OPTION_HEIGHT}
            current={at}
            keyOf={(index) => found[index]?.id ?? index}
            render={(index) => {
              const item = found[index];
              if (!item) return null;
              return (
                <div
                  role="option"
                  id={`${id}-${item.id}`}
                  tabIndex={-1}
                  aria-selected={index === at}
                  class="picker-option"
                  onPointerDown={(event) => event.preventDefault()}
                  onClick={() => choose(item)}
                  onKeyDown={press}
                >
                  <span>{item.name}</span>
                  {item.note && <small>{item.note}</small>}
                </div>
              );
            }}
          />
        </div>
      )}
    </div>
  );
}
