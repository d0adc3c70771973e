import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { get, post } from "../../api/call";
import type { Node, Room, ServerStatus } from "../../api/types";
import { duration, shortTime } from "../../format/times";
import { bytes, number } from "../../format/units";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { toast } from "../../parts/Toast";
import { style } from "../../state/session";
import { usePolled } from "../../state/usePolled";
import { now } from "../../time/clock";
import { AdminPlace } from "../admin/AdminPlace";
import { conditionText } from "../frame/ConditionBar";
import "./upkeep.css";

const POLL_MS = 10_000;

/** Whether the server works, and the one act for when it does not. */
export default function Status() {
  return (
    <AdminPlace to="/admin/status">
      <State />
    </AdminPlace>
  );
}

function State() {
  const { value, problem, reload } = usePolled(
    (signal) => get<ServerStatus>("/server/status", {}, signal),
    POLL_MS,
  );
  return (
    <>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={8} />}
      {value && <Health status={value} />}
      {value && <Machine status={value} />}
      {value && <Database status={value} />}
      {value && value.nodes.length > 0 && <Nodes nodes={value.nodes} own={value.node} />}
    </>
  );
}

function Health({ status }: { status: ServerStatus }) {
  const [asked, setAsked] = useState(false);
  const look = style.value;
  return (
    <section class="card" aria-label={t("admin.status")}>
      <p class={status.healthy ? "upkeep-health" : "upkeep-health bad"} role="status">
        <Icon name={status.healthy ? "check" : "warning"} />
        {t(status.healthy ? "upkeep.healthy" : "upkeep.unhealthy")}
      </p>
      {status.conditions.length === 0 && status.database && <p>{t("upkeep.noCondition")}</p>}
      {status.conditions.length > 0 && (
        <ul class="upkeep-list">
          {status.conditions.map((each) => (
            <li key={each.name}>
              {conditionText(each)}{" "}
              {t("frame.since", { time: shortTime(Date.parse(each.since), now.value, look) })}
              <small lang="en">{each.cause}</small>
            </li>
          ))}
        </ul>
      )}
      <div class="button-row">
        <button type="button" class="dangerous" onClick={() => setAsked(true)}>
          {t("upkeep.reboot")}
        </button>
      </div>
      {asked && (
        <Question
          title={t("upkeep.rebootTitle")}
          text={t("upkeep.rebootText")}
          act={t("upkeep.reboot")}
          run={async () => {
            await post("/server/reboot");
            toast(t("upkeep.rebooting"));
          }}
          onClose={() => setAsked(false)}
        />
      )}
    </section>
  );
}

function Machine({ status }: { status: ServerStatus }) {
  const look = style.value;
  return (
    <section class="card" aria-label={t("upkeep.release")}>
      <dl class="upkeep-facts">
        <Fact label={t("upkeep.release")}>{status.release}</Fact>
        <Fact label={t("upkeep.upFor")}>{duration(now.value - Date.parse(status.started), look)}</Fact>
        <RoomFact label={t("upkeep.disk")} room={status.disk} />
        <RoomFact label={t("upkeep.memoryOf")} room={status.memory} />
        <Fact label={t("upkeep.process")}>{bytes(status.resident, look)}</Fact>
        <Fact label={t("upkeep.stall")}>{seconds(status.longestStall)}</Fact>
      </dl>
    </section>
  );
}

function RoomFact({ label, room }: { label: string; room: Room | null }) {
  const look = style.value;
  if (!room) return <Fact label={label}>{t("upkeep.noLimit")}</Fact>;
  const text = t("upkeep.usedOf", { used: bytes(room.used, look), total: bytes(room.total, look) });
  return (
    <Fact label={label}>
      {text}
      <meter min={0} max={room.total} high={room.total * 0.9} value={room.used} aria-label={text} />
    </Fact>
  );
}

function Database({ status: { database } }: { status: ServerStatus }) {
  const look = style.value;
  return (
    <section class="card" aria-labelledby="upkeep-database">
      <h2 id="upkeep-database">{t("upkeep.database")}</h2>
      {!database && <p class="refusal">{t("upkeep.databaseAway")}</p>}
      {database && (
        <dl class="upkeep-facts">
          <Fact label={t("upkeep.release")}>
            {t(database.embedded ? "upkeep.embedded" : "upkeep.external", { version: database.version })}
          </Fact>
          <Fact label={t("upkeep.size")}>{bytes(database.bytes, look)}</Fact>
          <Fact label={t("upkeep.tables")}>
            {database.pending > 0
              ? t("upkeep.pending", { schema: String(database.schema), count: database.pending })
              : t("upkeep.migrated", { schema: String(database.schema) })}
          </Fact>
          <Fact label={t("upkeep.latency")}>{seconds(database.latency)}</Fact>
        </dl>
      )}
    </section>
  );
}

function Nodes({ nodes, own }: { nodes: readonly Node[]; own: number | null }) {
  const [up, gone] = [nodes.filter(({ isUp }) => isUp), nodes.filter(({ isUp }) => !isUp)];
  return (
    <section class="card" aria-labelledby="upkeep-nodes">
      <h2 id="upkeep-nodes">{t("upkeep.nodes")}</h2>
      <NodeList nodes={up} own={own} />
      {gone.length > 0 && (
        <details class="upkeep-gone">
          <summary>{t("upkeep.nodesDown", { count: gone.length })}</summary>
          <NodeList nodes={gone} own={own} />
        </details>
      )}
    </section>
  );
}

function NodeList({ nodes, own }: { nodes: readonly Node[]; own: number | null }) {
  const look = style.value;
  const timeOf = (text: string) => shortTime(Date.parse(text), now.value, look);
  return (
    <ul class="upkeep-list">
      {nodes.map((node) => (
        <li key={node.number}>
          <strong translate={false}>{node.host}</strong> {node.release}
          {node.number === own && ` · ${t("upkeep.thisNode")}`}
          <small>
            {node.isUp
              ? t("upkeep.nodeUp", { time: timeOf(node.started) })
              : t("upkeep.nodeDown", { time: timeOf(node.lastSeen) })}
            {node.address && ` · ${node.address}`}
            {node.roles.length < 3 && ` · ${node.roles.join(", ")}`}
          </small>
          {node.duties.length > 0 && (
            <small>
              {t("upkeep.duties", { duties: new Intl.ListFormat(look.language).format(node.duties) })}
            </small>
          )}
        </li>
      ))}
    </ul>
  );
}

function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Short times, which a database answers in. */
function seconds(value: number): string {
  const look = style.value;
  return value < 1 ? `${number(value * 1000, value < 0.01 ? 1 : 0, look)} ms` : `${number(value, 1, look)} s`;
}
