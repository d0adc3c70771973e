import type { ComponentChildren } from "preact";
import "./sections.css";
import { type Tab, Tabs } from "./Tabs";

interface SectionsProps {
  label: string;
  tabs: readonly Tab[];
  chosen: string;
  /** Go to the address of a section. */
  onChoose: (href: string) => void;
  children: ComponentChildren;
}

/** One section of a place at a time, beside the list of all of them; on phones the list is above it. */
export function Sections({ children, ...tabs }: SectionsProps) {
  return (
    <div class="sections">
      <Tabs {...tabs} />
      <div class="section">{children}</div>
    </div>
  );
}
