// A picture beside the other: canvases, what they show, and how fast it comes.

import { type Memory, type PaneInfo, type PictureHead } from "./wire";

const MEMORY_TEXT: Record<Memory, string> = {
  capture: "memory from the capture",
  imagination: "imagination: no memory but its own",
};

export class Pane {
  readonly canvas = document.createElement("canvas");
  last: PictureHead | null = null;
  private readonly context: CanvasRenderingContext2D | null;
  private readonly label = document.createElement("div");
  private readonly known = document.createElement("span");
  private readonly rec = document.createElement("span");
  private times: number[] = [];

  constructor(readonly info: PaneInfo, memory: Memory, root: HTMLElement) {
    const pane = document.createElement("div");
    pane.className = "pane";
    pane.dataset["kind"] = info.kind;
    this.canvas.width = info.width;
    this.canvas.height = info.height;
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.label.className = "label";
    this.add(info.kind === "engine" ? "engine: the world itself" : "model: dreamed");
    if (info.kind === "model") {
      this.add(MEMORY_TEXT[memory]).className = "memory";
      this.label.append(this.known);
      this.known.hidden = true;
    }
    this.rec.className = "rec";
    this.rec.textContent = "recording";
    this.rec.hidden = true;
    this.label.append(this.rec);
    pane.append(this.canvas, this.label);
    root.append(pane);
  }

  draw(head: PictureHead, picture: ImageBitmap): void {
    if (this.canvas.width !== picture.width || this.canvas.height !== picture.height) {
      this.canvas.width = picture.width;
      this.canvas.height = picture.height;
    }
    this.context?.drawImage(picture, 0, 0);
    this.last = head;
    this.canvas.dataset["frame"] = String(head.frame);
    this.rec.hidden = !head.recording;
    if (head.info.known !== undefined) {
      this.known.hidden = false;
      this.known.textContent = `${Math.round(head.info.known * 100)} % of the view remembered`;
    }
    const now = performance.now();
    this.times.push(now);
    while (this.times.length && now - (this.times[0] ?? now) > 2000) this.times.shift();
  }

  /** Pictures a second on the screen, over the last two seconds. */
  get rate(): number {
    const now = performance.now();
    const within = this.times.filter((t) => now - t <= 2000);
    const first = within[0];
    return first === undefined || within.length < 2 ? 0 : ((within.length - 1) * 1000) / Math.max(1, now - first);
  }

  private add(text: string): HTMLSpanElement {
    const span = document.createElement("span");
    span.textContent = text;
    this.label.append(span);
    return span;
  }
}
