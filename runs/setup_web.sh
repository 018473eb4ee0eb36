#!/usr/bin/env bash
# Makes web/node_modules for the monitor's page, and finds a browser for its tests; does nothing if both are there.
# Without node, or where packages cannot be had, it says so and the page is not built: nothing else needs it.
set -euo pipefail
cd "$(dirname "$0")/../web"

new_enough='const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)'
if ! command -v npm >/dev/null || ! node -e "$new_enough"; then
    echo "the page is left out: there is no node 20.19 or newer; the monitor shows its built-in page"
    exit 0
fi
if [ ! -f node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    if ! npm ci --silent --no-progress; then
        echo "the page is left out: its packages cannot be had"
        exit 0
    fi
    touch node_modules/.package-lock.json
fi
if ! command -v chromium-headless-shell >/dev/null && ! command -v chromium >/dev/null \
    && ! command -v google-chrome >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    # The one without windows costs the tests a quarter less processor time; not every distribution has it.
    get_browser() { apt-get install -y -q chromium-headless-shell || apt-get install -y -q chromium; }
    { get_browser || { apt-get update -q && get_browser; }; } >/dev/null 2>&1 \
        || echo "no browser: the tests of the page in a browser are skipped"
fi
