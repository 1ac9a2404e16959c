"""The command ``worldwright``: parse, call, print. Parts are imported when they are used, so that ``--help`` is quick."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer
import yaml
from rich.console import Console

from worldwright import __version__
from worldwright.errors import WorldwrightError
from worldwright.words import counted

if TYPE_CHECKING:
    from worldwright.verify.verdict import Verdict

PANEL_COLUMNS = 64
"""In a narrower terminal the panels of the help have no room for the names of options, so it is plain text there."""
_MARKUP: Literal["rich"] | None = "rich" if shutil.get_terminal_size().columns >= PANEL_COLUMNS else None

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=_MARKUP,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Worlds that a machine can learn: record, render again, verify, pack.",
)
world_app = typer.Typer(no_args_is_help=True, rich_markup_mode=_MARKUP, help="Make, check and look at worlds.")
app.add_typer(world_app, name="world")

console = Console()
errors = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)

PackOption = Annotated[
    list[str], typer.Option("--pack", metavar="NAME=FOLDER", help="Where a pack of assets lies; may be given several times.")
]
ParamOption = Annotated[
    list[str], typer.Option("--param", "-p", metavar="NAME=VALUE", help="A parameter; may be given several times.")
]
OutOption = Annotated[Path, typer.Option("-o", "--out", help="Where to write.")]
TimeoutOption = Annotated[
    float, typer.Option(min=1, max=1_000_000, help="Seconds without a sign of life after which an engine or a renderer hangs.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _assignments(items: list[str], what: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for item in items:
        name, sign, value = item.partition("=")
        if not sign or not name or not value:
            raise WorldwrightError(f"{item!r} is no assignment", where=f"--{what}", fix=f"write --{what} NAME=VALUE")
        pairs[name] = value
    return pairs


def _packs(items: list[str]) -> dict[str, Path]:
    packs = {name: Path(value).expanduser() for name, value in _assignments(items, "pack").items()}
    for name, path in packs.items():
        if not path.is_dir():
            raise WorldwrightError(f"no such folder {str(path)!r}", where=f"--pack {name}")
    return packs


def _params(items: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in _assignments(items, "param").items():
        try:
            found[name] = yaml.safe_load(value)
            json.dumps(found[name])
        except (yaml.YAMLError, ValueError, TypeError, RecursionError, UnicodeError) as error:
            raise WorldwrightError(
                f"{value[:60]!r} is no plain value", where=f"--param {name}", fix="write a number, a word or a list"
            ) from error
    return found


def _with_progress(title: str, work: Any) -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,  # into a file or a pipe it would write an empty line
    ) as bar:
        task = bar.add_task(title, total=None)
        return work(lambda done, total: bar.update(task, completed=done, total=total))


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        console.print(f"worldwright {__version__}", highlight=False)
        raise typer.Exit


# --- worlds -----------------------------------------------------------------------------------------------------------------


@world_app.command("new")
def world_new(
    family: Annotated[str, typer.Argument(help="The generator's family: courtyard, rooms, playground, dungeon, doom.")],
    out: OutOption,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Another seed, another world.")] = 0,
    param: ParamOption = [],
) -> None:
    """Write a new world of a built-in family."""
    from worldwright.outputs import check_new_file
    from worldwright.world.files import save_world, world_hash
    from worldwright.world.generators import generate

    check_new_file(out, "world", b"format: worldwright.world/")
    world = generate(family, seed, _params(param))
    save_world(world, out)
    console.print(
        f"{out}: {world.name}, {len(world.entities)} entities, {counted(len(world.goals), 'goal')}, id {world_hash(world)[:8]}",
        highlight=False,
    )


@world_app.command("families")
def world_families() -> None:
    """List the built-in families with their parameters."""
    from rich.padding import Padding
    from rich.table import Table

    from worldwright.world.generators import FAMILIES
    from worldwright.world.generators.parameters import parameters_of

    for name, family in FAMILIES.items():
        console.print(f"[bold]{name}[/bold]: {family.description}", highlight=False)
        if console.width < PANEL_COLUMNS:
            for p in parameters_of(family.params):
                line = f"{p.name} = {p.default} ({p.values}): {p.meaning}"
                console.print(Padding(line, (0, 0, 0, 2)), highlight=False, markup=False)
            continue
        table = Table("parameter", "values", "default", "meaning", box=None, padding=(0, 2, 0, 0), header_style="dim")
        for parameter in parameters_of(family.params):
            table.add_row(parameter.name, parameter.values, parameter.default, parameter.meaning)
        console.print(Padding(table, (0, 0, 1, 4)))


@world_app.command("levels")
def world_levels() -> None:
    """List the maps of Doom that the family doom makes worlds of."""
    from worldwright.world.generators.doom import WADS, map_names

    for wad in WADS:
        console.print(f"{wad}: {', '.join(map_names(wad))}", highlight=False)


@world_app.command("show")
def world_show(
    path: Annotated[Path, typer.Argument(help="A world file.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Also render a picture of it, as PNG.")] = None,
    look: Annotated[
        str | None, typer.Option(help="The look of the picture: one of those that worldwright looks lists, or FILE.yaml.")
    ] = None,
    pack: PackOption = [],
    device: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
) -> None:
    """Say what is in a world, and render a picture of it."""
    from worldwright.outputs import check_new_file
    from worldwright.report.world import picture_of_world, stand_ins, summary_of_world
    from worldwright.world.files import load_world, resolve_packs
    from worldwright.world.looks import find_look, put_on

    world = load_world(path)
    if look is not None and out is None:
        raise WorldwrightError("a look is for a picture", where="--look", fix="name the picture with --out")
    shown = world if look is None else put_on(world, find_look(world, look))
    if out is not None:
        check_new_file(out, "picture (PNG)", b"\x89PNG\r\n\x1a\n")
    console.print(summary_of_world(world))
    if out is None and not pack:
        return
    packs = resolve_packs(world, path, _packs(pack))
    for line in stand_ins(world, packs):
        console.print(line, highlight=False, markup=False)
    if out is not None:
        picture_of_world(shown, packs, out, device=device)
        console.print(f"{out}: a picture of it", highlight=False)


@world_app.command("verify")
def world_verify(
    path: Annotated[Path, typer.Argument(help="A world file.")], pack: PackOption = [], as_json: JsonOption = False
) -> None:
    """Run the checks on a world."""
    _verify(path, pack, as_json=as_json)


# --- single steps -----------------------------------------------------------------------------------------------------------


@app.command()
def record(
    world: Annotated[Path, typer.Argument(help="A world file.")],
    out: OutOption,
    policy: Annotated[str, typer.Option(help="explore, grammar, loop or replay.")] = "explore",
    seconds: Annotated[float, typer.Option(min=0.05, max=36_000, help="How long, in the world's time.")] = 20.0,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1)] = 0,
    frame_rate: Annotated[
        int | None,
        typer.Option(
            help="Frames a second: 24, 30, 60, or another divisor of the tick rate. The engine's: 24 (panda), 35 (vizdoom)."
        ),
    ] = None,
    sample_rate: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="States written a second: 120 (panda), 35 (vizdoom).")
    ] = None,
    tick_rate: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="Physics steps a second: 240 (panda), 35 (vizdoom).")
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="panda, vizdoom, or one that another package brings; a name that is not there lists all that are. "
            "The one whose level the world is, else panda."
        ),
    ] = None,
    param: ParamOption = [],
    pack: PackOption = [],
    timeout: TimeoutOption = 1800.0,
) -> None:
    """Record a world being played by a policy: a take."""
    from worldwright.engine.protocol import Habits
    from worldwright.engine.registry import habits_of
    from worldwright.factory.child import in_process
    from worldwright.outputs import check_new_file
    from worldwright.record.loop import RecordReport
    from worldwright.world.files import load_world, resolve_packs, world_hash

    check_new_file(out, "take", b"\x89MCAP")
    spec = load_world(world)
    player = engine or (spec.level.engine if spec.level is not None else "panda")
    habits = habits_of(player) or Habits()
    args = {
        "world": str(world),
        "world_hash": world_hash(spec),
        "packs": {name: str(folder) for name, folder in resolve_packs(spec, world, _packs(pack)).items()},
        "out": str(out),
        "policy": policy,
        "policy_params": _params(param),
        "seconds": seconds,
        "seed": seed,
        "engine": player,
        "tick_rate": tick_rate or habits.tick_rate,
        "frame_rate": frame_rate or habits.frame_rate,
        "sample_rate": sample_rate or habits.sample_rate,
    }
    # In a process of its own: an engine that crashes or hangs is told in a line.
    report = _with_progress(f"record {spec.name}", lambda progress: in_process("record", args, progress, patience=timeout))
    console.print(RecordReport(**report).line(), highlight=False)


@app.command()
def render(
    take: Annotated[Path, typer.Argument(help="A take (.mcap).")],
    out: OutOption,
    camera: Annotated[
        str | None,
        typer.Option(
            help="first, third, orbit[:radius=4,...], fixed:x,y,z,... or a file of camera poses; third unless given, where it was recorded."
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="90p, 180p, 360p, 540p, 720p, 1080p, or WIDTHxHEIGHT; with @16 behind it 16 samples a pixel (pathtraced)."
        ),
    ] = "720p",
    fps: Annotated[
        int | None,
        typer.Option(help="Frames a second: 24, 30, 60, or another divisor of the sample rate; the take's own unless given."),
    ] = None,
    passes: Annotated[str | None, typer.Option(help="Comma-separated; all unless given.")] = None,
    motion_blur: Annotated[bool, typer.Option("--motion-blur", help="Average 8 true sub-frames.")] = False,
    look: Annotated[
        str | None,
        typer.Option(
            help="Another light and weather: noon, fog, night, ...; several, comma-separated, make a shot each, in the folder OUT. "
            "worldwright looks lists them; FILE.yaml holds one of your own."
        ),
    ] = None,
    first: Annotated[int | None, typer.Option(min=0, help="First frame.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="How many frames.")] = None,
    renderer: Annotated[
        str,
        typer.Option(help="raster, pathtraced, vizdoom, or one that another package brings; a name that is not there lists all."),
    ] = "raster",
    device: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
    partial: Annotated[bool, typer.Option("--partial", help="Use what is whole of a take that was cut off.")] = False,
    pack: PackOption = [],
    timeout: TimeoutOption = 1800.0,
) -> None:
    """Render a take again: a shot, with every pass."""
    from worldwright.factory.child import render_in_process
    from worldwright.render.passes import ALL_PASSES

    names: list[str | None] = [*look.split(",")] if look else [None]
    called: list[str | None] = [None]
    if look is not None:
        from worldwright.take.reader import Take
        from worldwright.world.looks import find_looks

        # All of them before the first is rendered.
        with Take.open(take, partial=partial) as opened:
            called = [found.name for found in find_looks(opened.header.world, look.split(","))]
    for name, folder in zip(names, called, strict=True):
        place = out / folder if folder and len(names) > 1 else out
        report = _with_progress(
            f"render {take.name}{f' {folder}' if folder else ''}",
            lambda progress, name=name, place=place: render_in_process(
                take,
                place,
                camera=camera,
                preset=preset,
                fps=fps,
                passes=tuple(passes.split(",")) if passes else ALL_PASSES,
                motion_blur=motion_blur,
                look=name,
                first=first,
                count=count,
                packs=_packs(pack),
                renderer=renderer,
                device=device,
                partial=partial,
                progress=progress,
                patience=timeout,
            ),
        )
        console.print(report.line(), highlight=False)


def _verify(path: Path, pack: list[str], *, as_json: bool, fast: bool = False, jobs: int | None = 1) -> None:
    from worldwright.verify.run import verify_path

    verdict = _with_progress(
        f"verify {path.name}", lambda progress: verify_path(path, _packs(pack), fast=fast, workers=jobs, progress=progress)
    )
    _tell(verdict, as_json)


def _tell(verdict: Verdict, as_json: bool) -> None:
    """Print a verdict; one that does not hold ends the command with 1."""
    from worldwright.verify.show import print_verdict

    if as_json:
        sys.stdout.write(json.dumps(verdict.as_dict(), indent=1) + "\n")
    else:
        print_verdict(verdict)
    if not verdict.passed:
        raise typer.Exit(1)


@app.command()
def verify(
    path: Annotated[Path, typer.Argument(help="A world, take, shot or dataset.")],
    pack: PackOption = [],
    as_json: JsonOption = False,
    fast: Annotated[bool, typer.Option("--fast", help="Render only a sample of the frames again.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, max=256, help="Processes for the frames of a shot; one a core unless given."),
    ] = None,
) -> None:
    """Check that something is true. Exits 0 only when every check holds."""
    _verify(path, pack, as_json=as_json, fast=fast, jobs=jobs)


@app.command()
def conformance(
    kind: Annotated[Literal["engine", "renderer"], typer.Argument(help="engine or renderer.")],
    name: Annotated[str, typer.Argument(help="Its name; one that is not there lists all that are.")],
    self_test: Annotated[
        bool, typer.Option("--self-test", help="Try the suite instead: spoil the adapter in every known way; each must be caught.")
    ] = False,
    world: Annotated[Path | None, typer.Option(help="Try an engine in this world instead of the suite's own.")] = None,
    case: Annotated[list[str], typer.Option("--case", help="Only this case; may be given several times.")] = [],
    seconds: Annotated[float, typer.Option(min=1, max=36_000, help="A case that takes longer than this hangs.")] = 180.0,
    device: Annotated[str, typer.Option(help="auto, cpu or gpu, for a renderer.")] = "auto",
    pack: PackOption = [],
    as_json: JsonOption = False,
) -> None:
    """Try whether an engine or a renderer, ours or another package's, does what it must. Exits 0 only when every case holds."""
    from worldwright.conformance.run import run_suite
    from worldwright.conformance.run import self_test as run_self_test
    from worldwright.conformance.subjects import Request

    packs = {key: str(folder) for key, folder in _packs(pack).items()}
    request = Request(kind, name, device, None if world is None else str(world), packs)
    verdict = _with_progress(
        f"conformance {name}",
        lambda progress: (
            run_self_test(request, seconds=seconds, progress=progress)
            if self_test
            else run_suite(request, only=case or None, seconds=seconds, progress=progress)
        ),
    )
    _tell(verdict, as_json)


