import { useEffect, useState } from "preact/hooks";
import type { Media } from "../../api/types";
import { date } from "../../format/times";
import { t } from "../../i18n/translate";
import { Empty } from "../../parts/Empty";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { go, location } from "../../router";
import { style } from "../../state/session";
import { LibraryFilter } from "./LibraryFilter";
import { daysOf, filtersOf } from "./library";
import { MediaDialog } from "./MediaDialog";
import { MediaTile } from "./MediaTile";
import { Running } from "./Running";
import { useLibrary } from "./useLibrary";
import "./library.css";

/** Captures, photos and films of all vehicles: pictures by day, played in place. */
export default function Library() {
  const { query } = location.value;
  const filters = filtersOf(query);
  const key = query.toString();
  const list = useLibrary(key, filters);
  const [open, setOpen] = useState<string | null>(null);
  useEffect(() => {
    document.title = `${t("library.title")} · Motorpool`;
  }, []);
  const shown = list.items?.find(({ fileName }) => fileName === open);
  return (
    <div class="page library">
      <h1>{t("library.title")}</h1>
      <Running />
      <LibraryFilter filters={filters} />
      {list.problem !== null && <Problem problem={list.problem} onRetry={list.reload} />}
      {!list.items && list.problem === null && <Skeleton label={t("common.loading")} lines={8} />}
      {list.items?.length === 0 && !list.more && (
        <Empty
          icon="camera"
          title={t(key ? "library.noneFound" : "library.empty")}
          text={t(key ? "library.noneFoundText" : "library.emptyText")}
        >
          {key && (
            <button type="button" onClick={() => go("/library")}>
              {t("library.clear")}
            </button>
          )}
        </Empty>
      )}
      {daysOf(list.items ?? [], style.value.zone).map(({ day, items }) => (
        <Day key={day} items={items} onOpen={setOpen} />
      ))}
      {list.more && (
        <button type="button" class="library-more" disabled={list.busy} onClick={list.readMore}>
          {t(list.busy ? "common.loading" : "library.more")}
        </button>
      )}
      {shown && (
        <MediaDialog
          key={shown.fileName}
          item={shown}
          onClose={() => setOpen(null)}
          onChanged={list.replace}
          onDeleted={(gone) => {
            setOpen(null);
            list.remove(gone);
          }}
        />
      )}
    </div>
  );
}

function Day({ items, onOpen }: { items: readonly Media[]; onOpen: (name: string) => void }) {
  const at = Date.parse(items[0]?.time ?? "");
  const name = date(at, style.value);
  return (
    <section class="library-day" aria-label={name}>
      <h2>{name}</h2>
      <ul>
        {items.map((item) => (
          <li key={item.fileName}>
            <MediaTile item={item} onOpen={() => onOpen(item.fileName)} />
          </li>
        ))}
      </ul>
    </section>
  );
}
