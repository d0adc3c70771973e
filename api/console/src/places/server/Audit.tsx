import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../../api/call";
import type { AuditAction } from "../../api/types";
import { dateTime, shortTime } from "../../format/times";
import { hasText, t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Field, Select } from "../../parts/Field";
import { FilterBar } from "../../parts/FilterBar";
import { Skeleton } from "../../parts/Late";
import { Picker } from "../../parts/Picker";
import { Problem } from "../../parts/Problem";
import { TimeField } from "../../parts/TimeField";
import { go, location } from "../../router";
import { deviceNow } from "../../state/fleet";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { AdminPlace } from "../admin/AdminPlace";
import { nameOf, useUsers } from "../people/users";
import {
  ACTIONS,
  type AuditFilters,
  addressOf,
  detailsOf,
  filtersOf,
  OBJECTS,
  PAGE,
  PLACE,
  pageOf,
  requestOf,
} from "./audit";
import "./upkeep.css";

/** Who did what, with the filters in the address. */
export default function Audit() {
  return (
    <AdminPlace to={PLACE}>
      <Log />
    </AdminPlace>
  );
}

type Names = ReadonlyMap<number, string>;

function Log() {
  const filters = filtersOf(location.value.query);
  const users = useUsers().value ?? [];
  const names: Names = new Map(users.map((user) => [user.id, nameOf(user)]));
  const log = usePages(filters);
  const set = (change: Partial<AuditFilters>) => go(addressOf({ ...filters, ...change }));
  const { userId, actionType, objectType, objectId, span } = filters;
  const count = [userId, actionType, objectType, objectId].filter((each) => each !== null).length;
  const known = (value: string | null, all: readonly string[]) =>
    value === null || all.includes(value) ? all : [...all, value];
  return (
    <>
      <search class="card" aria-label={t("common.filters")}>
        <FilterBar count={count} class="audit-filter">
          <TimeField
            label={t("upkeep.span")}
            value={span}
            now={now.value}
            style={style.value}
            onSpan={(chosen) => set({ span: chosen })}
          />
          <Picker
            label={t("upkeep.actor")}
            items={[
              ...users.map((user) => ({ id: user.id, name: nameOf(user), note: user.email })),
              ...(userId !== null && !names.has(userId)
                ? [{ id: userId, name: userName(userId, names) }]
                : []),
            ]}
            value={userId}
            noneLabel={t("upkeep.anybody")}
            onChange={(id) => set({ userId: id === null ? null : Number(id) })}
          />
          <Select
            label={t("upkeep.action")}
            value={actionType ?? ""}
            choices={[
              { value: "", label: t("upkeep.anyAction") },
              ...known(actionType, ACTIONS).map((each) => ({ value: each, label: actionText(each) })),
            ]}
            onChange={(value) => set({ actionType: value || null })}
          />
          <Select
            label={t("upkeep.objectKind")}
            value={objectType ?? ""}
            choices={[
              { value: "", label: t("upkeep.anyObject") },
              ...known(objectType, OBJECTS).map((each) => ({ value: each, label: kindText(each) })),
            ]}
            onChange={(value) => set({ objectType: value || null, objectId: null })}
          />
          {objectType && (
            <Field
              key={objectId ?? ""}
              label={t("upkeep.objectId")}
              inputMode="numeric"
              defaultValue={objectId === null ? "" : String(objectId)}
              onChange={(event) => {
                const text = event.currentTarget.value.trim();
                set({ objectId: /^\d+$/.test(text) ? Number(text) : null });
              }}
            />
          )}
        </FilterBar>
      </search>
      {log.problem !== null && <Problem problem={log.problem} onRetry={log.reload} />}
      {!log.items && log.problem === null && <Skeleton label={t("common.loading")} lines={8} />}
      {log.items?.length === 0 && (
        <Empty icon="history" title={t("upkeep.noAudit")} text={t("upkeep.noAuditText")}>
          {count > 0 && (
            <button type="button" onClick={() => go(PLACE)}>
              {t("upkeep.clearFilters")}
            </button>
          )}
        </Empty>
      )}
      {log.items && log.items.length > 0 && (
        <section class="card" aria-label={t("admin.audit")}>
          <ol class="audit-list">
            {log.items.map((action) => (
              <Line key={action.id} action={action} names={names} filters={filters} />
            ))}
          </ol>
          {log.more && (
            <div class="button-row">
              <button type="button" disabled={log.busy} onClick={log.readMore}>
                {t(log.busy ? "common.loading" : "upkeep.older")}
              </button>
            </div>
          )}
        </section>
      )}
    </>
  );
}

