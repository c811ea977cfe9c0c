// Questions: whether the page answers what an audit asks of a fleet of any size, and how soon.
// Owns the verdict. Leaves the fleet, the ways and the reading to the page's own walk.
// Q1  A walk that asked fewer than six questions is a failure, and so is an answer that is absent, false, or a fourth action away.

import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const walk = fileURLToPath(new URL("../../apps/dashboard/test/walk/questions-main.ts", import.meta.url))

const QUESTIONS = 6
const MOST_ACTIONS = 3

interface Walked {
  readonly assistants: number
  readonly gatherMillis: number
  readonly openMillis: number
  readonly firstMillis: number
  readonly answers: ReadonlyArray<{
    readonly asks: string
    readonly actions: number
    readonly millis: number
    readonly missing: ReadonlyArray<string>
  }>
  readonly wrongs: ReadonlyArray<string>
}

export const benchQuestions = async (assistants: number) => {
  const args = ["--disable-warning=ExperimentalWarning", walk, "--assistants", String(assistants)]
  const { status, stderr, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" })
  if (status !== 0) throw new Error(`the walk ended with ${status}: ${stderr.slice(-2_000)}`)
  const walked = JSON.parse(stdout) as Walked
  const targets = Object.fromEntries([
    [
      "six questions were asked, and the page said nothing wrong",
      walked.answers.length === QUESTIONS && walked.wrongs.length === 0
    ],
    ...walked.answers.map(({ actions, asks, missing }) => [
      `"${asks}" is answered in ${MOST_ACTIONS} actions`,
      actions <= MOST_ACTIONS && missing.length === 0
    ])
  ]) as Readonly<Record<string, boolean>>
  return { ok: Object.values(targets).every(Boolean), ...walked, targets }
}
