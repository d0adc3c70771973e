import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon, type IconName } from "./Icon";

export interface MenuItem {
  label: string;
  icon?: IconName;
  run: () => void;
  dangerous?: boolean;
  /** Whether it is the chosen one of several. */
  checked?: boolean;
}

interface MenuProps {
  label: string;
  items: readonly MenuItem[];
  /** Pixels of the window at which its corner stands. */
  at: { x: number; y: number };
  onClose: () => void;
}

const ITEMS = "[role^=menuitem]";

/** A menu over the page; arrows move, Escape or a press elsewhere closes, the focus returns. */
export function Menu({ label, items, at, onClose }: MenuProps) {
  const box = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(4, Math.min(at.x, window.innerWidth - width - 4))}px`;
    element.style.top = `${Math.max(4, Math.min(at.y, window.innerHeight - height - 4))}px`;
  }, [at.x, at.y]);
  // At once: the next key is pressed in the menu.
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current?.querySelector<HTMLElement>(ITEMS)?.focus();
    const leave = (event: Event) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) close.current();
    };
    const gone = () => close.current();
    document.addEventListener("pointerdown", leave);
    window.addEventListener("blur", gone);
    return () => {
      document.removeEventListener("pointerdown", leave);
      window.removeEventListener("blur", gone);
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);

  function press(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    event.stopPropagation();
    if (step !== undefined) {
      event.preventDefault();
      const all = [...(box.current?.querySelectorAll<HTMLElement>(ITEMS) ?? [])];
      const next = all.indexOf(document.activeElement as HTMLElement) + step;
      all[(next + all.length) % all.length]?.focus();
    } else if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      close.current();
    }
  }

  return (
    <div ref={box} class="menu" role="menu" aria-label={label} tabIndex={-1} onKeyDown={press}>
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          {...roleOf(item)}
          class={item.dangerous ? "dangerous" : ""}
          onClick={() => {
            close.current();
            item.run();
          }}
        >
          {item.icon && <Icon name={item.icon} size={16} />}
          {item.label}
          {item.checked && <Icon name="check" size={16} />}
        </button>
      ))}
    </div>
  );
}

function roleOf({ checked }: MenuItem) {
  return checked === undefined
    ? ({ role: "menuitem" } as const)
    : ({ role: "menuitemradio", "aria-checked": checked } as const);
}
