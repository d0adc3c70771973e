import type { ComponentChildren } from "preact";
import "./login.css";

/** What somebody sees who is not logged in, or not yet for everything. */
export function Card({
  title,
  text,
  children,
}: {
  title: string;
  text?: string;
  children: ComponentChildren;
}) {
  return (
    <main class="login">
      <div class="login-card">
        <img src="/console/icon.svg" alt="" width={48} height={48} />
        <h1>{title}</h1>
        {text && <p class="login-text">{text}</p>}
        {children}
      </div>
    </main>
  );
}
