// Ask: a message and everything that comes back for it.
// Owns sending it when someone reads, listening, what was told before, and the whole answer. Leaves the parts themselves to
// stream/part-writer.ts, sending to the fleet.
// I1  The parts of one question end exactly once: answered, failed, or stopped because the assistant waits for a person.
// I2  A question that was answered before is answered out of the ledger, with its end alone; one that is under way, or is read
//     on from a place, is reported from its beginning, or from that place.
// I3  A caller who stops reading stops listening; the question itself is durable and goes on.
// I5  No one waits for a fleet that has ended: reading fails with the reason. The same holds for an assistant that can not be
//     worked on, for a signal that was given, and for a time that is over.
// I7  An answer that was asked for in a form has passed the caller's own schema, whatever was checked before.

import { contextOf, restore } from "@reverie/assistant"
import type { AssistantRecord, OutboxRow } from "@reverie/ledger"
import { type Address, defined, type EnvelopeId, type Notice, type Receipt, type TenantId } from "@reverie/protocol"
import type { HostFailure } from "@reverie/runtime"
import { type ArgumentsOf, checkAnswer, readAnswer } from "@reverie/tools"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { AnswerFailed, AnswerLate, EnvelopeInvalid, type FleetClosed } from "./errors.ts"
import type { AskOptions } from "./fleet-options.ts"
import { type AnswerSchema, type FormOption, formAsked } from "./letter.ts"
import { type About, haltedBy, misshapen, type Part } from "./stream/parts.ts"
import { isPlace, type Placed, PartWriter } from "./stream/part-writer.ts"
import { uiResponse, uiStream, type UIMessageChunk } from "./stream/ui-stream.ts"

/** What `answer` gives: a text, or what the form makes of it. */
export type AnswerOf<Form> = [Form] extends [undefined] ? string : ArgumentsOf<Form>

/** What `ask` gives. */
export interface Parts<Form = undefined> extends AsyncIterable<
  Part<[Form] extends [undefined] ? undefined : ArgumentsOf<Form>>
> {
  /** Behind the last durable part that was read: as `after` of `ask` with the same `id`, reading goes on from there. */
  readonly place: string
  /** The parts as a UI message stream of the AI SDK, for `useChat`. */
  readonly toUIMessageStream: () => ReadableStream<UIMessageChunk>
  /** That stream as the answer of a route: server-sent events. */
  readonly toUIMessageStreamResponse: (init?: ResponseInit) => Response
}

/** How the way of an envelope ended, out of the entries of its assistant; undefined when it has not. */
const endOf = async (rows: AsyncIterable<OutboxRow>, about: About): Promise<Part | undefined> => {
  const writer = new PartWriter(about, { isNew: false })
  for await (const row of rows) {
    const told = writer.read(row)
    if (writer.isOver) return told.at(-1)?.part
  }
  return undefined
}

const READ_AT_ONCE = 100

/** The entries since the message was taken up, in their order; none when it waits. */
async function* rowsSince({ entries, newest }: Asking, assistant: string, envelope: string): AsyncGenerator<OutboxRow> {
  let from: number | undefined
  for await (const { entry } of newest(assistant)) {
    const { cause, no, settled = [] } = entry
    if (settled.some(({ id }) => id === envelope)) from = no
    if (cause.kind !== "envelope" || cause.id !== envelope) continue
    from = no
    break
  }
  while (from !== undefined) {
    const rows = await entries(assistant, from, READ_AT_ONCE)
    yield* rows
    from = rows.length < READ_AT_ONCE ? undefined : (rows.at(-1)?.entry.no ?? 0) + 1
  }
}

/** How a question begins: whether it is heard of from its beginning, and what there is of it before. */
interface Begun {
  readonly isNew: boolean
  readonly end?: Part
  readonly rows?: AsyncIterable<OutboxRow>
}

interface Question extends About {
  readonly after: string | undefined
  readonly listen: (listener: (notice: Notice) => void) => () => void
  readonly isAbout: (notice: Notice) => boolean
  readonly begin: () => Promise<Begun>
  readonly isHalted: () => Promise<boolean>
  /** Why the assistant is halted. */
  readonly haltReason: () => Promise<string | undefined>
  /** Tells when no more notices will come, and why. */
  readonly onEnd: (listener: (reason: FleetClosed) => void) => () => void
  /** Tells when the assistant can not be worked on until a person has acted, and why. */
  readonly onBroken: (listener: (failure: HostFailure) => void) => () => void
  /** Tells when the caller waits no longer, and why. */
  readonly onLeave: (listener: (reason: unknown) => void) => () => void
}

