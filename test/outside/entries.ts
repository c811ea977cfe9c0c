// Entries: the ways in beside the SDK itself: tests of one's own, and a fleet mounted in a web framework.

import { mountedProgram, testingProgram } from "./programs.ts"
import type { Finding, Row } from "./scene.ts"

export const tests: Row = {
  name: "testing",
  says: "the README's program of reverie/testing: an approval expires and a night passes, by a clock that the test moves",
  isShort: true,
  run: async (scene) => {
    const folder = await scene.installed("testing", { "desk.ts": testingProgram() })
    const findings: Array<Finding> = []
    for (const version of scene.isShort ? ["this"] : ["24", "26"]) {
      const said = await scene.run(folder, "node", ["desk.ts"], { node: await scene.node(version) })
      findings.push([
        `Node ${version}: it comes to its end`,
        said.code === 0 && /^tested$/m.test(said.stdout),
        said.text
      ])
    }
    return findings
  }
}

export const mounted: Row = {
  name: "mounted",
  says: "a fleet behind a fetch handler: closed until it is said who may ask, then a message is taken and the fleet listed",
  isShort: true,
  run: async (scene) => {
    const folder = await scene.installed("mounted", { "route.mjs": mountedProgram })
    const said = await scene.run(folder, "node", ["route.mjs"])
    const isRight = said.code === 0 && /^closed 401\nsent 20\d\nlisted 200 true$/m.test(said.stdout)
    return [["it refuses, takes and lists", isRight, said.text]]
  }
}
