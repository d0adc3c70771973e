/** Stills: a frame of a video as a PNG file. */

/** Pixels across of a frame that is kept; it is shown without color. */
const KEPT_WIDTH = 640;

/** Save the frame that is shown, at its full size. Returns false if there is none. */
export async function saveStill(video: HTMLVideoElement, name: string): Promise<boolean> {
  const blob = await frameOf(video);
  if (!blob) return false;
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  return true;
}

/** `Bus 7 camera 2 2026-11-22 14.32.07.png`, without what file names may not hold. */
export function stillName(vehicle: string, camera: number, instant: number): string {
  const time = new Date(instant).toISOString().slice(0, 19).replace("T", " ").replaceAll(":", ".");
  const safe = vehicle
    .replace(/[\\/:*?"<>|]/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return `${safe || "vehicle"} camera ${camera} ${time}.png`;
}

/** Have a video show its last frame, made small, when its media is taken away. */
export function keepFrame(video: HTMLVideoElement): void {
  const canvas = drawn(video, Math.min(1, KEPT_WIDTH / video.videoWidth));
  if (canvas) video.poster = canvas.toDataURL("image/jpeg", 0.8);
}

function frameOf(video: HTMLVideoElement): Promise<Blob | null> {
  const canvas = drawn(video, 1);
  if (!canvas) return Promise.resolve(null);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

function drawn(video: HTMLVideoElement, scale: number): HTMLCanvasElement | null {
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth * scale;
  canvas.height = video.videoHeight * scale;
  const context = canvas.getContext("2d");
  if (!context || canvas.width === 0) return null;
  context.drawImage(video, 0, 0, canvas.width, canvas.height);
  return canvas;
}
