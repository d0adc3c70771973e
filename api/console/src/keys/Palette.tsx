import { useEffect, useState } from "preact/hooks";
import { t } from "../i18n/translate";
import { Dialog } from "../parts/Dialog";
import { OPTION_HEIGHT, type Pick } from "../parts/Picker";
import { Rows } from "../parts/Rows";

/** What can be chosen. */
export interface Choice extends Pick {
  run: () => void;
}

interface PaletteProps {
  /** What fits a text, best first. */
  find: (text: string) => readonly Choice[];
  /** What else fits it, of those who need time to say so; asked once the typing rests. */
  findLater?: (text: string, signal: AbortSignal) => Promise<readonly Choice[]>;
  onClose: () => void;
  /** What is chosen; without it that everything is searched. */
  title?: string;
}

const REST_MS = 300;

/** Go to anything, or do anything, by a part of its name. */
export function Palette({ find, findLater, onClose, title = t("keys.palette") }: PaletteProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [later, setLater] = useState<readonly Choice[]>([]);
  const found = [...find(text), ...later];

  useEffect(() => {
    setLater([]);
    const running = new AbortController();
    const ask = async () => {
      const answer = await findLater?.(text, running.signal);
      if (answer && !running.signal.aborted) setLater(answer);
    };
    const timer = setTimeout(() => void ask().catch(() => {}), REST_MS);
    return () => {
      clearTimeout(timer);
      running.abort();
    };
  }, [text]);

  function choose(item: Choice | undefined) {
    if (!item) return;
    onClose();
    item.run();
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <div class="palette">
        <input
          role="combobox"
          aria-label={t("common.search")}
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={found[at] ? `palette-${at}` : undefined}
          autocomplete="off"
          autofocus
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown" || event.key === "ArrowUp") {
              event.preventDefault();
              setAt(Math.max(0, Math.min(found.length - 1, at + (event.key === "ArrowDown" ? 1 : -1))));
            } else if (event.key === "Enter") {
              event.preventDefault();
              choose(found[at]);
            }
          }}
        />
        <div id="palette-list" class="palette-list">
          {found.length === 0 && <p class="picker-none">{t("common.noMatch")}</p>}
          <Rows
            role="listbox"
            label={title}
            count={found.length}
            rowHeight={OPTION_HEIGHT}
            current={at}
            keyOf={(index) => found[index]?.id ?? index}
            render={(index) => (
              <div
                role="option"
                id={`palette-${index}`}
                tabIndex={-1}
                aria-selected={index === at}
                class="picker-option"
                onClick={() => choose(found[index])}
                onKeyDown={() => {}}
              >
                <span>{found[index]?.name}</span>
                <small>{found[index]?.note}</small>
              </div>
            )}
          />
        </div>
      </div>
    </Dialog>
  );
}
