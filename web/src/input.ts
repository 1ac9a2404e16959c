// Keyboard, mouse and two thumbs become keys held, keys tapped and mouse counts: what a take records.

const CODES: Record<string, string> = {
  KeyW: "forward", ArrowUp: "forward",
  KeyS: "back", ArrowDown: "back",
  KeyA: "left", ArrowLeft: "left",
  KeyD: "right", ArrowRight: "right",
  ShiftLeft: "run", ShiftRight: "run",
  Space: "jump",
  KeyC: "crouch", ControlLeft: "crouch",
  KeyE: "use",
};
const LOOK_SPEED = 900; // mouse counts a second at the stick's rim: 2.2 rad/s
const MOST = 4000;

export class Hands {
  keys = 0;
  tapped = 0;
  private dx = 0;
  private dy = 0;
  private look = { x: 0, y: 0 };
  private last = performance.now();
  private readonly bits = new Map<string, number>();

  constructor(names: string[], stage: HTMLElement, private readonly sticks: HTMLElement) {
    names.forEach((name, k) => this.bits.set(name, 1 << k));
    addEventListener("keydown", (event) => this.key(event, true));
    addEventListener("keyup", (event) => this.key(event, false));
    addEventListener("blur", () => this.release());
    document.addEventListener("visibilitychange", () => document.hidden && this.release());
    stage.addEventListener("click", (event) => {
      if (event.target instanceof HTMLCanvasElement && matchMedia("(pointer: fine)").matches) void stage.requestPointerLock();
    });
    document.addEventListener("mousemove", (event) => {
      if (document.pointerLockElement !== stage) return;
      this.dx += event.movementX;
      this.dy += event.movementY;
    });
    this.drag(stage);
    this.thumbs();
    const coarse = matchMedia("(pointer: coarse)");
    sticks.hidden = !coarse.matches;
    coarse.addEventListener("change", () => (sticks.hidden = !coarse.matches));
  }

  /** What there is to tell since the last call; null: nothing new. */
  take(before: number): { keys: number; tapped: number; dx: number; dy: number } | null {
    const now = performance.now();
    const seconds = Math.min(0.1, (now - this.last) / 1000);
    this.last = now;
    this.dx += this.look.x * LOOK_SPEED * seconds;
    this.dy += this.look.y * LOOK_SPEED * seconds;
    const [dx, dy] = [this.dx, this.dy].map((v) => Math.max(-MOST, Math.min(MOST, Math.trunc(v)))) as [number, number];
    this.dx -= dx;
    this.dy -= dy;
    const tapped = this.tapped;
    this.tapped = 0;
    return this.keys !== before || tapped || dx || dy ? { keys: this.keys, tapped, dx, dy } : null;
  }

  release(): void {
    this.keys = 0;
    this.look = { x: 0, y: 0 };
  }

  private hold(name: string, down: boolean): void {
    const bit = this.bits.get(name) ?? 0;
    if (down) {
      if (!(this.keys & bit)) this.tapped |= bit;
      this.keys |= bit;
    } else this.keys &= ~bit;
  }

  private key(event: KeyboardEvent, down: boolean): void {
    const name = CODES[event.code];
    if (name === undefined || event.metaKey || event.altKey) return;
    if (event.target instanceof HTMLSelectElement) return;
    if (event.target instanceof HTMLButtonElement) event.target.blur();
    event.preventDefault();
    if (!event.repeat) this.hold(name, down);
  }

  /** Without pointer lock (a browser may refuse it) the picture can be dragged. */
  private drag(stage: HTMLElement): void {
    stage.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse" && event.buttons & 1 && document.pointerLockElement === null && event.target instanceof HTMLCanvasElement) {
        this.dx -= event.movementX;
        this.dy -= event.movementY;
      }
    });
  }

  private thumbs(): void {
    this.stick("stick-walk", (x, y) => {
      this.hold("forward", y < -0.35);
      this.hold("back", y > 0.35);
      this.hold("left", x < -0.35);
      this.hold("right", x > 0.35);
    });
    this.stick("stick-look", (x, y) => {
      const curve = (v: number) => Math.sign(v) * v * v;
      this.look = { x: curve(x), y: curve(y) * 0.7 };
    });
    for (const button of this.sticks.querySelectorAll<HTMLButtonElement>("[data-hold]")) {
      const name = button.dataset["hold"] ?? "";
      button.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        button.setPointerCapture(event.pointerId);
        this.hold(name, true);
        button.setAttribute("aria-pressed", "true");
      });
      const up = () => {
        this.hold(name, false);
        button.setAttribute("aria-pressed", "false");
      };
      button.addEventListener("pointerup", up);
      button.addEventListener("pointercancel", up);
    }
  }

  private stick(id: string, moved: (x: number, y: number) => void): void {
    const stick = document.getElementById(id);
    const knob = stick?.querySelector("span");
    if (!stick || !knob) return;
    let held: number | null = null;
    const put = (x: number, y: number) => {
      const r = stick.clientWidth / 2;
      knob.style.transform = `translate(${x * r * 0.6}px, ${y * r * 0.6}px)`;
      moved(x, y);
    };
    const at = (event: PointerEvent) => {
      const box = stick.getBoundingClientRect();
      const [x, y] = [(event.clientX - box.left - box.width / 2) / (box.width / 2), (event.clientY - box.top - box.height / 2) / (box.height / 2)];
      const far = Math.max(1, Math.hypot(x, y));
      put(x / far, y / far);
    };
    stick.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      held = event.pointerId;
      stick.setPointerCapture(event.pointerId);
      at(event);
    });
    stick.addEventListener("pointermove", (event) => event.pointerId === held && at(event));
    const up = (event: PointerEvent) => {
      if (event.pointerId !== held) return;
      held = null;
      put(0, 0);
    };
    stick.addEventListener("pointerup", up);
    stick.addEventListener("pointercancel", up);
  }
}
