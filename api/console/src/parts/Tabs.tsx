import { useEffect, useRef } from "preact/hooks";
import { Icon, type IconName } from "./Icon";

export interface Tab {
  key: string;
  label: string;
  icon?: IconName;
  href: string;
}

interface TabsProps {
  label: string;
  tabs: readonly Tab[];
  chosen: string;
  /** Go to the address of a tab. */
  onChoose: (href: string) => void;
}

/** Places beside each other, each with an address. */
export function Tabs({ label, tabs, chosen, onChoose }: TabsProps) {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // Where they do not fit, they are moved sideways; the page around them stays.
    const at = nav.current?.querySelector("[aria-current]")?.getBoundingClientRect();
    const box = nav.current?.getBoundingClientRect();
    if (nav.current && at && box)
      nav.current.scrollLeft += Math.min(0, at.left - box.left) || Math.max(0, at.right - box.right);
  }, [chosen]);
  return (
    <nav ref={nav} class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a
          key={tab.key}
          href={tab.href}
          aria-current={tab.key === chosen ? "page" : undefined}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
            event.preventDefault();
            onChoose(tab.href);
          }}
        >
          {tab.icon && <Icon name={tab.icon} size={16} />}
          {tab.label}
        </a>
      ))}
    </nav>
  );
}
