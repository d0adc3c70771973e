import type { AnchorHTMLAttributes, ComponentChildren, TargetedMouseEvent } from "preact";
import { go } from "./router";

type LinkProps = { to: string; children?: ComponentChildren } & Omit<
  AnchorHTMLAttributes<HTMLAnchorElement>,
  "href" | "role"
>;

/** A link inside the console; with a modifier, or another button of the mouse, the browser opens it elsewhere. */
export function Link({ to, ...rest }: LinkProps) {
  const follow = (event: TargetedMouseEvent<HTMLAnchorElement>) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return <a {...rest} href={to} onClick={follow} />;
}
