import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get } from "../../api/call";
import { duration } from "../../format/times";
import { number } from "../../format/units";
import { hasText, t } from "../../i18n/translate";
import { Check } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem, sentenceOf } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { toast } from "../../parts/Toast";
import { style } from "../../state/session";
import { usePolled } from "../../state/usePolled";
import { AdminPlace } from "../admin/AdminPlace";
import { type Actor, type ActorRow, actorRows, type Look, lookAt } from "./actors";
import { Identifier } from "./Identifier";
import "./actors.css";

const POLL_MS = 2000;
/** What grew stays marked so long. */
const MARKED_MS = 10_000;

/** The live tree of actors, and what the server has in memory. */
export default function Actors() {
  return (
    <AdminPlace to="/admin/actors">
      <Tree />
      <Memory />
    </AdminPlace>
  );
}

function Tree() {
  const { value, problem, reload } = usePolled(
    (signal) => get<Actor[]>("/server/actors", {}, signal),
    POLL_MS,
  );
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const [troubled, setTroubled] = useState(false);
  const looks = useLooks(value);
  const rows = useMemo(
    () => (value ? actorRows(value, { turned, troubled, ...looks.known }) : []),
    [value, turned, troubled],
  );
  const turn = (path: string) => {
    const next = new Set(turned);
    if (!next.delete(path)) next.add(path);
    setTurned(next);
  };
  return (
    <section class="card" aria-label={t("upkeep.actors")}>
      <p>{t("upkeep.actorsText")}</p>
      <Check label={t("upkeep.troubled")} checked={troubled} onChange={setTroubled} />
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={12} />}
      {value && rows.length === 0 && <p role="status">{t("upkeep.noTrouble")}</p>}
      {rows.length > 0 && (
        <table class="actors">
          <thead>
            <tr>
              <th scope="col">{t("upkeep.part")}</th>
              <th scope="col" class="numeric">
                {t("upkeep.waiting")}
              </th>
              <th scope="col" class="numeric actors-wide">
                {t("upkeep.handled")}
              </th>
              <th scope="col" class="numeric">
                {t("upkeep.restarts")}
              </th>
              <th scope="col" class="numeric">
                {t("upkeep.age")}
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row
                key={row.actor.path}
                row={row}
                grew={looks.grewLately(row)}
                onTurn={troubled ? null : () => turn(row.actor.path)}
              />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** The first look and the one before, and which rows have grown lately. */
function useLooks(value: readonly Actor[] | undefined) {
  const known = useRef<{ first: Look; before: Look }>({ first: new Map(), before: new Map() });
  const last = useRef<{ value: readonly Actor[] | undefined; look: Look }>({
    value: undefined,
    look: new Map(),
  });
  const grown = useRef(new Map<string, number>());
  if (value && value !== last.current.value) {
    const look = lookAt(value);
    const first = known.current.first.size > 0 ? known.current.first : look;
    known.current = { first, before: last.current.look };
    last.current = { value, look };
  }
  const grewLately = ({ actor: { path }, grew }: ActorRow) => {
    if (grew) grown.current.set(path, Date.now());
    return Date.now() - (grown.current.get(path) ?? 0) < MARKED_MS;
  };
  return { known: known.current, grewLately };
}

interface RowProps {
  row: ActorRow;
  grew: boolean;
  /** Opens or closes it. */
  onTurn: (() => void) | null;
}

function Row({ row, grew, onTurn }: RowProps) {
  const { actor, name, level, isOpen, left, restarted } = row;
  const look = style.value;
  const isKind = actor.kind !== "supervisor" && actor.children.length > 0;
  return (
    <tr class={actor.last_error ? "actors-failed" : ""}>
      <th scope="row" style={{ "--level": level }}>
        <span>
          {actor.children.length > 0 && onTurn ? (
            <button
              type="button"
              class="icon-button"
              aria-expanded={isOpen}
              aria-label={t("upkeep.unfold", { name })}
              onClick={onTurn}
            >
              <Icon name={isOpen ? "down" : "next"} size={16} />
            </button>
          ) : (
            <span class="actors-leaf" />
          )}
          <span class="actors-name">
            <bdi translate={false} title={actor.path}>
              <Identifier name={name} />
            </bdi>
            {actor.state !== "running" && <small>{stateText(actor.state)}</small>}
            {isKind && <small>{t("upkeep.alive", { count: actor.alive })}</small>}
            {isOpen && left > 0 && <small>{t("upkeep.moreParts", { count: left })}</small>}
            {actor.last_error && (
              <small class="actors-error" translate={false}>
                {actor.last_error}
              </small>
            )}
          </span>
        </span>
      </th>
      <td class="numeric">
        {grew && <Grown label={t("upkeep.grew")} />}
        <span title={mailboxText(actor)}>{number(actor.depth, 0, look)}</span>
      </td>
      <td class="numeric actors-wide">{number(actor.handled, 0, look)}</td>
      <td class="numeric">
        {restarted > 0 && <Grown label={t("upkeep.restarted", { count: restarted })} />}
        {number(actor.restarts, 0, look)}
      </td>
      <td class="numeric">{actor.age > 0 ? duration(actor.age * 1000, look) : ""}</td>
    </tr>
  );
}

function Grown({ label }: { label: string }) {
  return (
    <span class="actors-grown" role="img" aria-label={label} title={label}>
      ▲
    </span>
  );
}

function stateText(state: string): string {
  const key = `upkeep.state.${state}`;
  return hasText(key) ? t(key) : state;
}

function mailboxText({ depth, size }: Actor): string {
  return size > 0 ? t("upkeep.ofMailbox", { depth: String(depth), size: String(size) }) : "";
}

/** What the server tells of its memory, and the button that has Python look for what is left over. */
function Memory() {
  const [text, setText] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [asked, setAsked] = useState(false);
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const read = () => {
    setProblem(null);
    get<string>("/server/cache", {}, abort.current.signal).then(setText, (reason: unknown) => {
      if (!abort.current.signal.aborted) setProblem(reason);
    });
  };
  return (
    <section class="card" aria-labelledby="upkeep-memory">
      <h2 id="upkeep-memory">{t("upkeep.memory")}</h2>
      <p class="card-text">{t("upkeep.memoryText")}</p>
      <div class="button-row">
        <button type="button" onClick={read}>
          {t(text === null ? "upkeep.showMemory" : "upkeep.again")}
        </button>
        <button type="button" onClick={() => setAsked(true)}>
          {t("upkeep.collect")}
        </button>
      </div>
      {problem !== null && <p class="refusal">{sentenceOf(problem)}</p>}
      {text !== null && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys
        <section class="upkeep-text" lang="en" tabIndex={0} aria-label={t("upkeep.memory")}>
          <pre>{text}</pre>
        </section>
      )}
      {asked && (
        <Question
          title={t("upkeep.collectTitle")}
          text={t("upkeep.collectText")}
          act={t("upkeep.collect")}
          run={async () => toast(t("upkeep.collected", { text: await get<string>("/server/gc") }))}
          onClose={() => setAsked(false)}
        />
      )}
    </section>
  );
}
