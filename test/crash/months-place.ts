// MonthsPlace: where a life of the months lane lies: in a directory, or in a database and nowhere else.
// Owns how it is opened, and looking for a word in all that it holds. Leaves what must be true of it to months-judge.ts, and
// making and dropping the database to months.ts.

import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { isDeepStrictEqual } from "node:util"
import { zstdDecompressSync } from "node:zlib"
import { heldByPostgres, postgresSays, tablesOf } from "@reverie/testkit/servers"
import type { exportFleet, FleetOptions } from "reverie"

export interface MonthsPlace {
  readonly options: Pick<FleetOptions, "data" | "deployment" | "worker">
  readonly from: Parameters<typeof exportFleet>[0]["from"]
  /** Files, or tables, in which a word stands: as it is, or in what lies compressed. */
  readonly holding: (word: string) => Promise<ReadonlyArray<string>>
  /** Files or rows that `holding` looks through, and how many segments there are. */
  readonly size: () => Promise<{ readonly scanned: number; readonly segments: number }>
  /** What is wrong with the segments that lie apart. */
  readonly astray: () => ReadonlyArray<string>
}

const filesIn = (folder: string): ReadonlyArray<string> =>
  !existsSync(folder)
    ? []
    : readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))

/** What a segment that lies apart says; what was cut off by a kill says nothing. */
const plainOf = (path: string): Buffer => {
  try {
    return zstdDecompressSync(readFileSync(path))
  } catch {
    return Buffer.alloc(0)
  }
}

const inDirectory = (data: string): MonthsPlace => {
  const store = join(data, "store")
  const segments = join(data, "segments")
  const rows = (sql: string): ReadonlyArray<Record<string, unknown>> => {
    const database = new DatabaseSync(join(store, "reverie.db"), { readOnly: true })
    try {
      return database.prepare(sql).all()
    } finally {
      database.close()
    }
  }
  return {
    options: { data: store },
    from: { data: store },
    holding: async (word) => [
      ...filesIn(store).filter((path) => {
        const bytes = readFileSync(path)
        return bytes.includes(word) || bytes.includes(Buffer.from(word, "utf16le"))
      }),
      ...filesIn(segments).filter((path) => plainOf(path).includes(word))
    ],
    size: async () => ({
      scanned: filesIn(store).length,
      segments: Number(rows("SELECT count(*) AS n FROM segments")[0]?.["n"])
    }),
    astray: () => {
      const known = rows("SELECT place_key FROM segments WHERE place_key IS NOT NULL")
        .map((row) => `${String(row["place_key"])}.segment`)
        .toSorted()
      const found = filesIn(segments)
        .map((path) => path.slice(segments.length + 1))
        .filter((path) => path.endsWith(".segment"))
        .toSorted()
      return isDeepStrictEqual(known, found) ? [] : [`the store knows ${known.join()}, and there are ${found.join()}`]
    }
  }
}

/** Who was killed holds what it held for so long. */
const LEASE_MILLIS = 1_000

const inDatabase = (database: string): MonthsPlace => {
  const deployment = { database, name: "months" }
  /** Rows as text, and segments as the text that lies compressed in them. */
  const rows = async (): Promise<ReadonlyArray<string>> => {
    const compressed = (await tablesOf(database))
      .filter(({ name }) => name === "segments")
      .map(({ whole }) => `SELECT encode(body, 'base64') FROM ${whole} WHERE codec = 'zstd'`)
    const segments = compressed.length === 0 ? [] : await postgresSays(database, ...compressed)
    return [
      ...(await heldByPostgres(database)).split("\n"),
      ...segments.map(([body]) => `segment ${zstdDecompressSync(Buffer.from(body ?? "", "base64")).toString()}`)
    ]
  }
  return {
    options: { deployment, worker: { leaseMs: LEASE_MILLIS } },
    from: { deployment },
    holding: async (word) => {
      const hex = Buffer.from(word).toString("hex")
      return (await rows())
        .filter((row) => row.includes(word) || row.includes(hex))
        .map((row) => row.slice(0, row.indexOf(" ")))
    },
    size: async () => {
      const all = await rows()
      return { scanned: all.length, segments: all.filter((row) => row.startsWith("segment ")).length }
    },
    astray: () => []
  }
}

/** In a database where one is named. */
export const placeOf = (data: string, database?: string): MonthsPlace =>
  database === undefined ? inDirectory(data) : inDatabase(database)
