import { useEffect, useState } from "preact/hooks";
import { address } from "../api/call";

const EVERY_MS = 5000;

/** A still of a camera every five seconds, one after the other. */
export function Snapshots({
  deviceId,
  camera,
  shown,
  title,
}: {
  deviceId: number;
  camera: number;
  shown: boolean;
  title: string;
}) {
  const [count, setCount] = useState(0);
  const [came, setCame] = useState(false);
  const [due, setDue] = useState(true);
  useEffect(() => {
    if (!shown || due) return;
    const timer = setTimeout(() => {
      setCount((each) => each + 1);
      setDue(true);
    }, EVERY_MS);
    return () => clearTimeout(timer);
  }, [shown, due]);
  if (!shown && !came) return <div class="tile-ground" />;
  return (
    <img
      src={address(`/stream/${deviceId}/${camera}/snapshot.jpg`, { count })}
      alt={title}
      class={came ? "" : "pending"}
      onLoad={() => {
        setCame(true);
        setDue(false);
      }}
      onError={() => setDue(false)}
    />
  );
}
