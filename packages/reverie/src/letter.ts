// Letter: an event with an address, as a user gives it.
// Owns making it an envelope, or saying what is wrong with it. Leaves sending to the fleet, who may get what to its records.
// L1  What `letterProblem` finds nothing wrong with, `Fleet.post` does not refuse for its form.
// L2  A half of a surrogate pair in a text becomes U+FFFD: no text in UTF-8 holds one, and no other system would keep it.
// L3  A message asks for its answer in a form that there can be: any other is refused before anything is written.
// L4  Parts are read before the message is: what can not be kept is refused with one sentence that names the part.

import { type Directory, reach } from "@reverie/assistant"
import { keptAgain, keptParts, Ledger, type LoosePart, looseParts } from "@reverie/ledger"
import { Envelope, ENVELOPE_VERSION, type Event, type TenantId } from "@reverie/protocol"
import { arrive, storedTraceparent } from "@reverie/runtime"
import { acceptForm, type Form, formOf, type ToolInput } from "@reverie/tools"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { EnvelopeInvalid, TargetAmbiguous } from "./errors.ts"

/** What can be the form of an answer: a zod 4, valibot, arktype or Effect Schema, or a JSON Schema, of an object. */
export type AnswerSchema = ToolInput

/** The form that is asked for; undefined where any answer will do. */
export type FormOption = AnswerSchema | undefined

export interface Letter {
  readonly id: string
  readonly tenant: TenantId
  readonly to: string
  readonly from: string
  readonly event: unknown
  /** Kept when it is a trace context, passed over when it is not. */
  readonly traceparent?: string | undefined
}

const decodeEnvelope = Schema.decodeUnknownResult(Envelope)

const spoken = ["text", "content"] as const

const isEmpty = (text: string): boolean => text.trim() === ""

const flawOfProfile = ({
  attribute,
  entity,
  text
}: Extract<Envelope["event"], { readonly type: "writeProfile" }>): string | undefined => {
  if (isEmpty(entity)) return "the profile has no name: say whom it is of"
  if (text !== undefined && isEmpty(text)) return "the text of the attribute is empty"
  return attribute === undefined && text === undefined ? "say an attribute, or a text to add" : undefined
}

/** A field that no event has, or a text that says nothing: what would be left out or change nothing is refused. */
const flawOfEvent = (event: Envelope["event"], given: unknown): string | undefined => {
  const strange = Object.entries(Object(given)).find(
    ([key, value]) => value !== undefined && !Object.hasOwn(event, key)
  )
  if (strange !== undefined)
    return `an event of the type ${event.type} has no ${JSON.stringify(strange[0].slice(0, 60))}`
  if (event.type === "writeFact" && isEmpty(event.text)) return "the text of the fact is empty"
  if (event.type === "writeProfile") return flawOfProfile(event)
  if ((event.type === "acceptDream" || event.type === "undoDream") && event.items?.length === 0)
    return "the order names no item: leave items out for all of the dream"
  if (event.type !== "message") return undefined
  if (isEmpty(event.text) && (event.parts ?? []).length === 0) return "the text of the message is empty"
  const form = event.output === undefined ? undefined : formOf(event.output)
  return typeof form === "string" ? form : undefined
}

/** A message whose text is something else: mostly with everything in one object. */
const flawOfText = (event: unknown): string | undefined => {
  if (typeof event !== "object" || event === null || Reflect.get(event, "type") !== "message") return undefined
  const text: unknown = Reflect.get(event, "text")
  return typeof text === "string"
    ? undefined
    : `the text of a message is a string, and this is ${text === null ? "null" : typeof text}; parts stand beside the text`
}

/** The event with its text well-formed; the same event where it is so already. */
const wellFormed = (event: unknown): unknown => {
  if (typeof event !== "object" || event === null) return event
  const broken = spoken.filter((field) => {
    const text: unknown = Reflect.get(event, field)
    return typeof text === "string" && !text.isWellFormed()
  })
  return broken.length === 0
    ? event
    : {
        ...event,
        ...Object.fromEntries(broken.map((field) => [field, String(Reflect.get(event, field)).toWellFormed()]))
      }
}

/** What a field is called by who writes it. */
const fieldNames: Readonly<Record<string, string>> = { "to.assistant": "the name of the assistant" }

