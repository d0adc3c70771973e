import type { ComponentChildren } from "preact";
import type { Device } from "../../api/types";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Icon, type IconName } from "../../parts/Icon";
import { may } from "../../state/session";
import { type Finding, isChecksum } from "./finding";
import { titleOf } from "./titles";
import type { Tracker } from "./trackers";
import type { Sender } from "./unclaimedSenders";

interface FindingCardProps {
  finding: Finding;
  device: Device;
  trackers: readonly Tracker[];
  /** Gives the vehicle the number of a sender; null for those who may not. */
  onTake: ((sender: Sender) => void) | null;
}

/** One sentence of what is known of the tracker, and what to do about it. */
export function FindingCard({ finding, device, trackers, onTake }: FindingCardProps) {
  switch (finding.kind) {
    case "reports":
      return <Said icon="check" tone="good" title={t("connect.reports")} />;
    case "noFix":
      return <Said icon="pin" title={t("connect.noFix")} text={t("connect.noFixText")} />;
    case "noPosition":
      return <Said icon="pin" title={t("connect.noPosition")} text={t("connect.noPositionText")} />;
    case "shut":
      return (
        <Said icon="warning" tone="bad" title={t("connect.shut")} text={t("connect.shutText")}>
          {may("editDevices") && (
            <Link class="button" to={`/vehicles/${device.id}/settings`}>
              {t("vehicle.settings")}
            </Link>
          )}
        </Said>
      );
    case "knocks":
      return (
        <Said
          icon="reload"
          title={t("connect.knocks", { number: finding.sender.uniqueId })}
          text={t("connect.knocksText")}
        />
      );
    case "otherNumber": {
      const { sender } = finding;
      return (
        <Said
          icon="warning"
          tone="bad"
          title={t("connect.otherNumber", { number: sender.uniqueId })}
          text={t("connect.from", { host: sender.host, protocol: titleOf(trackers, sender.protocol) })}
        >
          {sender.deviceId === 0 && onTake && (
            <button type="button" class="primary" onClick={() => onTake(sender)}>
              {t("connect.take")}
            </button>
          )}
          {sender.deviceId > 0 && (
            <Link class="button" to={`/vehicles/${sender.deviceId}`}>
              {t("connect.open")}
            </Link>
          )}
        </Said>
      );
    }
    case "refused": {
      const { host, protocol } = finding.sender;
      return (
        <Said
          icon="warning"
          tone="bad"
          title={t("connect.refused")}
          text={t("connect.from", { host, protocol: titleOf(trackers, protocol) })}
        />
      );
    }
    case "otherPort": {
      const { protocol, guessedProtocol } = finding.sender;
      const wanted = trackers.find(({ name }) => name === guessedProtocol);
      return (
        <Said
          icon="warning"
          tone="bad"
          title={t("connect.otherPort", {
            spoken: titleOf(trackers, guessedProtocol ?? ""),
            protocol: titleOf(trackers, protocol),
          })}
          text={wanted ? t("connect.otherPortText", { port: wanted.port }) : t("connect.otherPortOff")}
        />
      );
    }
    case "broken": {
      const { problem } = finding.sender;
      return (
        <Said
          icon="warning"
          tone="bad"
          title={t(isChecksum(problem) ? "connect.checksum" : "connect.broken")}
          text={isChecksum(problem) ? t("connect.checksumText") : t("connect.brokenText", { problem })}
        />
      );
    }
    case "nothing":
      return <Said icon="reload" title={t("connect.nothing")} text={t("connect.nothingText")} />;
  }
}

interface SaidProps {
  icon: IconName;
  tone?: "good" | "bad";
  title: string;
  text?: string;
  children?: ComponentChildren;
}

function Said({ icon, tone, title, text, children }: SaidProps) {
  return (
    <div class={`connect-said ${tone ?? ""}`} role="status">
      <Icon name={icon} size={24} />
      <div>
        <strong>{title}</strong>
        {text && <p>{text}</p>}
        {children}
      </div>
    </div>
  );
}
