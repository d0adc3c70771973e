import { useMemo, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Select } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { picked } from "../../parts/Picker";
import { Problem } from "../../parts/Problem";
import { Rows } from "../../parts/Rows";
import { SearchField } from "../../parts/SearchField";
import { toast } from "../../parts/Toast";
import { hasTouch } from "../../parts/touch";
import { go, location, withQuery } from "../../router";
import { may, style } from "../../state/session";
import { AdminPlace } from "../admin/AdminPlace";
import {
  type Change,
  type Failure,
  type Kind,
  kindLabel,
  kindsOf,
  OWNERS,
  type OwnerKind,
  saveLinks,
} from "./links";
import "./people.css";
import { type Item, useGroupNames, useItems, useLinked, useOwners } from "./useLinks";

/** So many of those that were refused are named. */
const MOST_NAMED = 5;
const ROW_HEIGHT = hasTouch ? 56 : 48;

/** What users, groups and devices are linked to: owners beside what they have. */
export default function Links() {
  const { query } = location.value;
  const owner = OWNERS.find((each) => each === query.get("owner")) ?? "user";
  const ownerId = Number(query.get("id")) || 0;
  const kinds = kindsOf(owner);
  const kind = kinds.find((each) => each === query.get("kind")) ?? kinds[0] ?? "geofenceId";
  const [changes, setChanges] = useState<readonly Change[]>([]);
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  const [busy, setBusy] = useState(false);
  const [saved, setSaved] = useState(0);
  const to = (change: Record<string, string>) =>
    withQuery("/admin/links", { owner, id: String(ownerId || ""), kind, ...change });

  const toggle = ({ id, name }: Item, isLinked: boolean, wasLinked: boolean) => {
    const change = { owner, ownerId, kind, id, name, isLinked };
    setFailures(failures.filter((each) => !isSame(each.change, change)));
    const others = changes.filter((each) => !isSame(each, change));
    setChanges(isLinked === wasLinked ? others : [...others, change]);
  };
  const save = async () => {
    setBusy(true);
    const refused = await saveLinks(changes);
    setBusy(false);
    setFailures(refused);
    // What was refused stays, so that it can be tried again.
    setChanges(refused.map(({ change }) => change));
    setSaved(saved + 1);
    const done = changes.length - refused.length;
    if (done > 0) toast(t("people.linksSaved", { count: done }));
  };
  return (
    <AdminPlace to="/admin/links">
      <div class={`people links${ownerId ? " chosen" : ""}`}>
        <p class="card-text">{t("people.linksText")}</p>
        <div class="links-lists">
          <Owners
            owner={owner}
            ownerId={ownerId}
            onKind={(chosen) => go(withQuery("/admin/links", { owner: chosen }))}
            hrefOf={(id) => to({ id: String(id) })}
            countOf={(id) => changes.filter((each) => each.owner === owner && each.ownerId === id).length}
          />
          {ownerId === 0 ? (
            <Empty icon="link" title={t("people.chooseOwner")} text={t("people.chooseOwnerText")} />
          ) : (
            <Things
              key={`${owner} ${ownerId} ${kind} ${saved}`}
              owner={owner}
              ownerId={ownerId}
              kind={kind}
              changes={changes}
              failures={failures}
              disabled={busy}
              onKind={(chosen) => go(to({ kind: chosen }), { replace: true })}
              onToggle={toggle}
            />
          )}
        </div>
        {changes.length > 0 && (
          <div class="links-bar" role="status">
            <span>{t("people.changes", { count: changes.length })}</span>
            {failures.length > 0 && (
              <span class="refusal">
                {t("people.refused", {
                  count: failures.length,
                  names: new Intl.ListFormat(style.value.language).format(
                    failures.slice(0, MOST_NAMED).map(({ change }) => change.name),
                  ),
                })}
              </span>
            )}
            <button type="button" class="primary" disabled={busy} onClick={() => void save()}>
              {t("common.save")}
            </button>
            <button
              type="button"
              disabled={busy}
              onClick={() => {
                setChanges([]);
                setFailures([]);
              }}
            >
              {t("people.discard")}
            </button>
          </div>
        )}
      </div>
    </AdminPlace>
  );
}

function isSame(one: Change, other: Change): boolean {
  return (
    one.owner === other.owner &&
    one.ownerId === other.ownerId &&
    one.kind === other.kind &&
    one.id === other.id
  );
}

function useFound(items: readonly Item[] | undefined, text: string): readonly Item[] {
  return useMemo(() => picked(items ?? [], text), [items, text]);
}

interface OwnersProps {
  owner: OwnerKind;
  ownerId: number;
  onKind: (owner: OwnerKind) => void;
  hrefOf: (id: number) => string;
  /** How many changes of an owner wait. */
  countOf: (id: number) => number;
}

