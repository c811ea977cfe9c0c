// ForgottenOrders: what people ordered about a memory that goes.
// Owns which orders those are. Leaves which memories go to forgotten-ticks.ts, and what is left of an order to hushing.ts.
// D1  An order that wrote a memory which goes, or into a profile which goes, goes with it, and so does one that released, retired or
//     corrected a fact which goes, no matter who gave it. What it wrote and stays keeps its order.
// D2  What became of an order names it, also where its mail was deleted: the profiles that go are named there no more.
// D3  An order about a night goes where it names something that goes, or changed nothing else.

import { isJsonObject, type Json } from "@reverie/protocol"
import type { BundlePart, PartOf } from "../bundle-part.ts"
import { withoutObservations } from "./memories/forgotten-memories.ts"
import { isName, listOf, lowered, recordsIn, textOf, textsOf } from "./hushing.ts"

/** What goes of a life. */
interface Going {
  /** By kind and key. */
  readonly records: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
  readonly person: string | undefined
}

const PROFILE = "entity "

type Fields = { readonly [key: string]: Json }

/** So begins the id of an act by which a person wrote something. */
const ACT = "w/"

/** What names memories in a life: acts that wrote what goes and what stays, and names that lead to profiles which go. */
class Named {
  readonly gone = new Set<string>()
  readonly left = new Set<string>()
  readonly names = new Set<string>()
  /** What the entry that settled an order has changed. */
  readonly changed = new Map<string, Array<string>>()
  readonly #going: Going

  constructor(parts: ReadonlyArray<BundlePart>, going: Going) {
    this.#going = going
    for (const part of parts) {
      const records = recordsIn(part)
      for (const { key, kind, value } of records) if (isJsonObject(value)) this.#learn(`${kind} ${key}`, kind, value)
      if (part.kind !== "entry") continue
      const changed = records.flatMap(({ key, kind }) => (kind === "dream" ? [] : [`${kind} ${key}`]))
      for (const { id } of part.entry.settled ?? []) this.changed.set(id, changed)
    }
  }

  #learn(name: string, kind: string, value: Fields): void {
    const isGone = this.#going.records.has(name)
    if (kind === "fact") for (const each of textsOf(value["sources"])) (isGone ? this.gone : this.left).add(each)
    if (kind !== "entity") return
    const kept = new Set(isGone ? [] : listOf(withoutObservations(value, this.#going)["observations"]))
    for (const each of listOf(value["observations"]))
      if (isJsonObject(each)) (kept.has(each) ? this.left : this.gone).add(textOf(each["source"]))
    if (!isGone) return
    const names = [name.slice(PROFILE.length), textOf(value["name"]), ...textsOf(value["aliases"])]
    for (const each of names) this.names.add(lowered(each))
  }
}

const isOf = ({ body, id }: PartOf<"envelope">, named: Named, { person, records }: Going): boolean => {
  const event = isJsonObject(body) ? body["event"] : undefined
  if (!isJsonObject(event)) return false
  const act = `${ACT}${id}`
  const changed = named.changed.get(id) ?? []
  const isGone = (name: string) => records.has(name)
  const isOfFact = isGone(`fact ${textOf(event["fact"])}`)
  switch (event["type"]) {
    case "releaseFact":
    case "retireFact":
      return isOfFact
    case "writeFact":
      return named.gone.has(act) || (isOfFact && !named.left.has(act))
    case "writeProfile": {
      const entity = textOf(event["entity"])
      const isOfProfile = isName(entity, person) || named.names.has(lowered(entity))
      return named.gone.has(act) || isOfProfile || changed.some(isGone)
    }
    case "undoDream":
    case "acceptDream": {
      const items = textsOf(event["items"]).map((item) => item.replace("/", " "))
      return items.some(isGone) || (changed.length > 0 && changed.every(isGone))
    }
    default:
      return false
  }
}

/** Whether what became of an order has the name of who is forgotten, or of a profile that goes. */
export const namesGone = ({ person, records }: Pick<Going, "person" | "records">): ((reason: string) => boolean) => {
  const keys = [...records].flatMap((name) => (name.startsWith(PROFILE) ? [name.slice(PROFILE.length)] : []))
  const names = new Set([...keys, ...(person === undefined ? [] : [person])])
  const between = [...names].map((name) => RegExp.escape(name)).join("|")
  const all = new RegExp(`(?<![\\p{L}\\p{N}])(?:${between})(?![\\p{L}\\p{N}])`, "iu")
  return (reason) => names.size > 0 && all.test(reason)
}

export const ordersAbout = (parts: ReadonlyArray<BundlePart>, going: Going): ReadonlyArray<PartOf<"envelope">> => {
  const named = new Named(parts, going)
  return parts.flatMap((part) => (part.kind === "envelope" && isOf(part, named, going) ? [part] : []))
}
