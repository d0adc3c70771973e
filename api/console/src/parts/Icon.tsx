/** Our icons: lines on a grid of 24, in the color of the text around them. */

const PATHS = {
  alarm: "M12 4v1M6 17V11a6 6 0 0 1 12 0v6l1.5 2h-15zM10 21h4",
  archive: "M3 5h18v4H3zM5 9v11h14V9M10 13h4",
  back: "M15 5l-7 7 7 7",
  camera: "M3 7h11a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1zM15 11l6-3.5v9L15 13z",
  car: "M4 16v2M20 16v2M3 16v-4l2-6h14l2 6v4zM3 12h18M7 14h.01M17 14h.01",
  chart: "M4 4v16h16M8 16v-4M12 16V8M16 16v-6",
  check: "M5 12.5l4.5 4.5L19 7",
  circle: "M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16z",
  close: "M6 6l12 12M18 6L6 18",
  command: "M4 5h16v14H4zM7.5 9.5l3 2.5-3 2.5M12.5 15H17",
  critical: "M8.5 3h7L21 8.5v7L15.5 21h-7L3 15.5v-7zM12 7.5v5.5M12 16.4h.01",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  corridor: "M3 17l6-8 6 5 6-8",
  down: "M5 9l7 7 7-7",
  download: "M12 4v11M7 11l5 5 5-5M4 20h16",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  events: "M4 6h16M4 12h16M4 18h10",
  eye: "M2 12c3-5 6-7 10-7s7 2 10 7c-3 5-6 7-10 7s-7-2-10-7zM12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
  filter: "M3 5h18l-7 8v6l-4 2v-8z",
  fold: "M4 5h16v14H4zM9 5v14M16 9.5L13.5 12l2.5 2.5",
  follow: "M12 2v4M12 18v4M2 12h4M18 12h4M12 7a5 5 0 1 1 0 10 5 5 0 0 1 0-10z",
  fullScreen: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  headset:
    "M4 14v-2a8 8 0 0 1 16 0v2M4 13h3v5H5a1 1 0 0 1-1-1zM20 13h-3v5h2a1 1 0 0 0 1-1zM19 18c0 2-2 3-5 3",
  help: "M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M12 16.8h.01",
  history: "M4 12a8 8 0 1 1 2.3 5.6M4 12l-2-2M4 12l2.2-1.8M12 8v4.5l3 1.8",
  key: "M14.5 4a5.5 5.5 0 1 1-5 7.8L3 18.3V21h4v-2.5h2.5V16l2.2-2.2M16 8h.01",
  layers: "M12 4l9 5-9 5-9-5zM3.5 13.5L12 18l8.5-4.5",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  logout: "M9 4H4v16h5M15 8l4 4-4 4M19 12H9",
  map: "M3 6l6-2 6 2 6-2v14l-6 2-6-2-6 2zM9 4v14M15 6v14",
  measure: "M4 15L15 4l5 5L9 20zM7.5 11.5l2 2M11 8l2 2",
  microphone: "M12 3a3 3 0 0 1 3 3v5a3 3 0 1 1-6 0V6a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v4M9 21h6",
  minus: "M5 12h14",
  more: "M12 5h.01M12 12h.01M12 19h.01",
  next: "M9 5l7 7-7 7",
  open: "M14 4h6v6M20 4l-9 9M18 13v7H4V6h7",
  overview: "M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z",
  pause: "M8 5v14M16 5v14",
  pin: "M12 21c-4-5-6-8-6-11a6 6 0 1 1 12 0c0 3-2 6-6 11zM12 8a2.2 2.2 0 1 1 0 4.4A2.2 2.2 0 0 1 12 8z",
  play: "M7 4.5v15l12-7.5z",
  plus: "M12 5v14M5 12h14",
  polygon: "M5 6l10-2 5 8-6 8-10-5z",
  record: "M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zM12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
  reload: "M20 12a8 8 0 1 1-2.5-5.8L20 8.5M20 4v4.5h-4.5",
  search: "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5L21 21",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  share:
    "M18 4a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM6 9.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM18 15a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM8.2 10.8l7.6-3.2M8.2 13.2l7.6 3.2",
  sound: "M4 9h4l5-4v14l-5-4H4zM16.5 8.5a5 5 0 0 1 0 7M19 6a9 9 0 0 1 0 12",
  silent: "M4 9h4l5-4v14l-5-4H4zM17 9.5l5 5M22 9.5l-5 5",
  still: "M4 7h4l1.5-2h5L16 7h4v12H4zM12 9.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7z",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  up: "M5 16l7-7 7 7",
  ticket: "M3 7h18v3.5a1.5 1.5 0 0 0 0 3V17H3v-3.5a1.5 1.5 0 0 0 0-3zM14 7v2M14 11v2M14 15v2",
  user: "M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM4 20c1-4 4-5.5 8-5.5s7 1.5 8 5.5",
  wall: "M3 4h8v7H3zM13 4h8v7h-8zM3 13h8v7H3zM13 13h8v7h-8z",
  warning: "M12 4L2.5 20h19zM12 10v4.5M12 17.3h.01",
  wide: "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5L21 21M7.5 10.5h6",
  zone: "M5 4l14 3-2 13-12-4zM5 4h.01M19 7h.01M17 20h.01M5 16h.01",
} as const;

export type IconName = keyof typeof PATHS;

/** An icon; without a `label` screen readers skip it. */
export function Icon({
  name,
  size = 20,
  label,
}: {
  name: IconName;
  size?: number;
  label?: string | undefined;
}) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      role="img"
      aria-label={label}
      aria-hidden={label === undefined}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
