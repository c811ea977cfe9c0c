// Lane: runs rows one after the other, each in a scene of its own, and judges what they found.
// L1  A row that ran no command or examined nothing has failed, and so has one that broke off.
// L2  Nothing is published, and nothing outside temporary folders is written.
// L3  A planted break counts as found only when its row fails with it and was carried through.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { tarballOf } from "../../scripts/pack.ts"
import { unpacked } from "./rows.ts"
import { type Finding, type Ran, type Row, Scene } from "./scene.ts"

/** A break of the package that its row must find. */
export interface Plant {
  readonly name: string
  readonly row: string
  readonly isShort?: boolean
  readonly breakIt: (folder: string) => void
}

const remove =
  (file: string) =>
  (folder: string): void =>
    rmSync(join(folder, file))

export const plants: ReadonlyArray<Plant> = [
  { name: "no-child", row: "install", isShort: true, breakIt: remove("lib/isolated-run.js") },
  { name: "no-page", row: "docs", isShort: true, breakIt: remove("docs/guides/approvals.md") },
  { name: "no-wasm", row: "workers", isShort: true, breakIt: remove("lib/loro_wasm_bg.wasm") },
  {
    name: "types-of-others",
    row: "types",
    breakIt: (folder) => {
      const file = join(folder, "lib/index.d.ts")
      writeFileSync(
        file,
        `import { Pool } from "not-installed"\nexport declare const pool: Pool\n${readFileSync(file, "utf8")}`
      )
    }
  },
  {
    name: "no-export",
    row: "publint",
    breakIt: (folder) => {
      const file = join(folder, "package.json")
      writeFileSync(file, readFileSync(file, "utf8").replace("./lib/machine.json", "./lib/no-machine.json"))
    }
  }
]

export interface PlantVerdict {
  readonly plant: string
  readonly row: string
  readonly found: boolean
  readonly problems: ReadonlyArray<string>
}

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
  readonly examined: number
  readonly rows: ReadonlyArray<Verdict>
  readonly plants: ReadonlyArray<PlantVerdict>
}

export interface LaneOptions {
  readonly tarball: string
  readonly rows: ReadonlyArray<Row>
  readonly plants: ReadonlyArray<Plant>
  readonly isShort: boolean
  /** The version of Node that the short rows run on; this one when not said. */
  readonly node?: string | undefined
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

const isBroken = ({ problems }: Verdict): boolean => problems.some((problem) => problem.startsWith("it broke off"))

/** The row, on a tarball that is broken. */
const planted = async ({ breakIt, name, row: rowName }: Plant, row: Row, healthy: Scene, nodes: string) => {
  const folder = await unpacked(healthy)
  breakIt(folder)
  const scene = new Scene(await tarballOf(folder), healthy.isShort, nodes)
  const verdict = await judged(row, scene).finally(() => scene.close())
  return { plant: name, row: rowName, found: !verdict.ok && !isBroken(verdict), problems: verdict.problems }
}

export const runLane = async ({ isShort, node, plants, progress, rows, tarball }: LaneOptions): Promise<LaneReport> => {
  const verdicts: Array<Verdict> = []
  const found: Array<PlantVerdict> = []
  const nodes = mkdtempSync(join(tmpdir(), "reverie-nodes-"))
  const first = new Scene(tarball, isShort, nodes)
  try {
    const own = node === undefined ? process.execPath : await first.installedNode(node)
    for (const row of rows) {
      const scene = new Scene(tarball, isShort, nodes, own)
      const verdict = await judged(row, scene).finally(() => scene.close())
      verdicts.push(verdict)
      const figures = Object.entries(verdict.figures).map(([name, value]) => `; ${name} ${value}`)
      const said = verdict.ok ? "works" : `FAILED: ${verdict.problems.join("; ")}`
      progress(`${row.name}: ${said} (${verdict.seconds} s${figures.join("")})`)
    }
    for (const plant of plants) {
      const row = rows.find(({ name }) => name === plant.row)
      if (row === undefined) continue
      const healthy = new Scene(tarball, isShort, nodes)
      const verdict = await planted(plant, row, healthy, nodes).finally(() => healthy.close())
      found.push(verdict)
      const said = verdict.found
        ? `found: ${verdict.problems[0]?.slice(0, 200)}`
        : `NOT FOUND: ${verdict.problems.join("; ")}`
      progress(`planted ${plant.name}: ${said}`)
    }
  } finally {
    first.close()
    rmSync(nodes, { recursive: true, force: true })
  }
  return {
    ok: verdicts.length > 0 && verdicts.every(({ ok }) => ok) && found.every((each) => each.found),
    examined: verdicts.reduce((sum, { examined }) => sum + examined, 0),
    rows: verdicts,
    plants: found
  }
}
