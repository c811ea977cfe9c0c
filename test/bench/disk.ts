// Disk: what a message that was lived costs on disk, before its entries are archived and after.
// Owns the life (a message after the other through an embedded fleet, a dream after every hundred) and where its bytes are. Leaves
// the sayings to age-sayings.ts.
// D1  The life is lived without retention, closed and measured; then it is opened with one, vacuumed and measured again.
// D2  Bytes are those of the files after closing, by file and by table. The bound is on the store; the index, which can be made
//     again, is said beside it.

import { mkdtemp, readdir, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { defineAssistant, defineFleet, Fleet, type Retention } from "reverie"
import { conversationSayings, zipfSayings } from "./age-sayings.ts"

const MESSAGES = 2_000
const SHORT_MESSAGES = 300
const DREAM_EVERY = 100
/** The last night is not the end: what it wrote is archived with what came before it. */
const DREAM_AT = 49
const TOGETHER = 50
/** Few: what is not archived yet is not what is measured. */
const ARCHIVE_AFTER = 20
const BOUNDS = { storeBytes: 2_000 } as const

/** Bytes a message, by file and by table. */
interface Sizes {
  readonly files: Readonly<Record<string, number>>
  readonly tables: Readonly<Record<string, Readonly<Record<string, number>>>>
}

export interface DiskReport {
  readonly ok: boolean
  readonly sayings: string
  readonly messages: number
  readonly before: Sizes
  readonly after: Sizes
  readonly vacuumSeconds: number
  readonly bounds: typeof BOUNDS
  readonly leftOut: ReadonlyArray<string>
  readonly targets: Readonly<Record<string, boolean>>
}

const openWith = (data: string, retention: Retention) =>
  Fleet.open({
    data,
    model: "offline",
    fleet: defineFleet({
      assistants: [
        defineAssistant({
          id: "witness",
          instructions: "You are in the company of people, and remember what they tell.",
          maxContextTokens: 8_000,
          retention
        })
      ]
    })
  })

const tablesOf = (file: string, messages: number): Readonly<Record<string, number>> => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const rows = database
      .prepare("SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY bytes DESC LIMIT 8")
      .all()
    return Object.fromEntries(rows.map(({ bytes, name }) => [String(name), Math.round(Number(bytes) / messages)]))
  } finally {
    database.close()
  }
}

const sizesOf = async (data: string, messages: number): Promise<Sizes> => {
  const files: Record<string, number> = {}
  const tables: Record<string, Readonly<Record<string, number>>> = {}
  for (const name of (await readdir(data)).filter((each) => each.endsWith(".db"))) {
    files[name] = Math.round((await stat(join(data, name))).size / messages)
    tables[name] = tablesOf(join(data, name), messages)
  }
  return { files, tables }
}

export const benchDisk = async (isShort: boolean, conversations?: string): Promise<DiskReport> => {
  const messages = isShort ? SHORT_MESSAGES : MESSAGES
  const sayings = conversations === undefined ? zipfSayings() : await conversationSayings(conversations)
  const data = await mkdtemp(join(tmpdir(), "reverie-bench-disk-"))
  try {
    const fleet = await openWith(data, { archiveAfter: false })
    for (let place = 0; place < messages; place++) {
      const { from, text } = sayings.at(place)
      await fleet.send("witness", text, { id: `m-${place}`, from })
      if (place % TOGETHER === TOGETHER - 1) await fleet.idle()
      if (place % DREAM_EVERY !== DREAM_AT) continue
      await fleet.sleep("witness")
      await fleet.idle()
    }
    await fleet.close()
    const before = await sizesOf(data, messages)
    const archiving = await openWith(data, { archiveAfter: ARCHIVE_AFTER })
    const start = performance.now()
    await archiving.vacuum()
    const vacuumSeconds = (performance.now() - start) / 1_000
    await archiving.close()
    const after = await sizesOf(data, messages)
    const targets = {
      [`the store has at most ${BOUNDS.storeBytes} bytes a message after it was archived`]:
        (after.files["reverie.db"] ?? Infinity) <= BOUNDS.storeBytes
    }
    return {
      ok: Object.values(targets).every(Boolean),
      sayings: sayings.name,
      messages,
      before,
      after,
      vacuumSeconds,
      bounds: BOUNDS,
      leftOut: conversations === undefined ? ["real conversations: none were given; --data DIR names some"] : [],
      targets
    }
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}
