import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Tabs } from "../../parts/Tabs";
import { go } from "../../router";
import { may } from "../../state/session";

interface CommandTabsProps {
  chosen: "sent" | "schedules" | "calendars";
  title: string;
  children?: ComponentChildren;
}

/** The head of a page about commands: its title, and the ways to the others. */
export function CommandTabs({ chosen, title, children }: CommandTabsProps) {
  useEffect(() => {
    document.title = `${title} · Motorpool`;
  }, [title]);
  const tabs = [
    ...(may("reports") ? [{ key: "sent", label: t("sent.tab"), href: "/commands" }] : []),
    { key: "schedules", label: t("sent.schedules"), href: "/schedules" },
    { key: "calendars", label: t("sent.calendars"), href: "/calendars" },
  ];
  return (
    <>
      <header class="page-head">
        <h1>{title}</h1>
        {children}
      </header>
      <Tabs label={t("sent.rail")} tabs={tabs} chosen={chosen} onChoose={go} />
    </>
  );
}
