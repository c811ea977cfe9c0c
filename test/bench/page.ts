// Page: how evenly the table of a large fleet is scrolled, in Chromium, before a real store.
// Owns the bound and the verdict. Leaves the rig and the scrolling to the page's own walk.
// P1  A walk that measured nothing is a failure.

import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const walk = fileURLToPath(new URL("../../apps/dashboard/test/walk/scroll-main.ts", import.meta.url))

/** Two frames of a screen that shows sixty a second. */
const BOUND_MILLIS = 34
const FEWEST_FRAMES = 200

interface Pace {
  readonly frames: number
  readonly p50Millis: number
  readonly p99Millis: number
}

interface Walked {
  readonly assistants: number
  /** In the document while so many are in the table. */
  readonly rows: number
  readonly paces: { readonly wheel: Pace; readonly drag: Pace }
  readonly wrongs: ReadonlyArray<string>
}

export const benchPage = async (assistants: number) => {
  const args = ["--disable-warning=ExperimentalWarning", walk, "--assistants", String(assistants)]
  const { status, stderr, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" })
  if (status !== 0) throw new Error(`the walk ended with ${status}: ${stderr.slice(-2_000)}`)
  const walked = JSON.parse(stdout) as Walked
  const { wheel } = walked.paces
  const targets = {
    [`p99 of frames with a wheel ≤ ${BOUND_MILLIS} ms`]:
      wheel.frames > FEWEST_FRAMES && wheel.p99Millis <= BOUND_MILLIS,
    "only rows in view are in the document": walked.rows > 0 && walked.rows < FEWEST_FRAMES
  }
  return { ok: Object.values(targets).every(Boolean), ...walked, targets }
}
