import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

/** What takes longer shows that it loads; who waits sees a sign within 100 ms. */
const LATE_MS = 80;

/** Shows its content a moment later: what loads faster shows no sign of loading. */
export function Late({ children }: { children: ComponentChildren }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), LATE_MS);
    return () => clearTimeout(timer);
  }, []);
  return shown ? children : null;
}

interface SkeletonProps {
  label: string;
  /** Lines of text, or rows. */
  lines?: number;
  /** Pixels of a row, where rows of a list are on their way. */
  rowHeight?: number;
}

/** The form of lines, or of rows of a list, that are on their way. It takes no more room than what it stands for. */
export function Skeleton({ lines = 3, label, rowHeight }: SkeletonProps) {
  const rows = rowHeight !== undefined;
  return (
    <Late>
      <div
        class={rows ? "skeleton skeleton-rows" : "skeleton"}
        role="status"
        aria-label={label}
        style={rows ? { "--row": `${rowHeight}px` } : undefined}
      >
        {Array.from({ length: lines }, (_, index) => (
          <span key={index} />
        ))}
      </div>
    </Late>
  );
}