@app.command()
def looks(
    world: Annotated[Path | None, typer.Argument(help="A world file: its own looks, too.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the looks that a take can be rendered in."""
    from rich.table import Table

    from worldwright.world.files import load_world
    from worldwright.world.looks import LOOKS, known_looks

    known = LOOKS if world is None else known_looks(load_world(world))
    if as_json:
        sys.stdout.write(json.dumps([look.model_dump(mode="json") for look in known.values()], indent=1) + "\n")
        return
    table = Table("look", "is", box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name, look in known.items():
        whose = "" if look is LOOKS.get(name) else "(the world's own)"
        table.add_row(name, " ".join(part for part in (look.description, whose) if part))
    console.print(table)


@app.command()
def seal(shot: Annotated[Path, typer.Argument(help="A shot folder.")]) -> None:
    """Compute a shot's hashes anew: for adapters that write or edit shots of their own."""
    from worldwright.render.shot import seal as run

    run(shot)
    console.print(f"{shot}: sealed; hashes say nothing about truth: worldwright verify does", highlight=False)


@app.command()
def pack(
    shots: Annotated[list[Path], typer.Argument(help="Shot folders.")],
    out: OutOption,
    tier: Annotated[str, typer.Option(help="master (lossless) or compact (video within declared errors).")] = "master",
    name: Annotated[str, typer.Option()] = "dataset",
    allow_unverified: Annotated[bool, typer.Option("--allow-unverified", help="Do not verify the shots first.")] = False,
    pack: PackOption = [],
) -> None:
    """Pack shots into a LeRobotDataset v3."""
    from worldwright.dataset.pack import check_request
    from worldwright.dataset.pack import pack as run
    from worldwright.verify.run import verify_path

    check_request(shots, out, tier)
    verdicts: dict[Path, dict[str, Any]] = {}
    if not allow_unverified:
        for shot in shots:
            verdict = _with_progress(
                f"verify {shot.name}", lambda progress, shot=shot: verify_path(shot, _packs(pack), progress=progress)
            )
            verdicts[shot] = verdict.as_dict()
            if not verdict.passed:  # it is refused: the others need not be looked at
                break
    report = _with_progress(
        "pack",
        lambda progress: run(
            shots, out, tier=tier, name=name, verdicts=verdicts, allow_unverified=allow_unverified, progress=progress
        ),
    )
    console.print(report.line(), highlight=False)


@app.command()
def view(
    path: Annotated[Path, typer.Argument(help="A take or a shot.")],
    save: Annotated[Path | None, typer.Option(help="Write a Rerun recording (.rrd) instead of opening the viewer.")] = None,
    pack: PackOption = [],
) -> None:
    """Open a take or a shot in Rerun (extra ``view``)."""
    from worldwright.report.view import view as run

    run(path, _packs(pack), save=save)
    if save is not None:
        console.print(f"{save}: a Rerun recording of it", highlight=False)


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Where to write; RUN/report unless given.")] = None,
) -> None:
    """Write the report of a run: a page that opens without a network."""
    from worldwright.report.html import write_report

    target = out or run / "report"
    write_report(run, target)
    console.print(f"report: {target / 'index.html'}", highlight=False)


# --- all of it --------------------------------------------------------------------------------------------------------------


def _make(recipe: Any, recipe_folder: Path, out: Path, packs: dict[str, Path], jobs: int | None) -> None:
    from worldwright.factory.local import only_one, run_plan
    from worldwright.factory.plan import make_plan
    from worldwright.factory.recipe import recipe_packs
    from worldwright.factory.watch import watcher
    from worldwright.outputs import write_text
    from worldwright.report.html import write_report

    started = time.perf_counter()
    with only_one(out, recipe.name):
        plan = make_plan(recipe, recipe_folder, out, recipe_packs(recipe, recipe_folder, packs))
        with watcher(plan, errors) as watch:
            outcome = run_plan(plan, watch, slots=jobs)
        summary = {
            "format": "worldwright.run/1",
            "name": recipe.name,
            "recipe": recipe.model_dump(mode="json"),
            "packs": {name: str(path.resolve()) for name, path in plan.packs.items()},
            "tasks": [task.id for task in plan.tasks],
            "task_names": {task.id: f"{task.kind} {task.name}" for task in plan.tasks},
            "errors": outcome.errors,
            "held": outcome.held,
            "wall_s": outcome.wall_s,
        }
        write_text(out / "run.json", json.dumps(summary, indent=1))
        write_report(out, out / "report")
    false = [record for record in outcome.answers.values() if record["kind"] == "verify" and not record["result"]["passed"]]
    frames = sum(record["result"]["frames"] for record in outcome.answers.values() if record["kind"] == "render")
    for ident, error in outcome.errors.items():
        task = next(task for task in plan.tasks if task.id == ident)
        errors.print(f"failed: {task.kind} {task.name}: {error}")
    for record in false:
        bad = [check["name"] for check in record["result"]["checks"] if not check["passed"] and not check["skipped"]]
        errors.print(f"not true: {record['name']}: {', '.join(bad)}")
    takes, shots = len(plan.of_kind("record")), len(plan.of_kind("render"))
    true = (
        len(plan.of_kind("verify"))
        - len(false)
        - sum(t.kind == "verify" and t.id in {*outcome.errors, *outcome.held} for t in plan.tasks)
    )
    console.print(
        f"{counted(takes, 'take')}, {counted(shots, 'shot')}, {counted(frames, 'frame')}; {true} of {counted(shots, 'shot')} verified; {time.perf_counter() - started:.0f} s",
        highlight=False,
    )
    for task in plan.of_kind("pack"):
        if task.id in outcome.answers:
            console.print(f"dataset: {task.out}", highlight=False)
    console.print(f"report:  {out / 'report' / 'index.html'}", highlight=False)
    if outcome.errors or false:
        raise typer.Exit(1)


@app.command()
def make(
    recipe: Annotated[Path, typer.Argument(help="A recipe file.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The run's folder; runs/NAME unless given.")] = None,
    pack: PackOption = [],
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, max=256, help="Tasks at once; one a core unless given.")
    ] = None,
) -> None:
    """Make all that a recipe says. Run it again and it goes on where it stopped."""
    from worldwright.factory.recipe import load_recipe

    loaded = load_recipe(recipe)
    _make(loaded, recipe.parent, out or Path("runs") / loaded.name, _packs(pack), jobs)


@app.command()
def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="The run's folder.")] = Path("runs/demo"),
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, max=256)] = None,
    engine: Annotated[
        str, typer.Option(help="Who plays: panda, vizdoom (in two maps of its own), or another package's.")
    ] = "panda",
    renderer: Annotated[str | None, typer.Option(help="Comma-separated; a shot each.")] = None,
    look: Annotated[
        str | None, typer.Option(help="Comma-separated; a shot each: worldwright looks lists them; world is the world's own light.")
    ] = None,
) -> None:
    """Make the demo: three worlds, three policies, two cameras, verified, packed, with a report."""
    from worldwright.factory.recipe import demo_recipe

    renderers = renderer.split(",") if renderer else None
    looks = [None if name == "world" else name for name in look.split(",")] if look else None
    _make(demo_recipe(engine, renderers, looks), Path.cwd(), out, {}, jobs)