interface LineProps {
  action: AuditAction;
  names: Names;
  filters: AuditFilters;
}

function Line({ action, names, filters }: LineProps) {
  const at = Date.parse(action.actionTime);
  const details = detailsOf(action);
  const actor = Number(action.attributes.impersonatorId ?? 0);
  const page = pageOf(action);
  const object = objectText(action, names);
  return (
    <li>
      <p class="audit-line">
        <time dateTime={action.actionTime} title={dateTime(at, style.value)}>
          {shortTime(at, now.value, style.value)}
        </time>
        <Person id={actor || action.userId} email={actor ? null : action.userEmail} names={names} />
        {actor > 0 && <span>({t("upkeep.asOther", { name: userName(action.userId, names) })})</span>}
        <strong>{actionText(action.actionType)}</strong>
        {object && (page ? <Link to={page}>{object}</Link> : <span>{object}</span>)}
        {action.objectType && action.objectId > 0 && filters.objectId !== action.objectId && (
          <button
            type="button"
            class="link"
            onClick={() =>
              go(addressOf({ ...filters, objectType: action.objectType, objectId: action.objectId }))
            }
          >
            {t("upkeep.onlyThis")}
          </button>
        )}
        {action.address && <small>{action.address}</small>}
      </p>
      {details.length > 0 && (
        <details>
          <summary>{t("upkeep.details")}</summary>
          <dl translate={false}>
            {details.map(([name, value]) => (
              <>
                <dt key={name}>{name}</dt>
                <dd>{value}</dd>
              </>
            ))}
          </dl>
        </details>
      )}
    </li>
  );
}

function Person({ id, email, names }: { id: number; email: string | null; names: Names }) {
  if (id === 0) return <span>{t("upkeep.nobody")}</span>;
  const name = names.get(id) ?? email;
  // A user who is gone has no page.
  return name ? <Link to={`/admin/users/${id}`}>{name}</Link> : <span>{userName(id, names)}</span>;
}

function userName(id: number, names: Names): string {
  if (id === 0) return t("upkeep.nobody");
  return names.get(id) ?? t("upkeep.userOf", { id: String(id) });
}

function actionText(action: string): string {
  const key = `upkeep.did.${action}`;
  return hasText(key) ? t(key) : action;
}

function kindText(kind: string): string {
  const key = `upkeep.kind.${kind}`;
  return hasText(key) ? t(key) : kind;
}

function objectText({ objectType, objectId }: AuditAction, names: Names): string {
  if (objectType === null) return "";
  const name =
    objectType === "device" ? deviceNow(objectId)?.name : objectType === "user" && names.get(objectId);
  if (name) return `${kindText(objectType)} ${name}`;
  return objectId > 0 ? `${kindText(objectType)} ${objectId}` : kindText(objectType);
}

/** The log page by page, the newest first. */
function usePages(filters: AuditFilters) {
  const key = addressOf(filters);
  const [state, setState] = useState<{ key: string; items: readonly AuditAction[]; more: boolean } | null>(
    null,
  );
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [count, setCount] = useState(0);
  const abort = useRef(new AbortController());

  async function ask(known: readonly AuditAction[]) {
    const { signal } = abort.current;
    const query = requestOf(filters, Date.now(), style.value.zone);
    setBusy(true);
    setProblem(null);
    try {
      const last = known.at(-1)?.id;
      const found = query ? await get<AuditAction[]>("/audit", { ...query, beforeId: last }, signal) : [];
      if (signal.aborted) return;
      setState({ key, items: [...known, ...found], more: found.length === PAGE });
    } catch (reason) {
      if (!signal.aborted) setProblem(reason);
    }
    if (!signal.aborted) setBusy(false);
  }

  useEffect(() => {
    abort.current = new AbortController();
    void ask([]);
    return () => abort.current.abort();
  }, [key, count]);
  const shown = state?.key === key ? state : null;
  return {
    items: shown?.items,
    more: shown?.more ?? false,
    busy,
    problem,
    readMore: () => shown?.more && !busy && void ask(shown.items),
    reload: () => setCount((before) => before + 1),
  };
}
