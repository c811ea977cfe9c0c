// BackupSegments: segments that lie apart from a store, taken along into its backup and put back where they lay.
// Owns their names in a backup. Leaves the list of contents and its verification to backup.ts.
// G1  What is taken along is what the copied database refers to, held against its digests. What lacks, or moved on while the copy was
//     made, refuses the backup: one without it would pass for whole. Who asks for it does without what is lost, and what lacks is listed.
// G2  They are back in their place before the database that refers to them is.

import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assertReached, readPlaced, type SegmentPlace } from "@reverie/ledger"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { BackupRefused } from "../errors.ts"
import { openToRead } from "./still.ts"

type Place = SegmentPlace["Service"]

const ENDING = ".segment"

const nameOf = (key: string): string => `${key.replaceAll("/", "~")}${ENDING}`
const keyOf = (name: string): string => name.slice(0, -ENDING.length).replaceAll("~", "/")

export const isSegment = (name: string): boolean => name.endsWith(ENDING)

interface Row {
  readonly key: string
  readonly bytes: number
  readonly digest: string
}

/** What a database refers to apart from it; nothing in one of an older format. */
const placedIn = (file: string): ReadonlyArray<Row> => {
  const database = openToRead(file)
  try {
    const columns = database.prepare("SELECT name FROM pragma_table_info('segments')").all()
    if (!columns.some(({ name }) => name === "place_key")) return []
    const sql =
      "SELECT place_key AS key, place_bytes AS bytes, place_digest AS digest FROM segments WHERE place_key IS NOT NULL"
    return database.prepare(sql).all() as unknown as ReadonlyArray<Row>
  } finally {
    database.close()
  }
}

/** From where, and what to do without. */
interface Taking {
  readonly place: Place | undefined
  /** The database that was copied, as it is now. */
  readonly live: string
  readonly withoutLost: boolean
}

interface Taken {
  /** Their files in the backup. */
  readonly names: ReadonlyArray<string>
  /** Keys of those that are missing or damaged in their place. */
  readonly lost: ReadonlyArray<string>
  /** How many their place was not named for. */
  readonly left: number
}

/** Copies the segments of a copied database beside it. */
export const takeSegments = async (database: string, folder: string, taking: Taking): Promise<Taken> => {
  const { live, place, withoutLost } = taking
  const rows = placedIn(database)
  if (place === undefined) return { names: [], lost: [], left: rows.length }
  const refuse = (reason: string): never => {
    throw new BackupRefused({ place: place.says, reason })
  }
  const [names, lost]: [Array<string>, Array<string>] = [[], []]
  for (const row of rows) {
    const found = await Effect.runPromise(Effect.result(readPlaced(place, row)))
    if (Result.isSuccess(found)) {
      await writeFile(join(folder, nameOf(row.key)), found.success, { mode: 0o600 })
      names.push(nameOf(row.key))
      continue
    }
    const { _tag: tag, message } = found.failure
    if (tag !== "SegmentLost") refuse(message)
    if (!placedIn(live).some(({ key }) => key === row.key)) {
      refuse(`${message}; it moved on while the backup was made: make it again`)
    }
    if (!withoutLost) refuse(`${message}; or make the backup without it, with --without-lost`)
    lost.push(row.key)
  }
  return { names, lost, left: 0 }
}

/** Makes a place the one of a store all of whose segments are lost. */
const beginPlace = async (place: Place, lost: string): Promise<void> => {
  // Where it is already, that segment may be there again.
  if (Result.isSuccess(await Effect.runPromise(Effect.result(assertReached(place, lost))))) return
  await Effect.runPromise(Effect.andThen(place.put(lost, new Uint8Array()), place.remove([lost])))
}

/** Puts segments of a verified backup where they lay; `lost` are those that it was made without. */
export const putSegmentsBack = async (
  source: string,
  names: ReadonlyArray<string>,
  place: Place | undefined,
  lost: ReadonlyArray<string> = []
): Promise<void> => {
  const [first] = lost
  if (names.length === 0) return first === undefined || place === undefined ? undefined : beginPlace(place, first)
  if (place === undefined) {
    const reason = `it holds ${names.length} segments that lay apart; name their place, with REVERIE_SEGMENTS or \`segments\``
    throw new BackupRefused({ place: source, reason })
  }
  for (const name of names) {
    await Effect.runPromise(place.put(keyOf(name), new Uint8Array(await readFile(join(source, name)))))
  }
}