@app.command()
def train(
    dataset: Annotated[Path | None, typer.Argument(help="A packed dataset with depth, of one camera and size.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The model's folder; OUT.run beside it keeps the run.")] = None,
    preset: Annotated[str, typer.Option(help="tiny (a CPU), small (one GPU) or large (many).")] = "tiny",
    steps: Annotated[
        list[str],
        typer.Option("--steps", metavar="STAGE=STEPS", help="Of codec, bidirectional, forcing; may be given several times."),
    ] = [],
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Of all that is random.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
    save_every: Annotated[int, typer.Option(min=1, help="Steps from one save, and one picture, to the next.")] = 100,
    describe: Annotated[bool, typer.Option("--describe", help="Print what the preset is and costs, and stop.")] = False,
) -> None:
    """Train a world model on a dataset. Run the same command again to go on after a stop."""
    _need("torch", "train")
    if describe:
        from worldwright.train.describe import describe as lines

        for line in lines(preset):
            console.print(line, highlight=False)
        return
    if dataset is None or out is None:
        raise WorldwrightError("which dataset, and which folder?", fix="worldwright train DATASET -o MODEL")
    from worldwright.train.run import Steps
    from worldwright.train.run import train as run
    from worldwright.train.watch import Watch

    with Watch(errors) as watch:
        outcome = run(
            dataset,
            out,
            preset_name=preset,
            steps=Steps.of(_assignments(steps, "steps")),
            seed=seed,
            device=device,
            save_every=save_every,
            tell=watch.step,
            tell_prepared=watch.prepared,
        )
    console.print(f"{outcome.folder}: {outcome.parameters:,} parameters, trained on {outcome.frames:,} frames", highlight=False)


