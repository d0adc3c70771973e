import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { toast } from "../../parts/Toast";
import { sharing } from "./sharing";

type ShareDialog = ComponentType<{ id: number; onClose: () => void }>;

/** The dialog that shares a vehicle, over whatever place is open; it is loaded when it is first needed. */
export function SharingDialog() {
  const id = sharing.value;
  const [loaded, setLoaded] = useState<{ Shown: ShareDialog } | null>(null);
  useEffect(() => {
    if (id === null || loaded) return;
    import("./ShareDialog").then(
      (module) => setLoaded({ Shown: module.default }),
      () => {
        sharing.value = null;
        toast(t("frame.broken"), "bad");
      },
    );
  }, [id, loaded]);
  if (id === null || !loaded) return null;
  const { Shown } = loaded;
  return (
    <Shown
      key={id}
      id={id}
      onClose={() => {
        sharing.value = null;
      }}
    />
  );
}
