// OutageBook: what one process knows of the server of its model, and of those that wait for it.
// Owns whether it is away, who waits, and who may try before the end of a pause. Leaves the pauses to the statechart, waking
// to recovery.ts.
// B1  The server is away from a failure on until the next answer, whomever it answers.
// B2  Who waits is known from the commit, or the look into the store, that says so, until a commit says that it does not.
// B3  A pause ends before its time for one that was chosen to try, and for everybody after an answer, as far as the outage
//     that it has met allows (`Haste`). An assistant that fails in spite of it waits anew.
// B4  Nothing here is durable: a process that starts finds those that wait in the store.

import { contextOf, type Outage, type OutageSeen } from "@reverie/assistant"
import { type Address, addressKey, defined, type OpenJob } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Latch from "effect/Latch"
import { CallWithheld, isOutage, Model, type ModelError } from "@reverie/model"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { Secrets } from "../jobs/tool-job.ts"
import type { Session } from "../session/session.ts"

/** What is known of a server that is away. */
export interface Away {
  readonly server: string
  readonly since: number
  /** The last failure, and the reason of it in one line. */
  readonly at: number
  readonly reason: string
}

interface Waiting {
  readonly address: Address
  readonly outage: Outage
  /** Was told that the server answers. */
  isTold: boolean
}

const mayBeTold = ({ isTold, outage }: Waiting): boolean => !isTold && outage.sooner !== "never"

export class OutageBook {
  /** Open while someone should try whether the server is back. */
  readonly trouble = Latch.makeUnsafe(false)
  /** Opened when some of those that wait may go on. */
  readonly relief = Latch.makeUnsafe(false)
  /** Opened when the server was heard to answer another process. */
  readonly sign = Latch.makeUnsafe(false)
  /** Models whose calls are noted here, by what they were before. */
  readonly watched = new WeakMap<Model["Service"], Model["Service"]>()
  readonly #waiting = new Map<string, Waiting>()
  readonly #chosen = new Set<string>()
  /** How many of those that wait may be told. */
  #untold = 0
  #away: Away | undefined
  #hasEnded = false
  #answeredAt = 0
  /** When this process last tried in vain, or chose someone to. */
  #triedAt: number | undefined