/** What a schema says of a value, on one line, with the field before it as its writer knows it. */
export const inWords = (message: string): string => {
  const line = message.replaceAll(/\s+/g, " ")
  const [, said = "", path = ""] = /^(.*) at ((?:\["?[^\]]+"?\])+)$/.exec(line) ?? []
  if (path === "") return line
  const where = [...path.matchAll(/\["?([^"\]]+)"?\]/g)].map(([, name = ""]) => name).join(".")
  const field = fieldNames[where] ?? where.replace(/^event\./, "")
  return said.startsWith("must ") ? `${field} ${said}` : `${field}: ${said}`
}

export const envelopeOf = (letter: Letter): Result.Result<Envelope, EnvelopeInvalid> => {
  const { event, from, id, tenant, to } = letter
  const kept = storedTraceparent(letter.traceparent)
  const trace = kept === undefined ? {} : { traceparent: kept }
  return decodeEnvelope({
    v: ENVELOPE_VERSION,
    id,
    to: { tenant, assistant: to },
    from,
    event: wellFormed(event),
    hops: 0,
    ...trace
  }).pipe(
    Result.mapError(({ message }) => new EnvelopeInvalid({ message: flawOfText(event) ?? inWords(message) })),
    Result.flatMap((envelope) => {
      const flaw = flawOfEvent(envelope.event, event)
      return flaw === undefined ? Result.succeed(envelope) : Result.fail(new EnvelopeInvalid({ message: flaw }))
    })
  )
}

/** By the schema: it is reduced to JSON Schema once. */
const forms = new WeakMap<object, Form>()

/** The form that a user's schema asks for. Throws EnvelopeInvalid about one that can be none. */
export const formAsked = (output: object): Form => {
  const form = forms.get(output) ?? acceptForm(output)
  if (typeof form === "string") throw new EnvelopeInvalid({ message: form })
  forms.set(output, form)
  return form
}

/** The same as it crosses the mailbox. */
export const documentAsked = (output: object | undefined): Form["document"] | undefined =>
  output === undefined ? undefined : formAsked(output).document

/** An event as it is sent, and the parts that have to be kept before it is accepted. */
export interface Said {
  readonly said: Event
  readonly loose: ReadonlyArray<LoosePart>
}

/** The message with the references to its parts. Throws EnvelopeInvalid about a part that can not be kept. */
export const withParts = (event: Event, given: unknown): Said => {
  if (given === undefined) return { said: event, loose: [] }
  if (event.type !== "message") throw new EnvelopeInvalid({ message: `a ${event.type} has no parts; a message may` })
  const loose = Result.getOrThrowWith(looseParts(given), (message) => new EnvelopeInvalid({ message }))
  const said = loose.length === 0 ? event : { ...event, parts: loose.map(({ part }) => part) }
  return { said, loose }
}

/** Keeps what came with a message, and looks after what it only refers to. */
export const keepParts = Effect.fnUntraced(function* ({ event, to }: Envelope, loose: ReadonlyArray<LoosePart>) {
  if (event.type !== "message" || event.parts === undefined) return
  const { blobs } = yield* Ledger
  if (loose.length > 0) return void (yield* keptParts(blobs, to.tenant, loose))
  for (const { bytes, digest } of event.parts) {
    const found = yield* blobs.read(to.tenant, digest)
    if (found?.length === bytes) continue
    const message = `no ${bytes} bytes are kept here under the digest ${digest}; send them with the message, as its parts`
    return yield* new EnvelopeInvalid({ message })
  }
})

/** Accepts an envelope, with the bytes of what came with it, which may have been deleted since they were kept. */
export const arriveWhole = (envelope: Envelope, loose: ReadonlyArray<LoosePart>) =>
  arrive(
    envelope,
    Ledger.use(({ blobs }) => keptAgain(blobs, envelope.to.tenant, loose))
  )

/** The assistant that a target means. What the definition does not know may still be in the store, under its id. */
export const targetIn = (directory: Directory, target: string): string => {
  const reached = reach(directory, target)
  if ("refused" in reached) {
    if (reached.refused === "unknown") return target
    throw new TargetAmbiguous({ message: reached.reason, candidates: reached.candidates })
  }
  const [only, ...others] = reached.ids
  if (only !== undefined && others.length === 0) return only
  const message = `"${target}" means ${reached.ids.length}: write to one of them, or to all with sendAll`
  throw new TargetAmbiguous({ message, candidates: reached.ids })
}
