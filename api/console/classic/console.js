// The plain console: log in, see the vehicles, play their cameras. No framework; text never becomes HTML.

const KNOT_KMH = 1.852;
const SOCKET_RETRY_MS = 4000;
const STREAM_RETRY_MS = 3000;
const SHOWN_AT_ONCE = 300;
const DEFAULT_CHANNELS = 2;
const SEGMENTS_AHEAD = 2;
const CATCH_UP_RATE = 1.1;
const WITHOUT_CAMERAS = new Set(["osmand"]);

const byId = (id) => document.getElementById(id);
const devices = new Map();
const positions = new Map();
const rows = new Map();
const screens = new Map();
let socket = null;
let loggedIn = false;
let redraw = 0;

class Refused extends Error {
  constructor(status, text, headers) {
    super(text || `the server answered ${status}`);
    this.status = status;
    this.headers = headers;
  }
}

async function call(path, options = {}) {
  let answer;
  try {
    answer = await fetch(`/api${path}`, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new Refused(0, "The server cannot be reached.", new Headers());
  }
  if (!answer.ok) throw new Refused(answer.status, (await answer.text()).slice(0, 300), answer.headers);
  if (answer.status === 204) return null;
  const json = (answer.headers.get("Content-Type") || "").startsWith("application/json");
  return json ? answer.json() : answer.text();
}

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function notify(text) {
  const notice = byId("notice");
  notice.textContent = text;
  notice.hidden = !text;
  clearTimeout(notify.timer);
  if (text) notify.timer = setTimeout(() => { notice.hidden = true; }, 6000);
}

// --- entrance ---------------------------------------------------------------------------------------------

// What a mailed link brought along; out of the address bar it goes into no bookmark and no history.
const brought = new URLSearchParams(location.search);
let resetToken = brought.get("passwordReset");
const setupToken = brought.get("setup") || "";
if (resetToken || setupToken || brought.has("openid")) history.replaceState(null, "", "/");

async function enter() {
  if (resetToken) {
    showEntrance("");
    return;
  }
  try {
    const user = await call("/session");
    await showFleet(user);
  } catch (refusal) {
    const nobody = refusal.status === 404 || refusal.status === 401;
    const cancelled = brought.get("openid") === "cancelled" ? "The login was cancelled." : "";
    showEntrance(nobody ? cancelled : refusal.message);
  }
}

function showEntrance(text) {
  loggedIn = false;
  for (const key of [...screens.keys()]) closeScreen(key);
  if (socket) socket.close(4000);
  devices.clear();
  positions.clear();
  rows.clear();
  byId("devices").replaceChildren();
  byId("bar").hidden = true;
  byId("fleet").hidden = true;
  byId("entrance").hidden = false;
  byId("refusal").textContent = text;
  byId("login").hidden = Boolean(resetToken);
  byId("reset").hidden = !resetToken;
  call("/server").then((server) => {
    byId("provider").hidden = !server.openIdEnabled;
    byId("forgotten").hidden = !server.emailEnabled || server.openIdForce;
    if (server.newServer) {
      byId("greeting").textContent = "This server is new: what you enter here becomes its administrator.";
      byId("login").dataset.create = "yes";
    }
  }, () => {});
}

byId("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const button = form.querySelector("button");
  const fields = new FormData(form);
  button.disabled = true;
  byId("refusal").textContent = "";
  try {
    if (form.dataset.create) {
      const email = fields.get("email");
      await call("/users", {
        method: "POST",
        headers: { "Content-Type": "application/json", ...(setupToken && { "X-Setup-Token": setupToken }) },
        body: JSON.stringify({ name: email, email, password: fields.get("password") }),
      });
      delete form.dataset.create;
    }
    const login = new URLSearchParams({ email: fields.get("email"), password: fields.get("password") });
    if (fields.get("code")) login.set("code", fields.get("code"));
    const user = await call("/session", { method: "POST", body: login });
    form.reset();
    byId("code-row").hidden = true;
    await showFleet(user);
  } catch (refusal) {
    if (refusal.headers && refusal.headers.get("WWW-Authenticate") === "TOTP") {
      byId("code-row").hidden = false;
      form.elements.code.focus();
      byId("refusal").textContent = "Enter the one-time code of your authenticator.";
    } else {
      byId("refusal").textContent = refusal.status === 401 ? "E-mail or password is wrong." : refusal.message;
    }
  } finally {
    button.disabled = false;
  }
});

