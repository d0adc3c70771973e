import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Shows its content only after 150 ms: what loads faster shows no sign of loading. */
export function Late({ children }: { children: ComponentChildren }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return shown ? children : null;
}

/** The form of lines that are on their way. */
export function Skeleton({ lines = 3, label }: { lines?: number; label: string }) {
  return (
    <Late>
      <div class="skeleton" role="status" aria-label={label}>
        {Array.from({ length: lines }, (_, index) => (
          <span key={index} />
        ))}
      </div>
    </Late>
  );
}
