import type { ComponentChildren } from "preact";

/** A page that says one thing. */
export function Notice({
  title,
  text,
  children,
}: {
  title: string;
  text: string;
  children?: ComponentChildren;
}) {
  return (
    <main class="notice">
      <div class="card">
        <img src="/console/icon.svg" alt="" width={48} height={48} />
        <h1>{title}</h1>
        <p>{text}</p>
        {children}
      </div>
    </main>
  );
}
