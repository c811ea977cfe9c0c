// MonthsJudge: what must be true of a directory of the months lane after a kill, and after what went on from there.
// Owns the questions. Leaves killing to months.ts.
// J1  Each acknowledged message was settled once, and its words are there, or it is forgotten as a whole.
// J2  Where a receipt is, no byte of what it is of is in any file: database, log, segments, index.
// J3  A forgetting without a receipt took place wholly or not at all.
// J4  The life replays, and what is archived reads.
// J5  Every segment in the directory apart is one that the store refers to.

import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { isDeepStrictEqual } from "node:util"
import { zstdDecompressSync } from "node:zlib"
import { exportFleet, type Fleet } from "reverie"
import { evidenceIn, letters, reachedBy } from "./months-life.ts"
import { SLEEPER } from "./night-life.ts"

export interface Judged {
  readonly problems: ReadonlyArray<string>
  /** What was looked at, so that a look at nothing is none. */
  readonly looked: {
    readonly acknowledged: number
    readonly scanned: number
    readonly receipts: number
    readonly segments: number
    readonly entries: number
  }
}

const storeOf = (data: string): string => join(data, "store")

const filesIn = (folder: string): ReadonlyArray<string> =>
  !existsSync(folder)
    ? []
    : readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))

/** What segments that lie apart say; what was cut off by a kill says nothing. */
const plainOf = (path: string): Buffer => {
  try {
    return zstdDecompressSync(readFileSync(path))
  } catch {
    return Buffer.alloc(0)
  }
}

const bytesWith = (data: string, canary: string): ReadonlyArray<string> => [
  ...filesIn(storeOf(data)).filter((path) => {
    const bytes = readFileSync(path)
    return bytes.includes(canary) || bytes.includes(Buffer.from(canary, "utf16le"))
  }),
  ...filesIn(join(data, "segments")).filter((path) => plainOf(path).includes(canary))
]

/** J2, before anything is opened: nothing has had a chance to clear up. */
export const bytesLeft = (data: string): ReadonlyArray<string> =>
  [...evidenceIn(data).receipts].flatMap((round) =>
    reachedBy(Number(round)).flatMap(({ canary }) =>
      bytesWith(data, canary).map((file) => `${canary} is in ${file.slice(data.length)}, and its receipt is there`)
    )
  )

const exported = async (data: string): Promise<string> => {
  let text = ""
  for await (const line of exportFleet({ from: { data: storeOf(data) } })) text += `${line}\n`
  return text
}

const segmentsIn = (data: string): number => {
  const database = new DatabaseSync(join(storeOf(data), "reverie.db"), { readOnly: true })
  try {
    return Number(database.prepare("SELECT count(*) AS n FROM segments").get()?.["n"])
  } finally {
    database.close()
  }
}

/** J5; none where segments lie in the store. */
const segmentsApart = (data: string): ReadonlyArray<string> => {
  const database = new DatabaseSync(join(storeOf(data), "reverie.db"), { readOnly: true })
  const rows = database.prepare("SELECT place_key FROM segments WHERE place_key IS NOT NULL").all()
  database.close()
  const known = rows.map((row) => `${String(row["place_key"])}.segment`).toSorted()
  const found = filesIn(join(data, "segments"))
    .map((path) => path.slice(join(data, "segments").length + 1))
    .filter((path) => path.endsWith(".segment"))
    .toSorted()
  return isDeepStrictEqual(known, found) ? [] : [`the store knows ${known.join()}, and there are ${found.join()}`]
}

/** A round that was asked to be forgotten and has no receipt: all of its words, or none. */
const halfForgotten = (data: string, text: string): ReadonlyArray<string> => {
  const { asked, receipts } = evidenceIn(data)
  return [...asked].flatMap((round) => {
    if (receipts.has(round)) return []
    const reached = reachedBy(Number(round))
    const kept = reached.filter(({ canary }) => text.includes(canary))
    if (kept.length !== 0) return kept.length === reached.length ? [] : [`round ${round} is half forgotten`]
    return reached.flatMap(({ canary }) =>
      bytesWith(data, canary).map((file) => `${canary} is forgotten, and left in ${file.slice(data.length)}`)
    )
  })
}

/** Of an open fleet that has nothing left to do. */
export const judged = async (fleet: Fleet, data: string): Promise<Judged> => {
  const { acknowledged, asked, receipts } = evidenceIn(data)
  const entries = await fleet.history.entries(SLEEPER, 1, 100_000)
  const settled = entries.flatMap(({ entry }) => (entry.settled ?? []).map(({ id }) => id as string))
  const said = entries.flatMap(({ entry }) => entry.messages.map(({ content }) => content)).join("\n")
  const goes = new Set([...asked].flatMap((round) => reachedBy(Number(round)).map(({ id }) => id)))
  const text = await exported(data)
  const problems = [
    ...bytesLeft(data),
    ...halfForgotten(data, text),
    ...letters.flatMap(({ canary, id }) => {
      if (!acknowledged.has(id)) return []
      const times = settled.filter((each) => each === id).length
      if (times !== 1) return [`${id} was settled ${times} times`]
      return goes.has(id) || (said.includes(canary) && text.includes(canary)) ? [] : [`${id} is lost`]
    }),
    ...((await fleet.replay.verify(SLEEPER)).equal ? [] : ["it does not replay"]),
    ...segmentsApart(data)
  ]
  const looked = {
    acknowledged: acknowledged.size,
    scanned: filesIn(storeOf(data)).length,
    receipts: receipts.size,
    segments: segmentsIn(data),
    entries: entries.length
  }
  return { problems, looked }
}