function Owners({ owner, ownerId, onKind, hrefOf, countOf }: OwnersProps) {
  const { value, problem, reload } = useOwners(owner);
  const [text, setText] = useState("");
  const found = useFound(value, text);
  const label = t(`people.owner.${owner}`);
  return (
    <section class="links-owners" aria-label={t("people.owners")}>
      <Select
        label={t("people.owners")}
        value={owner}
        choices={OWNERS.map((each) => ({ value: each, label: t(`people.owner.${each}`) }))}
        onChange={(chosen) => onKind(chosen as OwnerKind)}
      />
      <SearchField label={t("people.searchIn", { list: label })} value={text} onText={setText} />
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={6} />}
      {value && found.length === 0 && <Empty title={t("common.noMatch")} />}
      {found.length > 0 && (
        <Rows
          label={label}
          count={found.length}
          rowHeight={ROW_HEIGHT}
          current={text ? -1 : found.findIndex(({ id }) => id === ownerId)}
          keyOf={(index) => found[index]?.id ?? index}
          render={(index) => {
            const item = found[index] as Item;
            const waiting = countOf(item.id);
            return (
              <Link
                class="links-row"
                to={hrefOf(item.id)}
                {...(item.id === ownerId && { "aria-current": "true" as const })}
              >
                <span>{item.name}</span>
                <small>{waiting > 0 ? t("people.changes", { count: waiting }) : item.note}</small>
              </Link>
            );
          }}
        />
      )}
    </section>
  );
}

interface ThingsProps {
  owner: OwnerKind;
  ownerId: number;
  kind: Kind;
  changes: readonly Change[];
  failures: readonly Failure[];
  disabled: boolean;
  onKind: (kind: string) => void;
  onToggle: (item: Item, isLinked: boolean, wasLinked: boolean) => void;
}

function Things({ owner, ownerId, kind, changes, failures, disabled, onKind, onToggle }: ThingsProps) {
  const items = useItems(kind);
  const linked = useLinked(owner, ownerId, kind);
  const groupNames = useGroupNames();
  const owners = useOwners(owner).value;
  const [text, setText] = useState("");
  const [onlyLinked, setOnlyLinked] = useState("");
  const searched = useFound(items.value, text);
  const isMine = (each: Change) => each.owner === owner && each.ownerId === ownerId && each.kind === kind;
  const waiting = new Map(changes.filter(isMine).map(({ id, isLinked }) => [id, isLinked]));
  const refused = new Map(
    failures.filter(({ change }) => isMine(change)).map(({ change, text: said }) => [change.id, said]),
  );
  const direct = linked.value?.direct ?? new Set<number>();
  const inherited = linked.value?.inherited ?? new Map<number, readonly number[]>();
  const isLinked = (id: number) => waiting.get(id) ?? direct.has(id);
  // Nobody manages themselves.
  const others = searched.filter(({ id }) =>
    kind === "managedUserId" || kind === "linkedDeviceId" ? id !== ownerId : true,
  );
  const found = others.filter(({ id }) => {
    if (!onlyLinked) return true;
    const has = direct.has(id) || inherited.has(id) || waiting.has(id);
    return (onlyLinked === "linked") === has;
  });
  const problem = items.problem ?? linked.problem;
  const mayChange = may("edit") && !disabled;
  const name = owners?.find(({ id }) => id === ownerId)?.name ?? "…";
  return (
    <section class="links-things" aria-label={t("people.linkedTo", { name })}>
      <h2>
        <Link class="links-back" to={`/admin/links?owner=${owner}`} aria-label={t("people.owners")}>
          <Icon name="back" size={16} />
        </Link>
        {t("people.linkedTo", { name })}
      </h2>
      <div class="links-filter">
        <Select
          label={t("people.kinds")}
          value={kind}
          choices={kindsOf(owner).map((each) => ({ value: each, label: t(kindLabel(each)) }))}
          onChange={onKind}
        />
        <Select
          label={t("people.show")}
          value={onlyLinked}
          choices={[
            { value: "", label: t("people.all") },
            { value: "linked", label: t("people.onlyLinked") },
            { value: "others", label: t("people.notLinked") },
          ]}
          onChange={setOnlyLinked}
        />
      </div>
      <SearchField label={t("people.searchIn", { list: t(kindLabel(kind)) })} value={text} onText={setText} />
      {problem !== null && (
        <Problem
          problem={problem}
          onRetry={() => {
            items.reload();
            linked.reload();
          }}
        />
      )}
      {(!items.value || !linked.value) && problem === null && (
        <Skeleton label={t("common.loading")} lines={6} />
      )}
      {items.value?.length === 0 && <Empty title={t("people.nothingToLink")} />}
      {items.value && items.value.length > 0 && found.length === 0 && <Empty title={t("common.noMatch")} />}
      {linked.value && found.length > 0 && (
        <Rows
          label={t(kindLabel(kind))}
          count={found.length}
          rowHeight={ROW_HEIGHT}
          keyOf={(index) => found[index]?.id ?? index}
          render={(index) => {
            const item = found[index] as Item;
            const through = inherited.get(item.id);
            const said = refused.get(item.id);
            return (
              <label class={`links-row field${waiting.has(item.id) ? " waiting" : ""}`}>
                <input
                  type="checkbox"
                  checked={isLinked(item.id)}
                  disabled={!mayChange}
                  onChange={(event) => onToggle(item, event.currentTarget.checked, direct.has(item.id))}
                />
                <span>{item.name}</span>
                <small class={said ? "refusal" : ""}>
                  {said ?? (through ? t("people.byGroup", { groups: groupNames(through) }) : item.note)}
                </small>
              </label>
            );
          }}
        />
      )}
    </section>
  );
}
