// Resolved: what a specifier means is found out once for all programs of a check, not by each of them.
// `node --import=.../resolved.mjs?known=FILE`. Half of what a program of this repository takes to start is finding its modules.
// R1  What it answers is what Node answered in an earlier program of the same check, to the same parent under the same conditions.
// R2  It makes no difference but of time: where the file cannot be read, or Node has no hooks of this kind, nothing is done.

import { appendFileSync, readFileSync } from "node:fs"
import module from "node:module"

const file = new URL(import.meta.url).searchParams.get("known") ?? ""
/** By specifier, parent and conditions. */
const known = new Map()
const fresh = []

const read = () => {
  try {
    for (const line of readFileSync(file, "utf8").split("\n")) {
      const [key, url, format] = line.split("\t")
      if (format !== undefined) known.set(key, { url, format, shortCircuit: true })
    }
  } catch {
    // No program has ended yet.
  }
}

/** Programs end beside each other: each adds its lines with one write. */
const keep = () => {
  try {
    if (fresh.length > 0) appendFileSync(file, fresh.join(""))
  } catch {
    // The check is over.
  }
}

const resolve = (specifier, context, next) => {
  const { conditions, parentURL = "" } = context
  const key = `${specifier} ${parentURL} ${conditions.join()}`
  const answer = known.get(key)
  if (answer !== undefined) return answer
  const found = next(specifier, context)
  const isLasting = parentURL !== "" && !key.includes("?") && found.url.startsWith("file:") && !found.url.includes("?")
  if (isLasting && found.format) fresh.push(`${key}\t${found.url}\t${found.format}\n`)
  return found
}

if (file !== "" && module.registerHooks !== undefined) {
  read()
  module.registerHooks({ resolve })
  process.on("exit", keep)
}
