// Chromium: where the one is that tests of the page use.

import { existsSync } from "node:fs"

/** The one without a window first: a page in it takes a third of the CPU time, with the same engine. */
const usual = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"]

/** Undefined where there is none. */
export const chromiumPath = [process.env["CHROMIUM_PATH"] ?? "", ...usual].find((path) => existsSync(path))
