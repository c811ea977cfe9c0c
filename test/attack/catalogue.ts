// Catalogue: every attack and every planted fault, by name.
// C1  Names are unique, and every planted fault names an attack that there is.

import { join } from "node:path"
import type { Attack, Plant } from "./attack.ts"
import { modelOutageWorkers } from "./attacks/model-outage-workers.ts"
import { modelOutage } from "./attacks/model-outage.ts"
import { readingFiles } from "./attacks/reading-files.ts"
import { refusedKey } from "./attacks/refused-key.ts"

export const attacks: ReadonlyArray<Attack> = [...readingFiles, ...modelOutage, ...modelOutageWorkers, ...refusedKey]

/** The name of each fault, which is that of its module in plants/, and the attack that has to find it. */
const planted: Readonly<Record<string, string>> = {
  "no-waking": "model-away",
  "refusal-waits": "key-refused",
  "withheld-counts": "model-unwell"
}

export const plants: ReadonlyArray<Plant> = Object.entries(planted).map(([name, attack]) => ({
  name,
  attack,
  module: join(import.meta.dirname, "plants", `${name}.ts`)
}))
