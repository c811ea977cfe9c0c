// Writes the golden snapshots of the present format, once: `node packages/assistant/test/golden/write.ts`.
// A golden snapshot stands for data that exists in the world: an existing one is never written again. Anyone who changes
// the form of a snapshot raises STATE_VERSION, adds the upcast, and keeps the old folder.

import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { STATE_VERSION } from "@reverie/protocol"
import { restingStates } from "../../src/index.ts"
import { goldenOf } from "./scenes.ts"

const folder = new URL(`./v${STATE_VERSION}/`, import.meta.url)
mkdirSync(folder, { recursive: true })
for (const state of restingStates) {
  const file = new URL(`${state}.json`, folder)
  if (existsSync(file)) console.log(`kept    ${state}`)
  else {
    writeFileSync(file, `${JSON.stringify(goldenOf(state), null, 2)}\n`)
    console.log(`written ${state}`)
  }
}
