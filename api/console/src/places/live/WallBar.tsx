import { useRef, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Dialog } from "../../parts/Dialog";
import { Field, Select } from "../../parts/Field";
import { FilterBar } from "../../parts/FilterBar";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { go } from "../../router";
import { loadDevice, positionNow } from "../../state/fleet";
import { session } from "../../state/session";
import { camerasOf } from "../../video/channels";
import { LAYOUTS, type Layout, type TileId, wallAddress } from "../../video/tiles";
import { VehiclePicker } from "../fleet/VehiclePicker";
import { wallMap } from "./mapShown";
import { deleteWall, type SavedWall, savedWalls, saveWall } from "./walls";

interface WallBarProps {
  tiles: readonly TileId[];
  layout: Layout;
  onAdd: (tiles: readonly TileId[]) => void;
  onLayout: (layout: Layout) => void;
}

/** What a wall is made of: vehicles to add, layout, saved walls. */
export function WallBar({ tiles, layout, onAdd, onLayout }: WallBarProps) {
  const [saving, setSaving] = useState(false);
  const bar = useRef<HTMLElement>(null);
  useKeys("anywhere", {
    search: () => {
      const field = bar.current?.querySelector("input");
      field?.focus();
      return Boolean(field);
    },
  });
  const walls = savedWalls();
  async function add(id: number | null) {
    if (id === null) return;
    try {
      const found = await loadDevice(id);
      const cameras = found ? camerasOf(found, positionNow(found.id)) : [];
      if (cameras.length === 0) toast(t("live.noCamerasText"), "bad");
      else onAdd(cameras.map((camera) => ({ deviceId: id, camera })));
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
  }
  return (
    <header ref={bar} class="live-bar">
      <h1>{t("live.title")}</h1>
      {tiles.length > 0 && (
        <FilterBar label={t("live.wall")}>
          <VehiclePicker
            label={t("live.add")}
            placeholder={t("common.search")}
            value={null}
            onChange={(id) => void add(id)}
          />
          <Select
            label={t("live.layout")}
            value={layout}
            choices={[
              { value: "auto", label: t("live.layoutAuto") },
              ...LAYOUTS.map((each) => ({
                value: each,
                label: each.replace("x", " × ").replace("+", " + "),
              })),
            ]}
            onChange={(value) => onLayout(LAYOUTS.find((each) => each === value) ?? "auto")}
          />
          {walls.length > 0 && (
            <Select
              label={t("live.saved")}
              value=""
              choices={[
                { value: "", label: t("live.savedNone") },
                ...walls.map((wall) => ({ value: wall.query, label: wall.name })),
              ]}
              onChange={(query) => query && go(`/live?${query}`)}
            />
          )}
          <div class="button-row">
            <button type="button" aria-pressed={wallMap.shown.value} onClick={wallMap.toggle}>
              <Icon name="map" size={18} />
              {t("live.mapShown")}
            </button>
            {!session.value?.temporary && (
              <button type="button" onClick={() => setSaving(true)}>
                {t("live.save")}
              </button>
            )}
            <button type="button" class="quiet" onClick={() => go("/live")}>
              {t("live.clear")}
            </button>
          </div>
        </FilterBar>
      )}
      {saving && (
        <SaveDialog
          query={wallAddress(tiles, layout, "").split("?")[1] ?? ""}
          walls={walls}
          onClose={() => setSaving(false)}
        />
      )}
    </header>
  );
}

function SaveDialog({
  query,
  walls,
  onClose,
}: {
  query: string;
  walls: readonly SavedWall[];
  onClose: () => void;
}) {
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<unknown>(null);
  async function run(act: Promise<void>) {
    try {
      await act;
      toast(t("common.saved"));
      onClose();
    } catch (failure) {
      setProblem(failure);
    }
  }
  return (
    <Dialog
      title={t("live.save")}
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            {t("common.cancel")}
          </button>
          <button type="submit" form="save-wall" class="primary">
            {t("common.save")}
          </button>
        </>
      }
    >
      <form
        id="save-wall"
        onSubmit={(event) => {
          event.preventDefault();
          void run(saveWall({ name: name.trim(), query }));
        }}
      >
        <Field
          label={t("live.saveName")}
          value={name}
          required
          maxLength={60}
          onInput={(event) => setName(event.currentTarget.value)}
          error={problem ? sentenceOf(problem) : undefined}
        />
      </form>
      {walls.map((wall) => (
        <div key={wall.name} class="button-row">
          <span>{wall.name}</span>
          <button
            type="button"
            class="link"
            aria-label={t("live.delete", { name: wall.name })}
            onClick={() => void run(deleteWall(wall.name))}
          >
            {t("common.delete")}
          </button>
        </div>
      ))}
    </Dialog>
  );
}
