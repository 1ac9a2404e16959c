import { Hands } from "./input";
import { Pane } from "./panes";
import { type Memory, type PictureHead, type SceneInfo, type Told, unpackPicture } from "./wire";

const $ = <T extends HTMLElement>(id: string): T => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no #${id}`);
  return found as T;
};

const WHY: Record<number, string> = {
  1006: "The server cannot be reached.",
  1008: "The server refused: open the whole address that worldwright serve printed.",
  4001: "The server did not understand this page; reload it.",
  4002: "Too much was sent; reload the page.",
  4003: "Nothing was pressed for a while, so the place was given free.",
  4004: "The connection was too slow to answer.",
  4005: "All places are taken; try again later.",
};

let socket: WebSocket | null = null;
let scenes: SceneInfo[] = [];
let panes: Pane[] = [];
let hands: Hands | null = null;
let current: number | null = null;
let memory: Memory = "capture";
let camera: "first" | "third" = "first";
let recording = false;
let sentKeys = 0;
let seq = 0;
const sentAt = new Map<number, number>();
let latency: number[] = [];

function send(message: object): void {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

let noticeTimer = 0;
function notice(text: string, kind: "" | "error" | "low" = "", seconds = 0): void {
  const box = $("notice");
  box.textContent = text;
  box.className = kind;
  clearTimeout(noticeTimer);
  if (seconds) noticeTimer = window.setTimeout(() => (box.textContent = ""), seconds * 1000);
}

function choose(scene: number): void {
  current = scene;
  send({ type: "open", scene, memory, camera, seed: 0 });
}

function drawScenes(): void {
  $("scenes").replaceChildren(
    ...scenes.map((info) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = info.title;
      button.setAttribute("aria-pressed", String(info.scene === current));
      button.addEventListener("click", () => choose(info.scene));
      return button;
    }),
  );
  const kinds = scenes.find((info) => info.scene === current)?.kinds ?? [];
  const options: HTMLElement[] = [];
  if (kinds.includes("engine"))
    options.push(select("Camera", ["first", "third"], camera, (value) => (camera = value as typeof camera)));
  if (kinds.includes("model"))
    options.push(select("Memory", ["capture", "imagination"], memory, (value) => (memory = value as Memory)));
  $("options").replaceChildren(...options);
  $<HTMLButtonElement>("record").hidden = !kinds.includes("engine");
}

function select(title: string, values: string[], value: string, chosen: (value: string) => void): HTMLElement {
  const label = document.createElement("label");
  const box = document.createElement("select");
  box.replaceChildren(...values.map((v) => new Option(v, v, false, v === value)));
  box.addEventListener("change", () => {
    chosen(box.value);
    box.blur();
    if (current !== null) choose(current);
  });
  label.append(title, box);
  return label;
}

function ready(on: boolean): void {
  for (const id of ["restart", "record"]) $<HTMLButtonElement>(id).disabled = !on;
}

function setRecording(on: boolean): void {
  recording = on;
  const button = $<HTMLButtonElement>("record");
  button.textContent = on ? "Stop and keep" : "Record";
  button.classList.toggle("on", on);
}

function told(message: Told): void {
  switch (message.type) {
    case "hello":
      scenes = message.scenes;
      hands ??= new Hands(message.keys, $("stage"), $("sticks"));
      choose(scenes[current ?? 0]?.scene ?? 0);
      drawScenes();
      break;
    case "opening":
      ready(false);
      setRecording(false);
      current = message.scene;
      drawScenes();
      notice("Loading...");
      break;
    case "opened":
      $("panes").replaceChildren();
      panes = message.panes.map((info) => new Pane(info, message.memory, $("panes")));
      memory = message.memory;
      latency = [];
      ready(true);
      notice("");
      break;
    case "recording":
      setRecording(message.on);
      if (message.on) notice("The world begins anew, and all that you do in it is recorded.", "low", 4);
      break;
    case "take":
      setRecording(false);
      notice(`Kept as ${message.folder}/${message.file}; it is being verified.`, "low", 8);
      break;
    case "verdict":
      notice(message.passed ? `${message.file}: verified.` : `${message.file}: the verification failed.`, message.passed ? "low" : "error", 8);
      break;
    case "error":
      notice(message.line, "error", 10);
      break;
    case "closed":
      ready(false);
      panes = [];
      $("panes").replaceChildren();
      break;
  }
}

