/** Notices of the system for somebody who looks at another window. */

/** Have the browser ask whether it may; whether it may then. */
export async function allowSystemNotices(): Promise<boolean> {
  if (!("Notification" in window)) return false;
  return (await Notification.requestPermission()) === "granted";
}

/** Show a text unless the page is looked at; a click on it brings the page to the front. */
export function notifySystem(text: string, run: () => void): void {
  const isSeen = document.visibilityState === "visible" && document.hasFocus();
  if (isSeen || !("Notification" in window) || Notification.permission !== "granted") return;
  try {
    const notice = new Notification(text, { icon: "/console/icon.svg" });
    notice.onclick = () => {
      notice.close();
      window.focus();
      run();
    };
  } catch {
    // Browsers of phones have them for service workers alone.
  }
}
