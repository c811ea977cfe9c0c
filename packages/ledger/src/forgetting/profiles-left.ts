// ProfilesLeft: profiles without what was heard of what is forgotten.
// Owns what becomes of their observations and attributes. Leaves which observations those are to forgotten-ticks.ts.
// L1  An attribute goes with what it rests on. What stood there before, and rests on nothing of it, stands there again.

import { defined, isJsonObject, type Json } from "@reverie/protocol"
import { changed, isName, listOf } from "./hushing.ts"

type Fields = { readonly [key: string]: Json }

/** What is forgotten: ids of messages and memories, and who, where that is all of someone. */
interface Forgotten {
  readonly ids: ReadonlySet<string>
  readonly person: string | undefined
}

const evidenceOf = (each: Json): ReadonlyArray<Json> => (isJsonObject(each) ? listOf(each["evidence"]) : [])

const pastOf = (attribute: Json): ReadonlyArray<Json> =>
  isJsonObject(attribute) ? listOf(attribute["superseded"]) : []

/** What stood in the place of an attribute before; none where nothing did. */
const before = (attribute: Json, past: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const last = past.at(-1)
  if (!isJsonObject(attribute) || !isJsonObject(last)) return []
  const fields: Fields = last
  return [{ ...defined({ id: attribute["id"] }), ...fields, superseded: past.slice(0, -1) }]
}

export const withoutObservations = (profile: Fields, { ids, person }: Forgotten): Fields => {
  const isBy = (origin: Json | undefined) => isJsonObject(origin) && isName(origin["name"], person)
  const isFrom = (source: Json | undefined) => typeof source === "string" && ids.has(source)
  const isGone = (each: Json) => isJsonObject(each) && (isFrom(each["source"]) || isBy(each["origin"]))
  const gone = listOf(profile["observations"]).filter(isGone)
  if (gone.length === 0) return profile
  const names = new Set(gone.flatMap((each) => (isJsonObject(each) ? [each["id"]] : [])))
  const restsOn = (each: Json) => evidenceOf(each).some((id) => names.has(id))
  // What a person wrote in the place of such an attribute, under the id of the act, goes with it.
  const written = [...listOf(profile["attributes"]), ...listOf(profile["removed"])]
  const acts = new Set(written.filter(restsOn).flatMap(evidenceOf))
  const isAct = (each: Json) => isJsonObject(each) && each["id"] === each["source"] && acts.has(each["id"] ?? null)
  const wentWith = new Set(
    listOf(profile["observations"]).flatMap((each) => (isJsonObject(each) && isAct(each) ? [each["id"]] : []))
  )
  const isLeft = (one: Json) => !restsOn(one) && !evidenceOf(one).some((id) => wentWith.has(id))
  const left = (name: string) =>
    listOf(profile[name]).flatMap((each) =>
      restsOn(each)
        ? before(each, pastOf(each).filter(isLeft))
        : [changed(each, { superseded: (earlier) => listOf(earlier).filter((one) => !restsOn(one)) })]
    )
  return {
    ...profile,
    observations: listOf(profile["observations"]).filter((each) => !isGone(each) && !isAct(each)),
    attributes: left("attributes"),
    ...defined({ removed: profile["removed"] === undefined ? undefined : left("removed") })
  }
}
