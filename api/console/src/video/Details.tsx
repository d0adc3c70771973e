import { t } from "../i18n/translate";
import { copy } from "../parts/copy";
import { now } from "../time/clock";
import type { LivePlayer } from "./player";

/** What is known of a picture that plays, for those who wonder about it. */
export function Details({ player }: { player: LivePlayer }) {
  // Once a second.
  void now.value;
  const found = player.details();
  const rows = [
    [t("live.latency"), `${found.latency.toFixed(1)} s`],
    [t("live.size"), `${found.width} × ${found.height}`],
    [t("live.frames"), String(found.framesPerSecond)],
    [t("live.bits"), String(found.kilobits)],
    [t("live.dropped"), String(found.dropped)],
    [t("live.buffer"), `${found.buffer.toFixed(1)} s`],
  ] as const;
  const report = [...rows.map(([name, value]) => `${name}: ${value}`), ...found.events].join("\n");
  return (
    <div class="tile-details">
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <ol>
        {found.events.slice(-5).map((event) => (
          <li key={event}>{event}</li>
        ))}
      </ol>
      <button type="button" onClick={() => copy(report)}>
        {t("common.copy")}
      </button>
    </div>
  );
}
