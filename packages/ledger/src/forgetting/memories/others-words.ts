// OthersWords: what others said themselves, and say still when something is forgotten.
// Owns which sentences those are. Leaves which of them are sought to forgotten-ticks.ts.
// O1  Others are people: in messages, mail and orders that stay, and in facts and profiles that they wrote. What an assistant says, a tool or a
//     clock, may repeat what is forgotten.
// O2  A sentence with the name of who is forgotten is about that person, no matter who said it.

import { isJsonObject, type Json, senderName } from "@reverie/protocol"
import type { BundlePart, PartOf } from "../../bundle-part.ts"
import { withoutObservations } from "./forgotten-memories.ts"
import { isName, listOf, recordsIn, textOf, textsOf, textsOfOrder } from "../hushing.ts"
import { sentencesOf } from "../texts/sentences.ts"

/** What goes of a life. */
interface Going {
  readonly entries: ReadonlySet<number>
  readonly envelopes: ReadonlySet<string>
  readonly records: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
  readonly person: string | undefined
}

/** Mail that says what something else has found, or what someone had said before. */
const REPEATING = new Set(["report", "timer"])

const isOther = (from: unknown, person: string | undefined): boolean =>
  typeof from !== "string" || !(from === "clock" || senderName(from) !== from || isName(from, person))

const inMail = ({ body, id }: PartOf<"envelope">, { envelopes, person }: Going): ReadonlyArray<string> => {
  if (envelopes.has(id) || !isJsonObject(body) || !isOther(body["from"], person)) return []
  const event = body["event"]
  return isJsonObject(event) && !REPEATING.has(textOf(event["type"])) ? textsOfOrder(event) : []
}

const inMessages = (
  { entry }: PartOf<"entry">,
  { entries, person }: Pick<Going, "entries" | "person">
): ReadonlyArray<string> =>
  entries.has(entry.no)
    ? []
    : entry.messages.flatMap((message) =>
        message.role === "user" && isOther(Reflect.get(message, "name"), person) ? [message.content] : []
      )

/** So begins the id of an act by which a person wrote something. */
const ACT = "w/"

/** What people wrote into a memory, also where its mail was deleted. */
const inRecord = (kind: string, value: Json, going: Going): ReadonlyArray<string> => {
  if (!isJsonObject(value)) return []
  const isWritten = (source: string) => source.startsWith(ACT)
  if (kind === "fact") return textsOf(value["sources"]).some(isWritten) ? [textOf(value["text"])] : []
  if (kind !== "entity") return []
  return listOf(withoutObservations(value, going)["observations"]).flatMap((each) =>
    isJsonObject(each) && isWritten(textOf(each["source"])) ? [textOf(each["text"])] : []
  )
}

const namesIn = (person: string | undefined): ((sentence: string) => boolean) => {
  if (person === undefined) return () => false
  const name = new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(person)}(?![\\p{L}\\p{N}])`, "iu")
  return (sentence) => name.test(sentence)
}

/** Sentences, lowered. */
export const othersWords = (parts: ReadonlyArray<BundlePart>, going: Going): ReadonlySet<string> => {
  const isAbout = namesIn(going.person)
  const texts = parts.flatMap((part): ReadonlyArray<string> => {
    if (part.kind === "envelope") return inMail(part, going)
    const records = recordsIn(part).flatMap(({ key, kind, value }) =>
      going.records.has(`${kind} ${key}`) ? [] : inRecord(kind, value, going)
    )
    return part.kind === "entry" ? [...inMessages(part, going), ...records] : records
  })
  return new Set(texts.flatMap(sentencesOf).filter((each) => !isAbout(each)))
}
