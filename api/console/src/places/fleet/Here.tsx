import type { ComponentType } from "preact";
import { useMemo, useState } from "preact/hooks";
import { get } from "../../api/call";
import type { NearTown } from "../../api/types";
import { coordinates } from "../../format/coordinates";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { distanceBetween } from "../../map/areaGeometry";
import type { Spot } from "../../map/vehicleMap";
import { drawable, zonesAt } from "../../map/zoneShapes";
import { Dialog } from "../../parts/Dialog";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { snapshot } from "../../state/fleet";
import { type Loaded, useLoaded } from "../../state/responseCache";
import { may, server, session, style } from "../../state/session";
import { useZones } from "../../state/zones";
import { hasPlace } from "./filters";
import { lengthText } from "./MeasureBar";

const MOST_VEHICLES = 5;
const MOST_ZONES = 10;

/** What is at a place: its address, the zones that hold it, and the nearest vehicles. */
export function Here({ of, onClose }: { of: Spot; onClose: () => void }) {
  const { latitude, longitude } = of;
  const records = useZones();
  const zones = useMemo(() => zonesAt(drawable(records ?? []), [latitude, longitude]), [records]);
  const near = nearest(latitude, longitude);
  return (
    <Dialog title={t("map.here")} onClose={onClose}>
      <dl class="facts here">
        <div>
          <dt>{t("vehicle.place")}</dt>
          <dd>{coordinates(latitude, longitude, style.value)}</dd>
        </div>
        {server.value?.geocoderEnabled ? <Address {...of} /> : <Town {...of} />}
        <div>
          <dt>{t("zone.title")}</dt>
          <dd>
            {zones.length === 0 && t("common.none")}
            <ul>
              {zones.slice(0, MOST_ZONES).map(({ id, name }) => (
                <li key={id}>
                  <Link to={`/zones/${id}`}>
                    <Icon name="zone" size={14} />
                    <span>{name}</span>
                  </Link>
                </li>
              ))}
            </ul>
          </dd>
        </div>
        <div>
          <dt>{t("map.near")}</dt>
          <dd>
            {near.length === 0 && t("common.none")}
            <ul>
              {near.map(({ id, name, meters }) => (
                <li key={id}>
                  <Link to={`/vehicles/${id}`}>
                    <Icon name="car" size={14} />
                    <span>{name}</span>
                  </Link>{" "}
                  {lengthText(meters)}
                </li>
              ))}
            </ul>
          </dd>
        </div>
      </dl>
      {may("reports") && !session.value?.temporary && <Who latitude={latitude} longitude={longitude} />}
    </Dialog>
  );
}

/** Who was here, asked for by a button and loaded then. */
function Who(of: PlaceProps) {
  const [List, setList] = useState<ComponentType<PlaceProps> | null>(null);
  if (List) return <List {...of} />;
  const load = async () => {
    const { default: Loaded } = await import("./WhoWasHere");
    setList(() => Loaded);
  };
  return (
    <button
      type="button"
      onClick={() => void load().catch((problem: unknown) => toast(sentenceOf(problem), "bad"))}
    >
      <Icon name="history" size={18} />
      {t("map.who")}
    </button>
  );
}

interface PlaceProps {
  latitude: number;
  longitude: number;
}

function Address({ latitude, longitude }: PlaceProps) {
  const found = useLoaded(`address ${latitude} ${longitude}`, (signal) =>
    get<string>("/server/geocode", { latitude, longitude }, signal),
  );
  return <Fact name={t("vehicle.address")} of={found} text={(address) => address || null} />;
}

/** The town, which the server knows without a geocoder. */
function Town({ latitude, longitude }: PlaceProps) {
  const found = useLoaded(`town ${latitude} ${longitude}`, (signal) =>
    get<NearTown>("/places/town", { latitude, longitude }, signal),
  );
  return <Fact name={t("map.town")} of={found} text={({ place }) => place} />;
}

interface FactProps<T> {
  name: string;
  of: Loaded<T>;
  /** What it says; null: nothing. */
  text: (value: T) => string | null;
}

/** What the server tells of the place, once it does. */
function Fact<T>({ name, of, text }: FactProps<T>) {
  const { value, problem } = of;
  const said = value === undefined ? t("common.loading") : (text(value) ?? t("common.none"));
  return (
    <div>
      <dt>{name}</dt>
      <dd>{problem === null ? said : sentenceOf(problem)}</dd>
    </div>
  );
}

function nearest(latitude: number, longitude: number) {
  const found = snapshot().flatMap(({ device, position }) => {
    if (!position?.valid || !hasPlace(position)) return [];
    const meters = distanceBetween([latitude, longitude], [position.latitude, position.longitude]);
    return [{ id: device.id, name: device.name, meters }];
  });
  return found.sort((one, other) => one.meters - other.meters).slice(0, MOST_VEHICLES);
}
