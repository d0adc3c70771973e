/** Stills: a frame of a video as a PNG file. */

/** Pixels across of a frame that is kept; it is shown without color. */
const KEPT_WIDTH = 640;

/** What the server takes as a still (docs/devices.md#operations). */
const MOST_BYTES = 1_000_000;
/** Qualities of JPEG, until one is small enough. */
const QUALITIES = [0.92, 0.8, 0.6];

/** The frame that is shown, at its full size; null if there is none. */
export interface Frame {
  png: Blob;
  /** A file that the server takes, or null where the frame is too large for that. */
  jpeg: () => Promise<Blob | null>;
}

export async function frameOf(video: HTMLVideoElement): Promise<Frame | null> {
  const canvas = drawn(video, 1);
  const png = canvas && (await blobOf(canvas, "image/png"));
  return png && { png, jpeg: () => compressed(canvas) };
}

async function compressed(canvas: HTMLCanvasElement): Promise<Blob | null> {
  for (const quality of QUALITIES) {
    const blob = await blobOf(canvas, "image/jpeg", quality);
    if (blob && blob.size <= MOST_BYTES) return blob;
  }
  return null;
}

function blobOf(canvas: HTMLCanvasElement, type: string, quality?: number): Promise<Blob | null> {
  return new Promise((resolve) => canvas.toBlob(resolve, type, quality));
}

/** Save a file under a name. */
export function saveAs(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Have a video show its last frame, made small, when its media is taken away. */
export function keepFrame(video: HTMLVideoElement): void {
  const canvas = drawn(video, Math.min(1, KEPT_WIDTH / video.videoWidth));
  if (canvas) video.poster = canvas.toDataURL("image/jpeg", 0.8);
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
