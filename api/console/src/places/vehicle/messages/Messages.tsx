import { useEffect, useState } from "preact/hooks";
import { post } from "../../../api/call";
import { listen, onOpen, send } from "../../../api/socket";
import type { MessagePart } from "../../../api/types";
import { clockSeconds, dateTime } from "../../../format/times";
import { t } from "../../../i18n/translate";
import { Empty } from "../../../parts/Empty";
import { Icon } from "../../../parts/Icon";
import { Skeleton } from "../../../parts/Late";
import { Problem } from "../../../parts/Problem";
import { device, loadDevice } from "../../../state/fleet";
import { useLoaded } from "../../../state/responseCache";
import { may, style } from "../../../state/session";
import { VehicleHeader } from "../VehicleHeader";
import { addMessages, type DeviceMessage, lengthOf, meaningOf, spacedHex, textOf } from "./meaning";
import "./messages.css";

/** What a device sends and gets while somebody watches, and what each part of it says; for administrators. */
export default function Messages({ params }: { params: Record<string, string> }) {
  const id = Number(params.id);
  const read = useLoaded(`messages ${id}`, (signal) => loadDevice(id, signal));
  const name = device(id).value?.name ?? "";
  const allowed = may("administer");
  const messages = useMessages(id, allowed);
  useEffect(() => {
    document.title = `${t("messages.title", { name })} · Motorpool`;
  }, [name]);
  return (
    <div class="vehicle-place">
      <VehicleHeader id={id} chosen="messages" />
      {read.problem !== null && <Problem problem={read.problem} onRetry={read.reload} />}
      {read.problem === null && messages.length === 0 && (
        <Empty
          icon="list"
          title={t(allowed ? "messages.waiting" : "messages.mayNot")}
          text={t(allowed ? "messages.waitingText" : "messages.mayNotText")}
        />
      )}
      {messages.length > 0 && (
        <ol class="messages" aria-label={t("messages.title", { name })}>
          {messages.map((each) => (
            <Row key={each.id} deviceId={id} message={each} />
          ))}
        </ol>
      )}
    </div>
  );
}

/** The messages since the component was mounted. */
function useMessages(id: number, allowed: boolean): readonly DeviceMessage[] {
  const [messages, setMessages] = useState<readonly DeviceMessage[]>([]);
  useEffect(() => {
    setMessages([]);
    if (!allowed) return undefined;
    const ask = () => send({ logs: true, deviceId: id });
    ask();
    const endOpening = onOpen(ask);
    const endListening = listen(({ logs }) => {
      if (logs) setMessages((known) => addMessages(known, logs, id, Date.now()));
    });
    return () => {
      endOpening();
      endListening();
      send({ logs: false });
    };
  }, [id, allowed]);
  return messages;
}

function Row({ deviceId, message }: { deviceId: number; message: DeviceMessage }) {
  const [open, setOpen] = useState(false);
  const { time, sent, protocol, data, problem } = message;
  const shown = textOf(data) ?? spacedHex(data);
  return (
    <li class={sent ? "message-sent" : undefined}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "up" : "down"} size={18} />
        <time dateTime={new Date(time).toISOString()} title={dateTime(time, style.value)}>
          {clockSeconds(time, style.value)}
        </time>
        <span>{t(sent ? "messages.sent" : "messages.received")}</span>
        <span class="faint">
          {t("messages.bytes", { count: lengthOf(data) })}
          {protocol && ` · ${protocol}`}
        </span>
        <code>{shown}</code>
      </button>
      {problem && <p class="message-problem">{problem}</p>}
      {open && sent && <p class="faint">{t("messages.notExplained")}</p>}
      {open && !sent && <Parts deviceId={deviceId} message={message} />}
    </li>
  );
}

/** The parts of a message, hexadecimal or text beside meaning; the server explains it when it is opened. */
function Parts({ deviceId, message }: { deviceId: number; message: DeviceMessage }) {
  const { protocol, data } = message;
  const read = useLoaded(`message ${message.id}`, () =>
    post<MessagePart[]>(`/devices/${deviceId}/messages/explain`, { protocol, data }),
  );
  if (read.problem !== null) return <Problem problem={read.problem} onRetry={read.reload} />;
  if (!read.value) return <Skeleton label={t("common.loading")} lines={4} />;
  const asText = textOf(data) !== null;
  return (
    <table class="message-parts">
      <thead>
        <tr>
          <th scope="col">{t("messages.offset")}</th>
          <th scope="col">{t("messages.length")}</th>
          <th scope="col">{t("messages.content")}</th>
          <th scope="col">{t("messages.meaning")}</th>
        </tr>
      </thead>
      <tbody>
        {read.value.map((part) => (
          <tr key={part.offset}>
            <td>{part.offset}</td>
            <td>{part.length}</td>
            <td>
              <code>{(asText && textOf(part.bytes)) || spacedHex(part.bytes)}</code>
            </td>
            <td>
              <Said part={part} protocol={protocol} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Said({ part, protocol }: { part: MessagePart; protocol: string }) {
  const said = Object.entries(part.values);
  if (part.kind !== "value" || said.length === 0)
    return <span class="faint">{t(`messages.kind.${part.kind}`)}</span>;
  return (
    <ul>
      {said.map(([key, value]) => {
        const { name, value: text } = meaningOf(key, value, protocol, style.value);
        return (
          <li key={key}>
            {name}{" "}
            {text === null ? <span class="faint">{t("messages.notSaid")}</span> : <strong>{text}</strong>}
          </li>
        );
      })}
    </ul>
  );
}
