// A process of its own, to be killed on the way: imports a file into a directory, or moves a data store, and says how far it is.
// With a word as the last argument it waits for ever at that word.

import { createReadStream } from "node:fs"
import { type DataStorePlace, importFleet, moveDataStore } from "reverie"

const [what = "", from = "", to = "", word = ""] = process.argv.slice(2)

const placeOf = (text: string): DataStorePlace =>
  text.startsWith("postgres") ? { deployment: { database: text, name: process.env["SCHEMA"] ?? "" } } : { data: text }

const say = (phase: string, _who: string, done: number): void => {
  const said = `${phase} ${done}`
  process.stdout.write(`${said}\n`)
  // Nothing is under way while this blocks: the kill finds the process here.
  if (said === word) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

const outcome =
  what === "import"
    ? await importFleet({ into: placeOf(to), source: () => createReadStream(from), onProgress: say })
    : await moveDataStore({ from: placeOf(from), to: placeOf(to), onProgress: say })
process.stdout.write(`${JSON.stringify({ moved: outcome.moved, present: outcome.present })}\n`)
