// Sizes: the steps that measure the codebase: the lines of every file of code and the entries of the root, and `npm run house`.
// Owns what is measured. Leaves the limits to the architecture tests, which prove with planted breaches that they bite, and to
// scripts/house.

import { filesOfRepository, readText } from "../../test/architecture/repository.ts"
import { rootFaults, sizeFaults } from "../../test/architecture/manners.ts"
import { run } from "./program.ts"
import type { Step } from "./step.ts"

export const sizes: Step = {
  name: "sizes",
  unit: "files",
  prove: () => {
    const paths = filesOfRepository("*.ts", "*.tsx", "*.mjs")
    const faults = [
      ...sizeFaults(paths.map((path) => ({ path, text: readText(path) }))),
      ...rootFaults(filesOfRepository())
    ]
    const output = faults.map(({ what, where }) => `${where}: ${what}`).join("\n")
    return Promise.resolve({ ok: faults.length === 0, count: paths.length, output })
  }
}

/** Unused exports, circles, retired words and the other bounds that a table of the codebase shows. */
export const bounds: Step = {
  name: "bounds",
  unit: "files",
  prove: async () => {
    const { code, stderr, stdout } = await run("node", ["scripts/run.mjs", "scripts/house.ts"])
    const count = Number(/^source +(\d+)/m.exec(stdout)?.[1] ?? 0)
    return { ok: code === 0 && count > 0, count, output: `${stdout}${stderr}` }
  }
}
