// Lane: runs rows one after the other, each in a scene of its own, and judges what they found.
// L1  A row that ran no command or examined nothing has failed, and so has one that broke off.
// L2  Nothing is published, and nothing outside temporary folders is written.

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Finding, Row } from "./rows.ts"
import { type Ran, Scene } from "./scene.ts"

export interface Verdict {
  readonly row: string
  readonly ok: boolean
  readonly examined: number
  readonly problems: ReadonlyArray<string>
  readonly seconds: number
  readonly commands: ReadonlyArray<Ran>
  readonly figures: Readonly<Record<string, number>>
}

export interface LaneReport {
  readonly ok: boolean
  readonly rows: ReadonlyArray<Verdict>
  readonly examined: number
}

export interface LaneOptions {
  readonly tarball: string
  readonly rows: ReadonlyArray<Row>
  readonly isShort: boolean
  readonly progress: (line: string) => void
}

const problemOf = ([says, , found = ""]: Finding): string =>
  `not so: ${says}${found.trim() === "" ? "" : `; found: ${found.trim().slice(0, 1_500)}`}`

const judged = async (row: Row, scene: Scene): Promise<Verdict> => {
  const begun = performance.now()
  const figures: Record<string, number> = {}
  const problems: Array<string> = []
  let findings: ReadonlyArray<Finding> = []
  try {
    findings = await row.run(scene, (name, value) => (figures[name] = value))
    problems.push(...findings.filter(([, holds]) => !holds).map(problemOf))
  } catch (error) {
    problems.push(`it broke off: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (findings.length === 0 || scene.ran.length === 0) problems.push("it examined nothing")
  const seconds = Math.round((performance.now() - begun) / 100) / 10
  const ok = problems.length === 0
  return { row: row.name, ok, examined: findings.length, problems, seconds, commands: scene.ran, figures }
}

export const runLane = async ({ isShort, progress, rows, tarball }: LaneOptions): Promise<LaneReport> => {
  const verdicts: Array<Verdict> = []
  const nodes = mkdtempSync(join(tmpdir(), "reverie-nodes-"))
  try {
    for (const row of rows) {
      const scene = new Scene(tarball, isShort, nodes)
      const verdict = await judged(row, scene).finally(() => scene.close())
      verdicts.push(verdict)
      progress(`${row.name}: ${verdict.ok ? "works" : `FAILED: ${verdict.problems.join("; ")}`} (${verdict.seconds} s)`)
    }
  } finally {
    rmSync(nodes, { recursive: true, force: true })
  }
  return {
    ok: verdicts.length > 0 && verdicts.every(({ ok }) => ok),
    rows: verdicts,
    examined: verdicts.reduce((sum, { examined }) => sum + examined, 0)
  }
}