// Pictures are decoded one after another; one that is overtaken by a newer one is answered and not shown.
const waiting = new Map<number, { head: PictureHead; blob: Blob }>();
let decoding = false;

async function show(): Promise<void> {
  if (decoding) return;
  decoding = true;
  try {
    for (let next = waiting.entries().next(); !next.done; next = waiting.entries().next()) {
      const [key, { head, blob }] = next.value;
      waiting.delete(key);
      const pane = panes[head.pane];
      try {
        if (pane) {
          const picture = await createImageBitmap(blob);
          pane.draw(head, picture);
          picture.close();
          if (head.pane === 0) measure(head.seq);
        }
      } finally {
        send({ type: "seen", picture: head.picture });
      }
    }
  } finally {
    decoding = false;
  }
}

function measure(shown: number): void {
  for (const [sent, at] of sentAt) {
    if (sent > shown) break;
    if (sent === shown) {
      latency.push(performance.now() - at);
      if (latency.length > 40) latency.shift();
    }
    sentAt.delete(sent);
  }
}

function middle(values: number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

function drawRates(): void {
  const box = $("rates");
  const first = panes[0];
  if (!first?.last) {
    box.textContent = "";
    return;
  }
  const delay = middle(latency);
  const parts = panes.map((pane) => {
    const name = panes.length > 1 ? `${pane.info.kind} ` : "";
    return `${name}<b>${pane.rate.toFixed(0)}</b> pictures/s`;
  });
  parts.push(delay === null ? "press a key to measure the delay" : `key to picture <b>${delay.toFixed(0)}</b> ms`);
  const speed = first.last.rate / first.info.fps;
  if (first.last.rate > 0 && speed < 0.93) parts.push(`<span class="slow">the world runs at ${Math.round(speed * 100)} % of its speed</span>`);
  parts.push(panes.map((pane) => (pane.last ? `${pane.last.width}x${pane.last.height}` : "")).join(" and ") + ` at quality ${first.last.quality}`);
  box.innerHTML = parts.join(" &middot; ");
  box.dataset["rate"] = first.rate.toFixed(1);
  box.dataset["delay"] = delay === null ? "" : delay.toFixed(1);
}

function tell(): void {
  const input = panes.length ? hands?.take(sentKeys) : null;
  if (!input) return;
  sentKeys = input.keys;
  seq += 1;
  sentAt.set(seq, performance.now());
  if (sentAt.size > 200) sentAt.delete(sentAt.keys().next().value ?? 0);
  send({ type: "input", seq, ...input });
}

function connect(): void {
  const token = new URLSearchParams(location.search).get("token");
  const query = token ? `?token=${encodeURIComponent(token)}` : "";
  notice("Connecting...");
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/play${query}`);
  socket.binaryType = "arraybuffer";
  socket.addEventListener("message", (event: MessageEvent<string | ArrayBuffer>) => {
    if (typeof event.data === "string") {
      told(JSON.parse(event.data) as Told);
      return;
    }
    const { head, blob } = unpackPicture(event.data);
    const old = waiting.get(head.pane);
    if (old) send({ type: "seen", picture: old.head.picture });
    waiting.set(head.pane, { head, blob });
    void show();
  });
  socket.addEventListener("close", (event) => {
    ready(false);
    setRecording(false);
    sentKeys = 0;
    notice(`${WHY[event.code] ?? "The connection was closed."} Press Enter or tap to connect again.`, "error");
    const again = (key: Event) => {
      if (key instanceof KeyboardEvent && key.key !== "Enter") return;
      removeEventListener("keydown", again);
      removeEventListener("pointerdown", again);
      connect();
    };
    addEventListener("keydown", again);
    addEventListener("pointerdown", again);
  });
}

$("restart").addEventListener("click", () => send({ type: "reset", seed: 0 }));
$("record").addEventListener("click", () => send({ type: "record", on: !recording }));
document.addEventListener("visibilitychange", () => send({ type: "pause", on: document.hidden }));
setInterval(tell, 1000 / 60);
setInterval(drawRates, 250);
connect();
