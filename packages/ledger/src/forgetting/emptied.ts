// Emptied: records of which nothing is left when something is forgotten.
// Owns taking their keys out of a life. Leaves which records those are to what forgets.
// A1  The key of a profile or a project is a name. Where nothing is left under it, no change of it is left either, nor its id in what was
//     recalled. A record of which anything is left keeps its key.

import { isJsonObject, type Json, type RecordChange } from "@reverie/protocol"
import type { BundlePart } from "../bundle-part.ts"

/** Stands in the place of the id of a profile that was forgotten. */
const NO_PROFILE = "e/forgotten"

const changesOf = (records: unknown): ReadonlyArray<RecordChange> =>
  Array.isArray(records) ? (records as ReadonlyArray<RecordChange>) : []

const PROFILE = "entity "

const withoutIds = (value: Json, ids: ReadonlySet<string>): Json => {
  if (ids.size === 0) return value
  if (typeof value === "string") return ids.has(value) ? NO_PROFILE : value
  if (Array.isArray(value)) return (value as ReadonlyArray<Json>).map((each) => withoutIds(each, ids))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [ids.has(name) ? NO_PROFILE : name, withoutIds(each, ids)])
  )
}

/** The records that stand, or ever stood. */
const everKept = (parts: ReadonlyArray<BundlePart>): ReadonlySet<string> =>
  new Set(
    parts.flatMap((part) => {
      if (part.kind === "record") return [`${part.of} ${part.key}`]
      if (part.kind !== "entry") return []
      const changes = changesOf(Reflect.get(part.entry, "records")).filter(({ value }) => value !== null)
      return changes.map(({ key, kind }) => `${kind} ${key}`)
    })
  )

/**
 * Parts without the changes of records of which nothing is left: their keys may be names out of what is forgotten. `before`: the same
 * parts with it.
 */
export const withoutEmptied = (
  before: ReadonlyArray<BundlePart>,
  parts: ReadonlyArray<BundlePart>
): ReadonlyArray<BundlePart> => {
  const gone = everKept(before).difference(everKept(parts))
  if (gone.size === 0) return parts
  const ids = new Set(
    [...gone].flatMap((name) => (name.startsWith(PROFILE) ? [`e/${name.slice(PROFILE.length)}`] : []))
  )
  return parts.map((part) => {
    if (part.kind !== "entry") return part
    const members = Object.entries(part.entry as unknown as { readonly [key: string]: Json }).map(
      ([name, each]): readonly [string, Json] =>
        name === "records"
          ? [name, changesOf(each).filter(({ key, kind }) => !gone.has(`${kind} ${key}`)) as unknown as Json]
          : [name, withoutIds(each, ids)]
    )
    return { kind: "entry", entry: Object.fromEntries(members) } as unknown as BundlePart
  })
}
