// Page: how evenly the table of a large fleet is scrolled, in Chromium, before a real store.
// Owns the bound and the verdict. Leaves the rig and the scrolling to the page's own walk.
// P1  A walk that measured nothing is a failure.

import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const walk = fileURLToPath(new URL("../../apps/dashboard/test/walk/scroll-main.ts", import.meta.url))

/** Two frames of a screen that shows sixty a second. */
const BOUND_MILLIS = 34
const FEWEST_FRAMES = 200
/** Of the work of a frame. More means that a rule makes each row that comes in ask for the styles of the whole page. */
const MOST_STYLES = 1 / 3

interface Pace {
  readonly frames: number
  readonly p50Millis: number
  readonly p99Millis: number
  /** Of the page's own thread, a frame. */
  readonly workMillis: number
  readonly stylesMillis: number
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
    "styles are at most a third of the work":
      wheel.workMillis > 0 && wheel.stylesMillis <= wheel.workMillis * MOST_STYLES,
    "only rows in view are in the document": walked.rows > 0 && walked.rows < FEWEST_FRAMES
  }
  return { ok: Object.values(targets).every(Boolean), ...walked, targets }
}