byId("provider").addEventListener("click", () => {
  const setup = setupToken ? `?setup=${encodeURIComponent(setupToken)}` : "";
  location.assign(`/api/session/openid/auth${setup}`);
});

byId("forgotten").addEventListener("click", async () => {
  const email = byId("login").elements.email;
  if (!email.reportValidity()) return;
  try {
    await call("/password/reset", { method: "POST", body: new URLSearchParams({ email: email.value }) });
    byId("refusal").textContent = "";
    byId("greeting").textContent = "If there is such an account, a mail with a link is on its way.";
  } catch (refusal) {
    byId("refusal").textContent = refusal.message;
  }
});

byId("reset").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const password = form.elements.password.value;
  if (password !== form.elements.again.value) {
    byId("reset-refusal").textContent = "The two are not the same.";
    return;
  }
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    await call("/password/update", { method: "POST", body: new URLSearchParams({ token: resetToken, password }) });
    endReset("The new password is set. Log in with it.");
  } catch (refusal) {
    byId("reset-refusal").textContent = refusal.message;
  } finally {
    button.disabled = false;
  }
});

byId("reset-leave").addEventListener("click", () => endReset("Log in to see your vehicles."));

function endReset(text) {
  resetToken = null;
  byId("reset").reset();
  byId("reset-refusal").textContent = "";
  showEntrance("");
  byId("greeting").textContent = text;
}

byId("leave").addEventListener("click", async () => {
  try {
    await call("/session", { method: "DELETE" });
  } catch (refusal) {
    notify(refusal.message);
  }
  showEntrance("");
});

// --- vehicles ---------------------------------------------------------------------------------------------

async function showFleet(user) {
  loggedIn = true;
  byId("entrance").hidden = true;
  byId("bar").hidden = false;
  byId("fleet").hidden = false;
  byId("who").textContent = user.name || user.email;
  await loadDevices();
  openSocket();
}

async function loadDevices() {
  const [listed, latest] = await Promise.all([call("/devices"), call("/positions")]);
  devices.clear();
  for (const device of listed) devices.set(device.id, device);
  for (const position of latest) positions.set(position.deviceId, position);
  draw();
}

function openSocket() {
  const line = byId("line");
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  socket = new WebSocket(`${scheme}//${location.host}/api/socket`);
  socket.onopen = () => { line.textContent = "live"; line.classList.add("up"); };
  socket.onmessage = (event) => {
    const news = JSON.parse(event.data);
    let unknown = false;
    for (const device of news.devices || []) {
      unknown = unknown || !devices.has(device.id);
      devices.set(device.id, device);
    }
    for (const position of news.positions || []) {
      unknown = unknown || !devices.has(position.deviceId);
      const last = positions.get(position.deviceId);
      if (!last || last.fixTime <= position.fixTime) positions.set(position.deviceId, position);
    }
    if (unknown) loadDevices().catch((refusal) => notify(refusal.message));
    else drawSoon();
  };
  socket.onclose = () => {
    line.textContent = "connecting";
    line.classList.remove("up");
    if (!loggedIn) return;
    setTimeout(async () => {
      if (!loggedIn) return;
      try {
        await loadDevices();
      } catch (refusal) {
        if (refusal.status === 401) { showEntrance("Your session has ended."); return; }
      }
      if (loggedIn) openSocket();
    }, SOCKET_RETRY_MS);
  };
}

function drawSoon() {
  if (!redraw) redraw = setTimeout(() => { redraw = 0; draw(); }, 250);
}

byId("search").addEventListener("input", draw);

