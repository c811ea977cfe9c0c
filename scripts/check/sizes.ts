// Sizes: the step that counts the lines of every file of code, and the entries of the root.
// Owns what is measured. Leaves the limits to the architecture tests, which prove with planted breaches that they bite.

import { filesOfRepository, readText } from "../../test/architecture/repository.ts"
import { rootFaults, sizeFaults } from "../../test/architecture/manners.ts"
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
