import type { TriedMessage } from "../api/types";
import "./notifications.css";

/** A message as its reader gets it. */
export function Message({ message, caption }: { message: TriedMessage; caption: string }) {
  return (
    <figure class="notification-preview">
      <figcaption>{caption}</figcaption>
      <strong>{message.subject}</strong>
      <pre>{message.text}</pre>
    </figure>
  );
}
