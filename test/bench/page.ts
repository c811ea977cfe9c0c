// Page: how evenly a table of ten thousand rows is scrolled, in Chromium.
// Owns asking for it and reading the figure. Leaves the house and the scrolling to the page's own walk.
// P1  A walk that measured nothing is a failure.

import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Two frames of a screen that shows sixty a second. */
const BOUND_MILLIS = 34

export const benchPage = async () => {
  const args = ["vitest", "run", "apps/dashboard/test/walk", "--project", "page", "-t", "ten thousand rows"]
  const { stderr, stdout } = spawnSync("npx", args, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" }
  })
  const found = /frames: (\d+), p50 ([\d.]+) ms, p99 ([\d.]+) ms/.exec(`${stdout}${stderr}`)
  const [frames, p50, p99] = [found?.[1], found?.[2], found?.[3]].map(Number)
  const isMeasured = found !== null && frames !== undefined && frames > 200
  const target = isMeasured && p99 !== undefined && p99 <= BOUND_MILLIS
  return { ok: target, frames, p50Millis: p50, p99Millis: p99, targets: { p99: target } }
}
