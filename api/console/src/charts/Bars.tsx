import "./bars.css";

export interface NamedBar {
  key: string | number;
  name: string;
  value: number;
  /** The value with its unit. */
  text: string;
}

interface BarsProps {
  label: string;
  bars: readonly NamedBar[];
}

const HEIGHT = 140;
const GAP = 0.2;
/** Few bars are no wider than this, with their names below them; rem. */
const WIDEST = 9;

/** Values by name, the longest bar as wide as there is room. */
export function Bars({ label, bars }: BarsProps) {
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  return (
    <table class="bars">
      <caption>{label}</caption>
      <tbody>
        {bars.map(({ key, name, value, text }) => (
          <tr key={key}>
            <th scope="row">{name}</th>
            <td>
              <span class="bar" aria-hidden="true">
                <span style={{ width: `${Math.max(0, (100 * value) / most)}%` }} />
              </span>
            </td>
            <td class="numeric">{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Values side by side, as of days; the first, the highest and the last are named. */
export function Columns({ label, bars }: BarsProps) {
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  const highest = bars.find(({ value }) => value === most);
  const said = `${label}: ${bars.map(({ name, text }) => `${name} ${text}`).join(", ")}`;
  const width = { maxWidth: `${bars.length * WIDEST}rem` };
  return (
    <figure class="columns">
      <figcaption>
        {label}
        {highest && (
          <span>
            {highest.name}: {highest.text}
          </span>
        )}
      </figcaption>
      <svg
        role="img"
        aria-label={said}
        viewBox={`0 0 ${bars.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        height={HEIGHT}
        style={width}
      >
        {bars.map(({ key, name, value, text }, index) => {
          const height = Math.max(0, (value / most) * HEIGHT);
          return (
            <rect key={key} x={index + GAP / 2} y={HEIGHT - height} width={1 - GAP} height={height}>
              <title>{`${name}: ${text}`}</title>
            </rect>
          );
        })}
      </svg>
      <div class="columns-ends" aria-hidden="true" style={width}>
        <span>{bars[0]?.name}</span>
        {bars.length > 1 && <span>{bars.at(-1)?.name}</span>}
      </div>
    </figure>
  );
}
