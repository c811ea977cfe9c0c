// Catalogue: every attack and every planted fault, by name.
// C1  Names are unique, and every planted fault names an attack that there is.

import { join } from "node:path"
import type { Attack, Plant } from "./attack.ts"
import { bursts } from "./attacks/bursts.ts"
import { longTexts } from "./attacks/long-texts.ts"
import { readingFiles } from "./attacks/reading-files.ts"
import { smallDoor } from "./attacks/small-doors.ts"
import { storms } from "./attacks/storms.ts"

export const attacks: ReadonlyArray<Attack> = [...readingFiles, ...longTexts, ...storms, ...smallDoor, ...bursts]

/** The name of each fault, which is that of its module in plants/, and the attack that has to find it. */
const planted: Readonly<Record<string, string>> = {
  "all-in-one-turn": "three-long-texts",
  "memory-of-merges": "nineteen-at-once",
  "garbage-is-kept": "burst",
  "health-that-forgets": "small-doors",
  "streams-outlive-clients": "small-storm",
  "streams-without-pace": "slow-readers",
  "streams-without-bound": "slow-readers"
}

export const plants: ReadonlyArray<Plant> = Object.entries(planted).map(([name, attack]) => ({
  name,
  attack,
  module: join(import.meta.dirname, "plants", `${name}.ts`)
}))
