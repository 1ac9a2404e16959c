#!/usr/bin/env bash
# Sets up everything that the Makefile's targets need: system libraries, a virtual environment in .venv, locked packages.
# usage: scripts/setup.sh base|dev|bench. Does nothing when it is already done for the same locks.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-base}

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: error: %s\n' "$*" >&2; exit 2; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif sudo -n true 2>/dev/null; then sudo "$@"; else return 1; fi
}

# Installs Debian packages where that is allowed; otherwise one line names them.
need_packages() {
    say "installing system packages: $*"
    if ! command -v apt-get >/dev/null || ! as_root env DEBIAN_FRONTEND=noninteractive sh -c \
        "apt-get install -y -qq $* >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq $* >/dev/null; }"; then
        die "these system packages are missing: $* (as root: apt-get install $*)"
    fi
}

has_library() { ldconfig -p 2>/dev/null | grep -q "$1" || /sbin/ldconfig -p 2>/dev/null | grep -q "$1"; }

find_python() {
    for name in "${PYTHON:-}" python3.11 python3.12 python3.13 python3.14 python3; do
        [ -n "$name" ] || continue
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return 0
        fi
    done
    return 1
}

case $what in
    base) locks="requirements/base.txt" ;;
    dev) locks="requirements/dev.txt requirements/train.txt" ;;
    bench) locks="requirements/dev.txt requirements/train.txt" ;;
    *) die "unknown set-up $what: base, dev or bench" ;;
esac

missing=""
has_library 'libEGL\.so\.1' || missing="$missing libegl1"
has_library 'libEGL_mesa\.so\.0' || missing="$missing libegl-mesa0"
compgen -G '/usr/lib*/dri/*_dri.so' >/dev/null || compgen -G '/usr/lib/*/dri/*_dri.so' >/dev/null || compgen -G '/usr/lib/*/libgallium*.so' >/dev/null || missing="$missing libgl1-mesa-dri"
has_library 'libGL\.so\.1' || missing="$missing libgl1"
# shellcheck disable=SC2086
[ -z "$missing" ] || need_packages $missing

# The path tracer compiles its kernels with LLVM 17 or newer; without it it is slow, so it is wished for and not needed.
if [ "$what" != base ] && ! has_library 'libLLVM[-.]\(so\.\)\?\(1[7-9]\|2[0-9]\)'; then
    say "installing LLVM for path tracing"
    as_root env DEBIAN_FRONTEND=noninteractive sh -c '
        install() { for v in 19 20 18 17; do apt-get install -y -qq "libllvm$v" >/dev/null 2>&1 && return 0; done; return 1; }
        install || { apt-get update -qq && install; }' ||
        say "no LLVM 17 or newer to be had: path tracing will be slow (as root: apt-get install libllvm19)"
fi

# The page is tested in a real browser; without one those tests are skipped and say so.
if [ "$what" != base ] && ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
    say "installing Chromium for the tests of the page"
    as_root env DEBIAN_FRONTEND=noninteractive sh -c \
        'apt-get install -y -qq chromium >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq chromium >/dev/null 2>&1; }' ||
        say "no Chromium to be had: the tests of the page are skipped (as root: apt-get install chromium)"
fi

python=$(find_python) || { need_packages python3 python3-venv; python=$(find_python) || die "Python 3.11 or newer is needed; name it with PYTHON=..."; }

# shellcheck disable=SC2086
stamp=".venv/.done-$what-$(cat $locks pyproject.toml scripts/setup.sh | cksum | tr ' ' '-')"
[ ! -e "$stamp" ] || exit 0

say "system libraries are there"
if [ ! -x .venv/bin/python ] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    say "virtual environment .venv with $("$python" --version)"
    rm -rf .venv
    "$python" -m venv .venv 2>/dev/null || {
        rm -rf .venv
        need_packages "$(basename "$(readlink -f "$(command -v "$python")")")-venv"
        "$python" -m venv .venv || die "could not make a virtual environment with $python"
    }
fi
# shellcheck disable=SC2086
say "$(cat $locks | grep -c "==") packages from $locks into .venv, a minute or more"
for lock in $locks; do
    case $lock in
        *train*)
            # torch: its build for CPUs where a file of it is at hand (pip's find-links), else PyPI's with NVIDIA's libraries, some gigabytes.
            .venv/bin/python -m pip install -qq --disable-pip-version-check --require-hashes --no-deps -r "$lock" -r requirements/train-cpu.txt 2>/dev/null || {
                say "torch with what its build for GPUs needs, some gigabytes"
                .venv/bin/python -m pip install -qq --disable-pip-version-check --require-hashes --no-deps -r "$lock" -r requirements/train-cuda.txt
            }
            ;;
        *) .venv/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r "$lock" ;;
    esac
done
.venv/bin/python -m pip install -qq --disable-pip-version-check --no-build-isolation --no-deps -e .
if [ "$what" = bench ]; then
    # Blender (Cycles), the peer of the rendering benchmark, in an environment of its own: it wants Python 3.11 and an older numpy.
    for name in libxi6 libxxf86vm1 libxfixes3 libxrender1 libxkbcommon0 libsm6 libgomp1; do
        dpkg -s "$name" >/dev/null 2>&1 || blender="${blender:-} $name"
    done
    # shellcheck disable=SC2086
    [ -z "${blender:-}" ] || need_packages $blender
    command -v python3.11 >/dev/null || die "the rendering benchmark's peer (bpy 4.5) needs python3.11"
    say "Blender for the benchmark into .venv-bpy"
    python3.11 -m venv .venv-bpy
    .venv-bpy/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/bench.txt
fi
# Where Python may not write bytecode (PYTHONDONTWRITEBYTECODE), every process would compile all that it imports: seconds each time.
.venv/bin/python -m compileall -qq -j 0 .venv/lib src >/dev/null 2>&1 || true # some packages ship tests in older dialects
touch "$stamp"
say "done in $SECONDS s"
