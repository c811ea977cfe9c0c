// Catalogue: every attack and every planted fault, by name.
// C1  Names are unique, and every planted fault names an attack that there is.

import { join } from "node:path"
import type { Attack, Plant } from "./attack.ts"
import { oldAge } from "./attacks/old-age.ts"
import { readingFiles } from "./attacks/reading-files.ts"
import { restoredStore } from "./attacks/restored-store.ts"

export const attacks: ReadonlyArray<Attack> = [...readingFiles, ...restoredStore, ...oldAge]

/** The name of each fault, which is that of its module in plants/, and the attack that has to find it. */
const planted: Readonly<Record<string, string>> = {
  "reads-all-entries": "old-age",
  "numbers-alone": "restored-store",
  "numbers-alone-postgres": "restored-store-postgres",
  "numbers-alone-qdrant": "restored-store-qdrant"
}

export const plants: ReadonlyArray<Plant> = Object.entries(planted).map(([name, attack]) => ({
  name,
  attack,
  module: join(import.meta.dirname, "plants", `${name}.ts`)
}))
