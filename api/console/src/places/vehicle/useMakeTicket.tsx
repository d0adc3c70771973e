import type { ComponentChildren, ComponentType } from "preact";
import { useState } from "preact/hooks";
import { useKeys } from "../../keys/listen";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import type NewTicket from "../../tickets/NewTicket";
import { useCompanies } from "../../tickets/useCompanies";

type NewTicketProps = Parameters<typeof NewTicket>[0];

interface MakeTicket {
  /** Asks what the ticket is about; null for those who can make none. */
  open: (() => void) | null;
  dialog: ComponentChildren;
}

/** A way to make a ticket about a vehicle, and its key. */
export function useMakeTicket(deviceId: number): MakeTicket {
  const companies = useCompanies()?.filter(({ disabled }) => !disabled) ?? [];
  const [Shown, setShown] = useState<ComponentType<NewTicketProps> | null>(null);
  async function load() {
    try {
      const loaded = await import("../../tickets/NewTicket");
      setShown(() => loaded.default);
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
  }
  const open = companies.length > 0 ? () => void load() : null;
  useKeys("vehicle", {
    ticket: () => {
      open?.();
      return open !== null;
    },
  });
  const dialog = Shown && <Shown deviceId={deviceId} companies={companies} onClose={() => setShown(null)} />;
  return { open, dialog };
}