function draw() {
  const wanted = byId("search").value.trim().toLowerCase();
  const all = [...devices.values()].sort((a, b) => (a.name || "").localeCompare(b.name || "") || a.id - b.id);
  const found = all.filter((device) => `${device.name} ${device.uniqueId}`.toLowerCase().includes(wanted));
  const shown = found.slice(0, SHOWN_AT_ONCE);
  const list = byId("devices");
  const keep = new Set(shown.map((device) => device.id));
  for (const [id, row] of rows) if (!keep.has(id)) { row.item.remove(); rows.delete(id); }
  shown.forEach((device, index) => {
    if (!rows.has(device.id)) rows.set(device.id, makeRow(device));
    const row = rows.get(device.id);
    fillRow(row, device);
    if (list.children[index] !== row.item) list.insertBefore(row.item, list.children[index] || null);
  });
  const online = all.filter((device) => device.status === "online").length;
  byId("summary").textContent = `${online} of ${all.length} online`;
  const nothing = byId("nothing");
  nothing.hidden = found.length > 0 && found.length <= SHOWN_AT_ONCE;
  nothing.textContent = all.length === 0
    ? "No vehicles yet. Add one with POST /api/devices, or start the simulated fleet."
    : found.length === 0 ? "No vehicle matches." : `Showing ${SHOWN_AT_ONCE} of ${found.length}; search to narrow down.`;
}

function makeRow(device) {
  const name = element("span", { className: "name" });
  const status = element("span", { className: "status" });
  const where = element("span", { className: "where" });
  const channels = element("span", { className: "channels" });
  const row = { name, status, where, channels, buttons: new Map() };
  for (let channel = 1; channel <= channelsOf(device); channel += 1) {
    const button = element("button", { type: "button", className: "channel", textContent: `▶ Camera ${channel}` });
    button.dataset.device = device.id;
    button.dataset.channel = channel;
    button.addEventListener("click", () => toggleScreen(device.id, channel));
    row.buttons.set(channel, button);
    channels.append(button);
  }
  row.item = element("li", {}, element("div", {}, name, status), where, channels);
  row.item.dataset.device = device.id;
  return row;
}

function channelsOf(device) {
  const count = Number(device.attributes.channels);
  return Number.isInteger(count) && count > 0 && count <= 31 ? count : DEFAULT_CHANNELS;
}

function fillRow(row, device) {
  row.name.replaceChildren(device.name || "(no name)", element("span", { className: "number", textContent: device.uniqueId }));
  row.status.className = `status ${device.status}`;
  row.status.textContent = device.status + (device.lastUpdate ? ` · ${ago(device.lastUpdate)}` : "");
  const position = positions.get(device.id);
  row.channels.hidden = Boolean(position) && WITHOUT_CAMERAS.has(position.protocol);
  if (position) {
    const place = `${position.latitude.toFixed(5)}, ${position.longitude.toFixed(5)}`;
    const link = element("a", {
      href: `https://www.openstreetmap.org/?mlat=${position.latitude}&mlon=${position.longitude}#map=16/${position.latitude}/${position.longitude}`,
      target: "_blank", rel: "noreferrer noopener", textContent: place,
    });
    row.where.replaceChildren(
      element("b", { textContent: `${Math.round(position.speed * KNOT_KMH)} km/h` }), " · ", link,
      ` · ${new Date(position.fixTime).toLocaleTimeString()}`,
    );
  } else {
    row.where.textContent = "no position yet";
  }
  for (const [channel, button] of row.buttons) {
    const playing = screens.has(`${device.id}/${channel}`);
    button.setAttribute("aria-pressed", String(playing));
    button.textContent = `${playing ? "■" : "▶"} Camera ${channel}`;
  }
}

function ago(time) {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000));
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return new Date(time).toLocaleDateString();
}

setInterval(() => { if (loggedIn) drawSoon(); }, 20000);

// --- live video -------------------------------------------------------------------------------------------

