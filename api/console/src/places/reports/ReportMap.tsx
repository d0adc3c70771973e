import { useEffect, useMemo, useRef } from "preact/hooks";
import { t } from "../../i18n/translate";
import type { ReportMark, ReportOnMap, ReportSpot } from "../../map/reportMap";
import { MapStage } from "../map/MapStage";
import type { Item, Kind } from "./kinds";
import type { Row } from "./rows";

/** Places that are drawn; of more the first. */
export const MOST_DRAWN = 5000;

interface ReportMapProps {
  kind: Kind<Item>;
  rows: readonly Row[];
  ways: readonly (readonly (readonly number[])[])[];
  /** The row that is chosen. */
  chosen: number | null;
  onChoose: (index: number) => void;
  /** The place that the report is about, if it is about one. */
  place: ReportSpot | null;
  onPlace?: (spot: ReportSpot) => void;
}

/** The places of the rows of a report; one that is pressed chooses its row. */
export function ReportMap({ kind, rows, ways, chosen, onChoose, place, onPlace }: ReportMapProps) {
  const drawn = useRef<ReportOnMap | null>(null);
  const latest = useRef({ onChoose, onPlace });
  latest.current = { onChoose, onPlace };
  const marks = useMemo(() => marksOf(kind, rows, place), [kind, rows, place?.latitude, place?.longitude]);
  const shown = useRef({ marks, ways, chosen });
  shown.current = { marks, ways, chosen };
  useEffect(() => drawn.current?.set(marks, ways), [marks, ways]);
  useEffect(() => drawn.current?.choose(chosen), [chosen]);
  return (
    <div class="report-map">
      <MapStage
        title={t("report.map")}
        view={null}
        printable
        onOpen={(map) => {
          let isClosed = false;
          void import("../../map/reportMap").then(({ ReportOnMap: OnMap }) => {
            if (isClosed) return;
            drawn.current = new OnMap(
              map,
              (index) => latest.current.onChoose(index),
              (spot) => latest.current.onPlace?.(spot),
            );
            drawn.current.set(shown.current.marks, shown.current.ways);
            drawn.current.choose(shown.current.chosen);
          });
          return () => {
            isClosed = true;
            drawn.current?.close();
            drawn.current = null;
          };
        }}
      />
    </div>
  );
}

function marksOf(kind: Kind<Item>, rows: readonly Row[], place: ReportSpot | null): readonly ReportMark[] {
  if (place) return [{ index: -1, from: place }];
  const found: ReportMark[] = [];
  for (const { index, item } of rows) {
    const where = kind.where?.(item);
    if (where) found.push({ index, ...where });
    if (found.length >= MOST_DRAWN) break;
  }
  return found;
}
