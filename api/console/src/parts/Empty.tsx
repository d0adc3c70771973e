import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./Icon";

interface EmptyProps {
  icon?: IconName;
  title: string;
  text?: string;
  /** What to do about it: a button or a link. */
  children?: ComponentChildren;
}

/** Said where there is nothing to show. */
export function Empty({ icon, title, text, children }: EmptyProps) {
  return (
    <div class="empty" role="status">
      {icon && <Icon name={icon} size={32} />}
      <p class="empty-title">{title}</p>
      {text && <p>{text}</p>}
      {children}
    </div>
  );
}