@app.command()
def evaluate(
    model: Annotated[Path, typer.Argument(help="A model's folder.")],
    dataset: Annotated[Path, typer.Argument(help="A packed dataset of takes that it was not trained on.")],
    out: OutOption,
    device: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
    steps: Annotated[int | None, typer.Option(min=1, max=64, help="Of denoising a frame; the model's own unless given.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Of the model's noise.")] = 0,
    frames: Annotated[int, typer.Option(min=1, help="Frames of each take at most.")] = 510,
    world: Annotated[
        Path | None, typer.Option(help="The takes' world file: also measure how much of the walker's ways lies in its walls.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge a world model against the engine's own pictures, and against what it must beat."""
    _need("torch", "train")
    from worldwright.evaluate.run import evaluate as run
    from worldwright.evaluate.table import table

    figures = _with_progress(
        f"evaluate {model.name}",
        lambda progress: run(model, dataset, out, device=device, steps=steps, seed=seed, most=frames, world=world, tell=progress),
    )
    if as_json:
        sys.stdout.write((out / "figures.json").read_text() + "\n")
        return
    console.print(table(figures))
    console.print(f"page: {out / 'index.html'}", highlight=False)


def _need(module: str, extra: str) -> None:
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise WorldwrightError(f"{module} is not installed", fix=f"pip install 'worldwright[{extra}]'")


@app.command()
def serve(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="WORLD_OR_MODEL...", help="World files and models' folders; a world and a model are also played side by side."
        ),
    ],
    host: Annotated[
        str, typer.Option(help="The address to listen on; any but this machine's own asks visitors for a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8642,
    token: Annotated[str | None, typer.Option(help="Ask for this token instead of one that is made.")] = None,
    name: Annotated[list[str], typer.Option(help="A host name by which the page is called; may be given several times.")] = [],
    size: Annotated[str, typer.Option(help="Of a world's pictures, WIDTHxHEIGHT.")] = "640x360",
    look: Annotated[str | None, typer.Option(help="Another light and weather for worlds.")] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, max=64, help="Denoising steps a frame of models; their own unless given.")
    ] = None,
    visitors: Annotated[int, typer.Option(min=1, max=64, help="How many play at once.")] = 4,
    idle: Annotated[float, typer.Option(min=5, max=86_400, help="Seconds without input after which a visitor is let go.")] = 300.0,
    takes: Annotated[Path, typer.Option(help="Where recordings go.")] = Path("runs/takes"),
    device: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
    pack: PackOption = [],
) -> None:
    """Walk in worlds and models in a browser; a person's play becomes a take."""
    try:
        from worldwright.serve.app import run
    except ImportError as error:
        raise WorldwrightError(
            f"the server is not installed ({error})", where="serve", fix="in the checkout: .venv/bin/pip install -e '.[serve]'"
        ) from error
    from worldwright.render.presets import parse_preset
    from worldwright.serve.guard import Guard, token_for
    from worldwright.serve.scenes import Settings, find_scenes

    asked = token_for(host, token)
    preset = parse_preset(size)
    packs = {key: str(folder.absolute()) for key, folder in _packs(pack).items()}
    settings = Settings(preset.width, preset.height, look, packs, device, steps)
    run(
        find_scenes(paths),
        settings,
        Guard.of(host, asked, tuple(name)),
        host=host,
        port=port,
        takes=takes,
        most=visitors,
        idle_s=idle,
        ready=lambda address: console.print(f"{address}  (Ctrl-C ends it)", highlight=False, soft_wrap=True),
    )


_STOPPED = "stopped: what was finished is kept; run the same command again to go on"


def _fail(line: str, status: int) -> NoReturn:
    # From here on another Ctrl-C has nothing to stop, and would only cut the message.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        errors.print(line)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    sys.exit(status)


def _reader_gone(self: Console) -> None:
    raise BrokenPipeError


def main() -> NoReturn:
    """Run the command. Every user error is one line and exit status 2; a check that does not hold is 1; Ctrl-C is 130."""
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    # Rich ends the program with 1 when the reader of its output has gone: to a script that would mean that a check does not hold.
    Console.on_broken_pipe = _reader_gone  # type: ignore[method-assign]
    try:
        status = app(standalone_mode=False)
    except WorldwrightError as error:
        _fail(f"error: {error.line()}", 2)
    except (KeyboardInterrupt, typer.Abort):
        _fail(_STOPPED, 130)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except typer.TyperException as error:
        _fail(f"error: {' '.join(error.format_message().split())}; worldwright --help says what there is", 2)
    except BrokenPipeError:
        # The reader of our output has gone (``| head``).
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(141)
    except OSError as error:
        name = str(error.filename or "")
        fix = "free some space and run the same command again" if error.errno == errno.ENOSPC else ""
        _fail(f"error: {WorldwrightError(error.strerror or str(error), where=name, fix=fix).line()}", 2)
    except MemoryError:
        _fail("error: out of memory; use a smaller preset or fewer --jobs", 2)
    except Exception as error:
        if os.environ.get("WORLDWRIGHT_DEBUG"):
            raise
        _fail(
            f"error: internal: {type(error).__name__}: {' '.join(str(error).split())}; set WORLDWRIGHT_DEBUG=1 for where, and report it",
            3,
        )
    if status == 130:  # Typer makes this status of a KeyboardInterrupt
        _fail(_STOPPED, 130)
    sys.exit(status if isinstance(status, int) else 0)
