import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface SectionProps {
  title: string;
  text?: string;
  /** Why the last change was refused. */
  said?: string;
  children: ComponentChildren;
}

/** A titled part of the page. */
export function Section({ title, text, said, children }: SectionProps) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
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
