// ForgottenMemories: facts and profiles of which something is forgotten, and the rest is not.
// Owns what is left of them. Leaves which of them go whole to forgotten-ticks.ts.
// M1  Of a profile goes each observation that was made of what goes, and each attribute that rests on one. What else is known there stays, and
//     what stood in the place of such an attribute before, and rests on nothing of it, stands there again.
// M2  Of a fact go its links to facts that go, and sources that go where it is heard still without them.
// M3  A sentence that is sought goes out of a fact and a profile alone. Where nothing is left without it, all of the record is left to
//     who looks for the sentence.

import { defined, isJsonObject, type Json } from "@reverie/protocol"
import type { BundlePart } from "../../bundle-part.ts"
import { changed, isName, listOf, textOf } from "../hushing.ts"
import type { Sought } from "../forgetting.ts"
import { sentencesOf } from "../texts/sentences.ts"

type Fields = { readonly [key: string]: Json }

/** Ids of messages and memories that go, who is forgotten, and what is sought in texts. */
interface Gone {
  readonly ids: ReadonlySet<string>
  readonly person: string | undefined
  readonly says?: (text: string) => boolean
}

const pastOf = (attribute: Json): ReadonlyArray<Json> =>
  isJsonObject(attribute) ? listOf(attribute["superseded"]) : []

/** What stood in the place of an attribute before; none where nothing did. */
const before = (attribute: Json, past: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const last = past.at(-1)
  if (!isJsonObject(attribute) || !isJsonObject(last)) return []
  const fields: Fields = last
  return [{ ...defined({ id: attribute["id"] }), ...fields, superseded: past.slice(0, -1) }]
}

export const withoutObservations = (profile: Fields, { ids, person, says = () => false }: Gone): Fields => {
  const isBy = (origin: Json | undefined) => isJsonObject(origin) && isName(origin["name"], person)
  const isGone = (each: Json) =>
    isJsonObject(each) && (ids.has(textOf(each["source"])) || isBy(each["origin"]) || says(textOf(each["text"])))
  const gone = listOf(profile["observations"]).filter(isGone)
  const names = new Set(gone.flatMap((each) => (isJsonObject(each) ? [each["id"]] : [])))
  const evidenceOf = (each: Json) => (isJsonObject(each) ? listOf(each["evidence"]) : [])
  const restsOn = (each: Json) =>
    evidenceOf(each).some((id) => names.has(id)) || (isJsonObject(each) && says(textOf(each["text"])))
  // What a person wrote in the place of such an attribute, under the id of the act, goes with it.
  const written = [...listOf(profile["attributes"]), ...listOf(profile["removed"])]
  const earlier = written.flatMap((each) => (isJsonObject(each) ? listOf(each["superseded"]) : []))
  if (gone.length === 0 && ![...written, ...earlier].some(restsOn)) return profile
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
        : [changed(each, { superseded: (past) => listOf(past).filter((one) => !restsOn(one)) })]
    )
  return {
    ...profile,
    observations: listOf(profile["observations"]).filter((each) => !isGone(each) && !isAct(each)),
    attributes: left("attributes"),
    ...defined({ removed: profile["removed"] === undefined ? undefined : left("removed") })
  }
}

/** Who said it, and no more. */
const SPEAKER = /\bsaid$/

/** What of a text someone has said. */
const saidIn = (text: string): ReadonlyArray<string> => sentencesOf(text).filter((each) => !SPEAKER.test(each))

/** A fact that stays, where sources of it and facts that it leads to go. */
export const withoutSources = (fact: Fields, ids: ReadonlySet<string>): Fields => {
  const sources = listOf(fact["sources"])
  const links = listOf(fact["links"])
  const heard = sources.filter((each) => !ids.has(textOf(each)))
  const led = links.filter((each) => !isJsonObject(each) || !ids.has(`f/${textOf(each["to"])}`))
  if (heard.length === sources.length && led.length === links.length) return fact
  const { heard: times, ...rest } = fact
  const isCounted = times !== undefined && heard.length === sources.length
  return { ...rest, sources: heard, links: led, ...defined({ heard: isCounted ? times : undefined }) }
}

const factWithout = (fact: Fields, { cut, isIn }: Sought): Fields => {
  const [text, reason] = [textOf(fact["text"]), textOf(fact["reason"])]
  const left = cut(text)
  if (isIn(text) && saidIn(left).length === 0) return fact
  return { ...fact, text: left, ...defined({ reason: fact["reason"] === undefined ? undefined : cut(reason) }) }
}

const profileWithout = (profile: Fields, { isIn }: Sought): Fields => {
  const left = withoutObservations(profile, { ids: new Set(), person: undefined, says: isIn })
  const isAnything = ["observations", "attributes", "removed"].some((name) => listOf(left[name]).length > 0)
  return isAnything ? left : profile
}

/** Parts whose facts and profiles are without what is sought, where anything is left of them. */
export const withoutSayings = (sought: Sought, parts: ReadonlyArray<BundlePart>): ReadonlyArray<BundlePart> => {
  const left = (kind: string, value: Json): Json => {
    if (!isJsonObject(value)) return value
    if (kind === "fact") return factWithout(value, sought)
    return kind === "entity" ? profileWithout(value, sought) : value
  }
  return parts.map((part) => {
    if (part.kind === "record") return { ...part, value: left(part.of, part.value) }
    if (part.kind !== "entry") return part
    const entry = changed(part.entry as unknown as Json, {
      records: (records) =>
        listOf(records).map((each) =>
          isJsonObject(each) ? changed(each, { value: (value) => left(textOf(each["kind"]), value) }) : each
        )
    })
    return { kind: "entry", entry } as unknown as BundlePart
  })
}