  get away(): Away | undefined {
    return this.#away
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** True when an outage has ended since this was asked last. */
  takeEnd(): boolean {
    const hasEnded = this.#hasEnded
    this.#hasEnded = false
    return hasEnded
  }

  answered(at: number): void {
    this.#answeredAt = Math.max(this.#answeredAt, at)
    if (this.#away !== undefined) {
      this.#away = undefined
      this.#hasEnded = true
      this.#triedAt = undefined
      this.#chosen.clear()
      Latch.openUnsafe(this.relief)
    }
    if (this.#untold > 0) Latch.openUnsafe(this.relief)
  }

  failed(at: number, server: string, reason: string): void {
    this.#triedAt = at
    this.#meets({ server, since: this.#away?.since ?? at, at, reason })
  }

  /** The server has answered someone since then. */
  hasAnsweredSince(at: number): boolean {
    return this.#answeredAt > at
  }

  /** What a commit or the store says of one: that it waits, or that it does not. True when that is news. */
  follow(address: Address, outage: Outage | undefined): boolean {
    const key = addressKey(address)
    const known = this.#waiting.get(key)
    if (known === undefined && outage === undefined) return false
    if (known !== undefined && known.outage.at === outage?.at && known.outage.tries === outage.tries) return false
    if (known !== undefined && mayBeTold(known)) this.#untold--
    this.#waiting.delete(key)
    this.#chosen.delete(key)
    if (outage !== undefined) this.#waits(key, { address, outage, isTold: false })
    return true
  }

  knows(address: Address): boolean {
    return this.#waiting.has(addressKey(address))
  }

  mayTry(address: Address, { at, sooner }: Outage): boolean {
    if (sooner === "never") return false
    return at < this.#answeredAt || (sooner === "try" && this.#chosen.has(addressKey(address)))
  }

  /** In how many milliseconds someone should try, when those are to lie between two tries of this process. */
  tryInMillis(now: number, betweenMillis: number): number {
    return this.#triedAt === undefined ? 0 : Math.max(0, this.#triedAt + betweenMillis - now)
  }

  /** Chooses who tries: the one that has waited longest since its last try. */
  choose(now: number): Address | undefined {
    let chosen: Waiting | undefined
    for (const waiting of this.#waiting.values()) {
      if (waiting.outage.sooner !== "try") continue
      if (chosen === undefined || waiting.outage.at < chosen.outage.at) chosen = waiting
    }
    if (chosen === undefined) return undefined
    this.#triedAt = now
    this.#chosen.add(addressKey(chosen.address))
    return chosen.address
  }

  /** So many of those that may go on, each once; none while the server is away. */
  relieved(most: number): ReadonlyArray<Address> {
    const told: Array<Address> = []
    if (this.#away !== undefined) return told
    for (const waiting of this.#waiting.values()) {
      if (told.length >= most) break
      const { at, sooner } = waiting.outage
      if (waiting.isTold || sooner === "never" || at >= this.#answeredAt) continue
      waiting.isTold = true
      this.#untold--
      told.push(waiting.address)
    }
    return told
  }

  #waits(key: string, waiting: Waiting): void {
    const { outage } = waiting
    this.#waiting.set(key, waiting)
    if (mayBeTold(waiting)) this.#untold++
    if (outage.at < this.#answeredAt) Latch.openUnsafe(this.relief)
    else if (this.#away === undefined || outage.at > this.#away.at) this.#meets(outage)
    else Latch.openUnsafe(this.trouble)
  }

  #meets({ at, reason, server, since }: Away): void {
    this.#away = { server, since: Math.min(since, this.#away?.since ?? since), at, reason }
    Latch.openUnsafe(this.trouble)
  }
}

/** The book of the worker; work that no worker does has one of its own, which no one reads. */
export class Outages extends Context.Reference<OutageBook>("@reverie/runtime/Outages", {
  defaultValue: () => new OutageBook()
}) {}

// WatchedModel: the model, and what its calls say of its server.
// W1  A call that was never sent says nothing of the server.
// W2  Any call counts, no matter who makes it: a tick, a dream, a compaction, an assessment.

/** 1 while the server of the model answers, 0 while it is away. */
export const modelUp = Metric.gauge("reverie_model_up", { description: "Whether the server of the model answers." })
const modelWaiting = Metric.gauge("reverie_model_waiting", {
  description: "Assistants known to this process that wait for the server of their model."
})
const withheldCalls = Metric.counter("reverie_model_calls_withheld_total", {
  description: "Model calls that were not sent, because the server is known to be away.",
  incremental: true
})

const upAt = (server: string) => Metric.withAttributes(modelUp, { server })

/** Host and port of the server, as it names itself or as the failure does. */
const serverOf = ({ serves }: Pick<Model["Service"], "serves">, error?: ModelError): string =>
  serves?.server ?? error?.provider ?? "its model"

/** What is known of an assistant that may wait; the measures follow. */
export const followed = (address: Address, outage: Outage | undefined) =>
  Effect.flatMap(Outages, (book) => (book.follow(address, outage) ? measured(book) : Effect.void))

const measured = Effect.fnUntraced(function* ({ away, waiting }: OutageBook) {
  yield* Metric.update(modelWaiting, waiting)
  if (away !== undefined) yield* Metric.update(upAt(away.server), 0)
})

const watching = Effect.fnUntraced(function* (book: OutageBook, model: Model["Service"]) {
  const { hide } = yield* Secrets
  const up = model.serves?.server === undefined ? undefined : upAt(model.serves.server)
  /** The gauge says so already: nothing is measured with each answer of a server that goes on answering. */
  let isSaidUp = false
  const failed = Effect.fnUntraced(function* (error: ModelError) {
    if (error._tag === "CallWithheld") return yield* Metric.update(withheldCalls, 1)
    if (!isOutage(error)) return
    const server = serverOf(model, error)
    book.failed(yield* Clock.currentTimeMillis, server, hide(`${error._tag}: ${error.message}`))
    isSaidUp = false
    yield* Metric.update(upAt(server), 0)
  })
  const answered = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const isNews = !isSaidUp || book.away !== undefined
    book.answered(now)
    if (up === undefined || !isNews) return Effect.void
    isSaidUp = true
    return Metric.update(up, 1)
  })
  const watched: Model["Service"] = {
    ...model,
    infer: (prompt, options) =>
      model.infer(prompt, options).pipe(
        Effect.tap(() => answered),
        Effect.tapError(failed)
      )
  }
  book.watched.set(model, watched)
  return watched
})

const watchingEach = Effect.fnUntraced(function* (book: OutageBook, model: Model["Service"]) {
  const { inOrder } = model
  if (inOrder === undefined) return yield* watching(book, model)
  const watched = inOrder.dressed(yield* Effect.forEach(inOrder.models, watchedModel))
  book.watched.set(model, watched)
  return watched
})

/** The model as the worker watches it, made once for all its jobs. */
export const watchedModel = (model: Model["Service"]): Effect.Effect<Model["Service"]> =>
  Effect.flatMap(Outages, (book) => {
    const known = book.watched.get(model)
    return known === undefined ? watchingEach(book, model) : Effect.succeed(known)
  })

// OutageSeen: a failed call of a job, in the words in which the statechart hears of an outage.
// S1  What is said follows from the job and the failure: no two assistants are asked to come back at the same moment.
// S2  Of a call that was not sent the reason is the one for which it was not.

/** From 0 to 1, another one for each text (FNV-1a). */
const shareOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return ((hash ^ (hash >>> 15)) >>> 0) / 4_294_967_296
}

/** A server that is busy speaks to everyone who asks; one that counts what it is asked, to this one. */
const namedBy = (error: ModelError): Pick<OutageSeen, "named"> =>
  error._tag === "ModelParked" ? { named: error.status === 429 ? "one" : "all" } : {}

/** What a failure says of the model's server; undefined when it speaks of the call. */
export const outageSeen = Effect.fnUntraced(function* (
  { address, decoded }: Session,
  { id }: OpenJob,
  error: ModelError
) {
  if (!isOutage(error)) return undefined
  const book = yield* Outages
  const known = contextOf(decoded).outage
  const isWithheld = error._tag === "CallWithheld"
  const outage: OutageSeen = {
    server: serverOf(yield* Model, error),
    at: yield* Clock.currentTimeMillis,
    spread: Math.round(shareOf(`${addressKey(address)}/${id}`) * 1_000) / 1_000,
    ...defined({
      withheld: isWithheld ? true : undefined,
      alone: !isWithheld && known !== null && book.hasAnsweredSince(known.at) ? true : undefined
    }),
    ...namedBy(error)
  }
  const reason = isWithheld ? (book.away?.reason ?? known?.reason) : undefined
  return {
    recovery: error.recovery,
    reason: reason ?? `${error._tag}: ${error.message}`,
    ...defined({ retryAfterMillis: "retryAfterMillis" in error ? error.retryAfterMillis : undefined }),
    outage
  }
})

/** Why a call would not be sent now: said before anything is made ready for it. */
export const withheldBefore = (model: Model["Service"]) =>
  model.circuit === undefined
    ? Effect.undefined
    : Effect.flatMap(model.circuit.withheldMillis(), (millis) =>
        millis === 0 ? Effect.undefined : withheldFor(model, millis)
      )

const withheldFor = Effect.fnUntraced(function* (model: Model["Service"], retryAfterMillis: number) {
  yield* Metric.update(withheldCalls, 1)
  const message = `not asked: it is away, and is tried again in ${retryAfterMillis} ms`
  return new CallWithheld({ provider: serverOf(model), message, retryAfterMillis })
})