function toggleScreen(id, channel) {
  const key = `${id}/${channel}`;
  if (screens.has(key)) closeScreen(key);
  else openScreen(key, id, channel);
  draw();
}

function openScreen(key, id, channel) {
  const url = `/api/stream/${id}/${channel}/live.m3u8`;
  const video = element("video", { muted: true, playsInline: true, controls: true });
  const message = element("p", { textContent: "Asking the camera …" });
  const close = element("button", { type: "button", className: "quiet", textContent: "✕", ariaLabel: "Close" });
  const title = element("strong", { textContent: `${devices.get(id)?.name || id} · camera ${channel}` });
  const frame = element("article", { className: "screen card" }, element("header", {}, title, close), video, message);
  frame.dataset.stream = key;
  close.addEventListener("click", () => { closeScreen(key); draw(); });
  byId("screens").append(frame);
  const screen = { frame, video, message, hls: null, timer: 0, closed: false };
  screens.set(key, screen);
  video.addEventListener("playing", () => say(screen, ""));
  video.addEventListener("waiting", () => say(screen, "Waiting for the next pictures …"));
  play(screen, url);
}

function say(screen, text, bad = false) {
  screen.message.textContent = text;
  screen.message.className = bad ? "bad" : "";
}

function play(screen, url) {
  if (screen.closed) return;
  if (window.Hls && window.Hls.isSupported()) {
    const hls = new window.Hls({
      lowLatencyMode: true, liveSyncDurationCount: 2, liveMaxLatencyDurationCount: 6, backBufferLength: 20,
      manifestLoadPolicy: { default: {
        maxTimeToFirstByteMs: 20000, maxLoadTimeMs: 25000, timeoutRetry: null, errorRetry: null,
      } },
    });
    screen.hls = hls;
    // Where the playlist lists parts, it says itself how far from its end to play.
    hls.on(window.Hls.Events.MANIFEST_PARSED, (_, { levels }) => {
      const nearest = levels[0]?.details?.partHoldBack;
      if (!nearest) return;
      hls.targetLatency = nearest;
      hls.config.maxLiveSyncPlaybackRate = CATCH_UP_RATE;
    });
    // A stream that has just begun has one segment: begun at once, the picture would stop after it.
    let segments = 0;
    hls.on(window.Hls.Events.FRAG_BUFFERED, () => {
      segments += 1;
      if (segments === SEGMENTS_AHEAD) screen.video.play().catch(() => {});
    });
    hls.on(window.Hls.Events.ERROR, (_, problem) => {
      if (!problem.fatal) return;
      if (problem.type === window.Hls.ErrorTypes.MEDIA_ERROR && !screen.recovered) {
        screen.recovered = true;
        hls.recoverMediaError();
        return;
      }
      hls.destroy();
      screen.hls = null;
      again(screen, url, problem.response?.code);
    });
    hls.loadSource(url);
    hls.attachMedia(screen.video);
  } else if (screen.video.canPlayType("application/vnd.apple.mpegurl")) {
    screen.video.src = url;
    screen.video.autoplay = true;
    screen.video.onerror = () => again(screen, url);
  } else {
    screen.message.replaceChildren(
      "This browser plays no HLS. Open the playlist in a player: ",
      element("a", { href: url, textContent: "live.m3u8" }),
    );
  }
}

function again(screen, url, code) {
  if (screen.closed) return;
  if (code === 401) { showEntrance("Your session has ended."); return; }
  if (code === 404) { say(screen, "This camera is not yours to see, or does not exist.", true); return; }
  say(screen, "No pictures from this camera now; trying again …");
  screen.recovered = false;
  clearTimeout(screen.timer);
  screen.timer = setTimeout(() => play(screen, url), STREAM_RETRY_MS);
}

function closeScreen(key) {
  const screen = screens.get(key);
  if (!screen) return;
  screen.closed = true;
  clearTimeout(screen.timer);
  if (screen.hls) screen.hls.destroy();
  screen.video.removeAttribute("src");
  screen.video.load();
  screen.frame.remove();
  screens.delete(key);
}

enter();
