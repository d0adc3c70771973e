import type { ComponentType } from "preact";
import { useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import type NewTicket from "../../tickets/NewTicket";
import { useCompanies } from "../../tickets/useCompanies";

type NewTicketProps = Parameters<typeof NewTicket>[0];

/** A button, and a key, that make a ticket about the vehicle; nothing for those who can make none. */
export function MakeTicket({ deviceId }: { deviceId: number }) {
  const companies = useCompanies()?.filter(({ disabled }) => !disabled) ?? [];
  const [Shown, setShown] = useState<ComponentType<NewTicketProps> | null>(null);
  async function open() {
    try {
      const loaded = await import("../../tickets/NewTicket");
      setShown(() => loaded.default);
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
  }
  useKeys("vehicle", {
    ticket: () => {
      if (companies.length > 0) void open();
      return companies.length > 0;
    },
  });
  if (companies.length === 0) return null;
  return (
    <>
      <button type="button" onClick={() => void open()}>
        <Icon name="plus" size={18} />
        {t("event.ticket")}
      </button>
      {Shown && <Shown deviceId={deviceId} companies={companies} onClose={() => setShown(null)} />}
    </>
  );
}
