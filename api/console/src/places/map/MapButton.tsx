import { Icon, type IconName } from "../../parts/Icon";

interface MapButtonProps {
  icon: IconName;
  label: string;
  pressed?: boolean;
  act: () => void;
}

/** A button over a map. */
export function MapButton({ icon, label, pressed, act }: MapButtonProps) {
  return (
    <button type="button" aria-label={label} title={label} aria-pressed={pressed} onClick={act}>
      <Icon name={icon} size={18} />
    </button>
  );
}
