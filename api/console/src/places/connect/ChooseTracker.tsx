import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { SearchField } from "../../parts/SearchField";
import { go, withQuery } from "../../router";
import { searched, type Tracker } from "./trackers";

/** Shorter texts of digits are taken for models. */
const NUMBER = /^\d{8,}$/;

/** The first step: which tracker it is, by make, model or protocol; or its number alone. */
export function ChooseTracker({ trackers }: { trackers: readonly Tracker[] }) {
  const [text, setText] = useState("");
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // On a phone the keyboard would cover the list.
    if (matchMedia("(pointer: fine)").matches) search.current?.focus();
  }, []);
  useKeys("anywhere", { search: () => search.current?.select() });
  const isNumber = NUMBER.test(text.trim());
  const found = isNumber ? [] : searched(trackers, text);
  const first = found[0];
  const byNumber = withQuery("/connect", { protocol: "any", uniqueId: isNumber ? text.trim() : null });
  return (
    <section class="card connect-choose" aria-label={t("connect.what")}>
      <SearchField
        field={search}
        label={t("connect.search")}
        placeholder={t("connect.search")}
        value={text}
        onText={setText}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          if (isNumber) go(byNumber);
          else if (first) go(addressOf(first));
        }}
      />
      <Link class="button" to={byNumber}>
        {isNumber ? t("connect.byNumber", { number: text.trim() }) : t("connect.onlyNumber")}
      </Link>
      {found.length > 0 && (
        <ul class="connect-trackers">
          {found.map((tracker) => (
            <li key={tracker.name}>
              <Link to={addressOf(tracker)}>
                <strong translate={false}>{tracker.title}</strong>
                <span>
                  {tracker.models && <bdi translate={false}>{tracker.models}</bdi>}
                  {tracker.note && <> · {t(tracker.note)}</>}
                </span>
                <Icon name="next" size={18} />
              </Link>
            </li>
          ))}
        </ul>
      )}
      {found.length === 0 && !isNumber && <p role="status">{t("connect.noMatch")}</p>}
    </section>
  );
}

function addressOf({ name }: Tracker): string {
  return withQuery("/connect", { protocol: name });
}
