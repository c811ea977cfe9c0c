// Page: how evenly a table of ten thousand rows is scrolled, in Chromium.
// Owns asking for it and reading the figures. Leaves the rig and the scrolling to the page's own walk.
// P1  A walk that measured nothing is a failure.

import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Two frames of a screen that shows sixty a second. */
const BOUND_MILLIS = 34

export const benchPage = async () => {
  const args = ["vitest", "run", "apps/dashboard/test/walk", "--project", "page", "-t", "ten thousand rows"]
  const env = { ...process.env, NO_COLOR: "1" }
  const { stderr, stdout } = spawnSync("npx", args, { cwd: root, encoding: "utf8", env })
  const found = `${stdout}${stderr}`.matchAll(/(\w+): (\d+) frames, p50 ([\d.]+) ms, p99 ([\d.]+) ms/g)
  const paces = Object.fromEntries(
    [...found].map(([, pace = "", frames, p50, p99]) => [
      pace,
      { frames: Number(frames), p50Millis: Number(p50), p99Millis: Number(p99) }
    ])
  )
  const wheel = paces["wheel"]
  const isEven = wheel !== undefined && wheel.frames > 200 && wheel.p99Millis <= BOUND_MILLIS
  return { ok: isEven, paces, targets: { "p99 of frames with a wheel": isEven } }
}
