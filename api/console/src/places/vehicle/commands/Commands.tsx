import { useEffect, useState } from "preact/hooks";
import { get } from "../../../api/call";
import type { Command, CommandBody, CommandType } from "../../../api/types";
import { kindOf, offered } from "../../../commands/fields";
import { savedName, typeName } from "../../../commands/names";
import { sendCommand, sentCommands } from "../../../commands/sentCommands";
import { t } from "../../../i18n/translate";
import { Skeleton } from "../../../parts/Late";
import { Problem } from "../../../parts/Problem";
import { device, loadDevice } from "../../../state/fleet";
import { useLoaded } from "../../../state/responseCache";
import { may } from "../../../state/session";
import { VehicleHeader } from "../VehicleHeader";
import { Chooser, type Offer } from "./Chooser";
import { CommandForm } from "./CommandForm";
import { History } from "./History";
import { Log } from "./Log";
import { Question } from "./Question";
import { Queue } from "./Queue";
import "./commands.css";

/** A command that was chosen and filled in, before it is sent. */
interface Draft {
  name: string;
  dangerous: boolean;
  body: CommandBody;
}

/** Commands to a vehicle: what it takes, what was sent and answered, and what is kept until it comes. */
export default function Commands({ params }: { params: Record<string, string> }) {
  const id = Number(params.id);
  const read = useLoaded(`commands ${id}`, (signal) => readOffers(id, signal));
  const name = device(id).value?.name ?? "";
  const some = sentCommands.value.some((each) => each.deviceId === id);
  useEffect(() => {
    document.title = `${t("command.title", { name })} · Motorpool`;
  }, [name]);
  return (
    <div class="vehicle-place">
      <VehicleHeader id={id} chosen="commands" />
      {read.problem !== null && <Problem problem={read.problem} onRetry={read.reload} />}
      {read.problem === null && !read.value && <Skeleton label={t("common.loading")} lines={6} />}
      {read.value && (
        <div class="commands">
          <Sending key={id} id={id} name={name} offers={read.value} />
          <div class={`commands-side${some ? " some" : ""}`}>
            <Log id={id} />
            <Queue id={id} />
            {may("reports") && <History id={id} />}
          </div>
        </div>
      )}
    </div>
  );
}

interface SendingProps {
  id: number;
  name: string;
  offers: readonly Offer[];
  /** The ticket that it is done for. */
  ticketId?: number;
  /** Called when a command is on its way. */
  onSent?: () => void;
}

/** Choose, fill in, and, where it is dangerous, be asked. */
export function Sending({ id, name, offers, ticketId, onSent }: SendingProps) {
  const [chosen, setChosen] = useState<Offer | null>(null);
  const [draft, setDraft] = useState<Draft | null>(null);
  const [keep, setKeep] = useState(true);

  function send({ name: what, body }: Draft) {
    setChosen(null);
    setDraft(null);
    void sendCommand(id, what, ticketId ? { ...body, ticketId } : body).then(onSent);
  }
  function submit(made: Draft) {
    if (made.dangerous) setDraft(made);
    else send(made);
  }
  function choose(offer: Offer) {
    const { type, savedId } = offer;
    const { fields, dangerous } = kindOf(type);
    const made = { name: offer.name, dangerous: dangerous ?? false };
    if (savedId) submit({ ...made, body: { id: savedId } });
    else if (fields.length === 0) submit({ ...made, body: { type, attributes: queueing(keep) } });
    else setChosen(offer);
  }

  return (
    <>
      {chosen ? (
        <CommandForm
          id={id}
          offer={chosen}
          onBack={() => setChosen(null)}
          onSend={(attributes, textChannel) =>
            submit({
              name: chosen.name,
              dangerous: kindOf(chosen.type).dangerous ?? false,
              body: { type: chosen.type, textChannel, attributes: { ...attributes, ...queueing(keep) } },
            })
          }
        />
      ) : (
        <Chooser id={id} offers={offers} keep={keep} onKeep={setKeep} onChoose={choose} />
      )}
      {draft && (
        <Question
          id={id}
          name={name}
          command={draft.name}
          onCancel={() => setDraft(null)}
          onSend={() => send(draft)}
        />
      )}
    </>
  );
}

function queueing(keep: boolean): { noQueue?: true } {
  return keep ? {} : { noQueue: true };
}

/** Saved commands first, then the types that the vehicle takes, if the user may send any. */
export async function readOffers(id: number, signal: AbortSignal): Promise<readonly Offer[]> {
  const [saved, types] = await Promise.all([
    get<Command[]>("/commands/send", { deviceId: id }, signal),
    may("anyCommand") ? get<CommandType[]>("/commands/types", { deviceId: id }, signal) : [],
    loadDevice(id, signal),
  ]);
  return [
    ...saved.map((each) => ({
      key: `saved ${each.id}`,
      savedId: each.id,
      type: each.type,
      name: savedName(each),
    })),
    ...offered(types.map((each) => each.type)).map((type) => ({
      key: type,
      savedId: 0,
      type,
      name: typeName(type),
    })),
  ];
}