const brokenBy = ({ _tag: code, message, recovery }: HostFailure): Part => {
  const next = recovery === "stop" || recovery === "retry" ? recovery : "tell-owner"
  return { type: "failed", error: { code, message, recovery: next } }
}

/** What is heard of a question, from when it is listened to. */
class Hearing {
  /** A part stands for what no notice tells. */
  readonly #heard: Array<Notice | Placed> = []
  readonly #over: Array<unknown> = []
  readonly #stops: ReadonlyArray<() => void>
  #wake = () => {}

  constructor({ isAbout, listen, onBroken, onEnd, onLeave }: Question) {
    const leave = (reason: unknown) => {
      this.#over.push(reason)
      this.#wake()
    }
    const hear = (heard: Notice | Placed) => {
      this.#heard.push(heard)
      this.#wake()
    }
    this.#stops = [
      onEnd(leave),
      onLeave(leave),
      onBroken((failure) => hear({ part: brokenBy(failure) })),
      listen((notice) => (isAbout(notice) ? hear(notice) : undefined))
    ]
  }

  /** @throws why nothing more comes */
  check(): void {
    if (this.#over.length > 0) throw this.#over[0]
  }

  async next(): Promise<Notice | Placed> {
    while (true) {
      const heard = this.#heard.shift()
      if (heard !== undefined) return heard
      this.check()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        if (this.#heard.length > 0 || this.#over.length > 0) resolve()
      })
    }
  }

  stop(): void {
    for (const stop of this.#stops) stop()
  }
}

/** The parts, from the first read on. */
async function* partsOf(question: Question): AsyncGenerator<Placed> {
  const { after, begin, haltReason, isHalted } = question
  const hearing = new Hearing(question)
  const halted = async (): Promise<Part> => haltedBy((await haltReason()) ?? "an order to halt came")
  try {
    hearing.check()
    const { end, isNew, rows = [] } = await begin()
    if (end !== undefined) return yield { part: end }
    // What was shown behind the place was a preview.
    if (after !== undefined && !isNew) yield { part: { type: "discarded" } }
    const writer = new PartWriter(question, { after, isNew })
    for await (const row of rows) yield* writer.read(row)
    // Halted before, it sends no notice of it now.
    if (!writer.isOver && (await isHalted())) return yield { part: await halted() }
    while (!writer.isOver) {
      const heard = await hearing.next()
      if ("part" in heard) return yield heard
      for (const placed of writer.heard(heard)) {
        yield placed.part.type === "halted" ? { ...placed, part: await halted() } : placed
      }
    }
  } finally {
    hearing.stop()
  }
}

const haltReasonIn = (record: AssistantRecord | undefined): string | undefined => {
  const restored = record === undefined ? undefined : restore(record.state.snapshot)
  if (restored === undefined || Result.isFailure(restored)) return undefined
  return contextOf(restored.success).haltReason ?? undefined
}

/** What asking needs of a fleet. */
interface Asking extends Pick<Question, "listen" | "onEnd"> {
  readonly entries: (assistant: string, from?: number, limit?: number) => Promise<ReadonlyArray<OutboxRow>>
  readonly options: AskOptions<FormOption>
  readonly onBroken: (listener: (address: Address, failure: HostFailure) => void) => () => void
  readonly run: <A>(effect: Effect.Effect<A>) => Promise<A>
  readonly id: Promise<string>
  /** The assistant that is asked; throws TargetAmbiguous. */
  readonly target: () => string
  readonly isTeam: (assistant: string) => boolean
  readonly tenant: TenantId
  readonly send: (assistant: string, id: string) => Promise<Receipt>
  readonly inspect: (assistant: string) => Promise<AssistantRecord | undefined>
  readonly newest: (assistant: string) => AsyncIterable<OutboxRow>
}

