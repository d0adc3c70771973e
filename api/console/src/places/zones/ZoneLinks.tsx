import { useState } from "preact/hooks";
import type { Group, User } from "../../api/types";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { type Pick, Picker } from "../../parts/Picker";
import { read, useLoaded } from "../../state/responseCache";
import { may } from "../../state/session";
import { vehicleChoices } from "../../state/vehicleChoices";
import type { Editing, LinkKind } from "./editing";

interface ZoneLinksProps {
  editing: Editing;
  disabled: boolean;
}

/** Whose vehicles a zone counts for, and who sees it. */
export function ZoneLinks({ editing, disabled }: ZoneLinksProps) {
  const groups = useLoaded("groups", () => read<Group[]>("/groups", { excludeAttributes: true }));
  const manages = may("manageUsers");
  const users = useLoaded(`users ${manages}`, () =>
    manages ? read<User[]>("/users", { excludeAttributes: true }) : Promise.resolve([]),
  );
  const pick = (items: readonly (Group | User)[] | undefined) =>
    (items ?? []).map((item) => ({ id: item.id, name: item.name ?? ("email" in item ? item.email : "") }));
  return (
    <>
      <LinkList kind="groupId" items={pick(groups.value)} editing={editing} disabled={disabled} />
      <LinkList
        kind="deviceId"
        items={vehicleChoices(editing.links.value.deviceId)}
        editing={editing}
        disabled={disabled}
      />
      {manages && <LinkList kind="userId" items={pick(users.value)} editing={editing} disabled={disabled} />}
      <p class="field-hint">{t("zone.linksHint")}</p>
    </>
  );
}

/** So many links are shown at first. */
const MOST_SHOWN = 20;

interface LinkListProps extends ZoneLinksProps {
  kind: LinkKind;
  items: readonly Pick[];
}

function LinkList({ kind, items, editing, disabled }: LinkListProps) {
  const [all, setAll] = useState(false);
  const linked = editing.links.value[kind];
  const names = new Map(items.map((item) => [item.id, item.name]));
  const shown = all ? linked : linked.slice(0, MOST_SHOWN);
  const nameOf = (id: number) => names.get(id) ?? t("zone.unknownLink", { id });
  return (
    <div class="zone-links">
      <Picker
        label={t(`zone.${kind}`)}
        items={items.filter((item) => !linked.includes(Number(item.id)))}
        value={null}
        placeholder={t("zone.add")}
        disabled={disabled}
        onChange={(id) => {
          if (id !== null) editing.setLinks(kind, [...linked, Number(id)]);
        }}
      />
      {linked.length > 0 && (
        <ul>
          {shown.map((id) => (
            <li key={id} class="badge">
              {nameOf(id)}
              {!disabled && (
                <button
                  type="button"
                  class="icon-button small"
                  aria-label={t("zone.removeLink", { name: nameOf(id) })}
                  onClick={() =>
                    editing.setLinks(
                      kind,
                      linked.filter((each) => each !== id),
                    )
                  }
                >
                  <Icon name="close" size={14} />
                </button>
              )}
            </li>
          ))}
          {shown.length < linked.length && (
            <li>
              <button type="button" class="link" onClick={() => setAll(true)}>
                {t("zone.more", { count: linked.length - shown.length })}
              </button>
            </li>
          )}
        </ul>
      )}
    </div>
  );
}
