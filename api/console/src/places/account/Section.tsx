import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface SectionProps {
  /** What the parameter `section` of the address names it by. */
  name?: string;
  title: string;
  text?: string;
  /** Why the last change was refused. */
  said?: string;
  children: ComponentChildren;
}

/** A titled part of the page. */
export function Section({ name, title, text, said, children }: SectionProps) {
  const id = useId();
  return (
    <section class="card" id={name} aria-labelledby={id}>
      <h2 id={id} tabIndex={-1}>
        {title}
      </h2>
      {text && <p class="card-text">{text}</p>}
      {children}
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
    </section>
  );
}