/** When the caller waits no longer: its signal says so, or its time is over. */
const leaving =
  ({ options: { signal, timeoutMs }, run }: Asking, assistant: string, id: string): Question["onLeave"] =>
  (listener) => {
    const abort = () => listener(signal?.reason)
    if (signal?.aborted === true) abort()
    signal?.addEventListener("abort", abort, { once: true })
    const left = Promise.withResolvers<void>()
    const message = `${assistant} gave no answer within ${timeoutMs} ms; the message is kept, and the same id reads its answer`
    if (timeoutMs !== undefined) {
      const late = () => Effect.sync(() => listener(new AnswerLate({ assistant, id, timeoutMs, message })))
      const inTime = Effect.promise(() => left.promise)
      run(Effect.timeoutOrElse(inTime, { duration: timeoutMs, orElse: late })).catch(listener)
    }
    return () => {
      left.resolve()
      signal?.removeEventListener("abort", abort)
    }
  }

/** What its form makes of an answer that was asked for in one, or what does not fit. */
const formed = (part: Part, output: AnswerSchema, run: Asking["run"]): Promise<Part> => {
  if (part.type !== "done") return Promise.resolve(part)
  const form = formAsked(output)
  const { output: json, reply, usage } = part
  return run(
    Effect.match(json === undefined ? readAnswer(form, reply) : checkAnswer(form, json), {
      // The type of the schema says what it makes of an answer.
      onSuccess: ({ value }): Part => ({ ...part, output: value as never }),
      onFailure: (issues): Part => ({ ...misshapen(reply, issues.join("; ")), ...defined({ usage }) })
    })
  )
}

class Asked implements Parts {
  place: string
  readonly #asking: Asking

  constructor(asking: Asking) {
    this.#asking = asking
    this.place = asking.options.after ?? ""
    // For a caller who never reads, this must not be an unhandled rejection.
    asking.id.catch(() => {})
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Part> {
    const { options, run } = this.#asking
    const { output } = options
    const question = await questionOf(this.#asking)
    for await (const { part, place } of partsOf(question)) {
      this.place = place ?? this.place
      yield output === undefined ? part : await formed(part, output, run)
    }
  }

  readonly toUIMessageStream = () => uiStream(this, this.#asking.id)
  readonly toUIMessageStreamResponse = (init?: ResponseInit) => uiResponse(this.toUIMessageStream(), init)
}

/** Sends when it is read, and gives the parts. */
export const asked = <Form extends FormOption>(asking: Asking): Parts<Form> => new Asked(asking) as Parts as Parts<Form>

const questionOf = async (asking: Asking): Promise<Question> => {
  const { id, inspect, listen, onEnd, options, send, target, tenant } = asking
  const { after } = options
  if (after !== undefined && !isPlace(after))
    throw new EnvelopeInvalid({ message: `${JSON.stringify(after)} is no place of an answer` })
  const envelope = (await id) as EnvelopeId
  const assistant = target()
  const about = { envelope, isTeam: asking.isTeam(assistant) }
  const isIts = (address: Address) => address.assistant === assistant && address.tenant === tenant
  return {
    ...about,
    after,
    listen,
    onEnd,
    onBroken: (listener) => asking.onBroken((address, failure) => (isIts(address) ? listener(failure) : undefined)),
    onLeave: leaving(asking, assistant, envelope),
    isAbout: ({ address }) => isIts(address),
    isHalted: async () => (await inspect(assistant))?.state.status === "halted",
    haltReason: async () => haltReasonIn(await inspect(assistant)),
    begin: async () => {
      const { outcome } = await send(assistant, envelope)
      if (outcome !== "duplicate") return { isNew: true }
      const end = after === undefined ? await endOf(rowsSince(asking, assistant, envelope), about) : undefined
      return end === undefined ? { isNew: false, rows: rowsSince(asking, assistant, envelope) } : { isNew: false, end }
    }
  }
}

/** The whole answer: what its form makes of it where it was asked for in one, else its text. Rejects with AnswerFailed. */
export const wholeAnswer = async <Form extends FormOption>(
  to: string,
  parts: Parts<Form>,
  form: Form | undefined
): Promise<AnswerOf<Form>> => {
  for await (const part of parts as AsyncIterable<Part>) {
    if (part.type === "done") return (form === undefined ? part.reply : part.output) as AnswerOf<Form>
    if (part.type !== "failed" && part.type !== "halted" && part.type !== "stopped") continue
    const { code, message } = part.error
    const said = { failed: "could not answer", halted: "is halted", stopped: "gave no whole answer" }[part.type]
    const reply = part.type === "stopped" ? { reply: part.reply } : {}
    throw new AnswerFailed({ assistant: to, code, message: `${to} ${said}: ${message}`, ...reply })
  }
  throw new AnswerFailed({ assistant: to, code: "NoAnswer", message: `${to} gave no answer` })
}
