import type { Device, Position } from "../../api/types";
import { dateTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { style } from "../../state/session";
import { camerasOf } from "../../video/channels";
import { Tile } from "../../video/Tile";
import { FleetMap } from "../fleet/FleetMap";

/** The tracker reports: where it is, and what its first camera sees. */
export function Arrived({ device, position }: { device: Device; position: Position | undefined }) {
  const camera = camerasOf(device, position)[0];
  const onSound = () => {};
  return (
    <section class="connect-arrived" aria-label={t("connect.reports")}>
      {position && (
        <p>{t("connect.positionOf", { time: dateTime(Date.parse(position.fixTime), style.value) })}</p>
      )}
      <div class="connect-map">
        <FleetMap chosen={device.id} found={[device.id]} />
      </div>
      {camera !== undefined && <Tile deviceId={device.id} camera={camera} sound={false} onSound={onSound} />}
    </section>
  );
}
