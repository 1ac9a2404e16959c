// What the server says. The same words as serve/messages.py and serve/visit.py.

export interface SceneInfo {
  scene: number;
  title: string;
  kinds: ("engine" | "model")[];
}

export interface PaneInfo {
  kind: "engine" | "model";
  fps: number;
  width: number;
  height: number;
}

export type Told =
  | { type: "hello"; scenes: SceneInfo[]; keys: string[]; idle_s: number }
  | { type: "opening"; scene: number }
  | { type: "opened"; scene: number; memory: Memory; panes: PaneInfo[] }
  | { type: "recording"; on: boolean }
  | { type: "take"; file: string; folder: string }
  | { type: "verdict"; file: string; passed: boolean }
  | { type: "error"; line: string }
  | { type: "closed" };

export type Memory = "capture" | "imagination";

export interface PictureHead {
  picture: number;
  pane: number;
  frame: number;
  rate: number;
  quality: number;
  format: string;
  width: number;
  height: number;
  ms: number;
  step_ms: number;
  seq: number;
  recording: boolean;
  info: { known?: number; flags?: number };
}

export function unpackPicture(data: ArrayBuffer): { head: PictureHead; blob: Blob } {
  const length = new DataView(data).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))) as PictureHead;
  return { head, blob: new Blob([new Uint8Array(data, 4 + length)], { type: head.format }) };
}
