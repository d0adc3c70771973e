import { options } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Most rows that are printed of a list. */
export const MOST_PRINTED = 2000;

/** Whether the page is being printed, when all rows are drawn. */
export function usePrinting(): boolean {
  const [isPrinted, setPrinted] = useState(false);
  useEffect(() => {
    const show = (value: boolean) => () => {
      // The browser prints what stands there when its listeners have returned.
      const { debounceRendering } = options;
      options.debounceRendering = (draw) => draw();
      setPrinted(value);
      if (debounceRendering) options.debounceRendering = debounceRendering;
      else delete options.debounceRendering;
    };
    const [begin, finish] = [show(true), show(false)];
    window.addEventListener("beforeprint", begin);
    window.addEventListener("afterprint", finish);
    return () => {
      window.removeEventListener("beforeprint", begin);
      window.removeEventListener("afterprint", finish);
    };
  }, []);
  return isPrinted;
}
