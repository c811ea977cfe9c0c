// OutageBook: what one process knows of the servers of its models, and of those that wait for them.
// Owns which are away, who waits for which, and who may try before the end of a pause. Leaves the pauses to the statechart, waking
// to recovery.ts.
// B1  A server is away from a failure on until its next answer, whomever it answers.
// B2  Who waits is known from the commit, or the look into the store, that says so, until a commit says that it does not.
// B3  A pause ends before its time for one that was chosen to try, and after an answer of a server for everybody who waits for
//     it, as far as the outage that it has met allows (`Haste`). One that waits for several is woken by any of them, and no one by
//     the answer of another server. An assistant that fails in spite of it waits anew.
// B4  Nothing here is durable: a process that starts finds those that wait in the store.
// B5  A model that names no server answers for every server that no named one is known to stand for.

import { contextOf, type Outage, type OutageSeen } from "@reverie/assistant"
import { CallWithheld, isOutage, Model, type ModelError } from "@reverie/model"
import { type Address, addressKey, defined, type OpenJob } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Metric from "effect/Metric"
import { Secrets } from "../jobs/job-end.ts"
import type { Session } from "../session/session.ts"

/** What is known of a server that is away. */
export interface Away {
  readonly server: string
  readonly since: number
  /** The last failure, and the reason of it in one line. */
  readonly at: number
  readonly reason: string
}

type Circuit = NonNullable<Model["Service"]["circuit"]>

/** One server, as far as this process knows it. */
class Known {
  away: Away | undefined
  answeredAt = 0
  /** When this process last tried in vain, or chose someone to. */
  triedAt: number | undefined
  /** How many of those that wait for it may be told. */
  untold = 0
  /** A model is known that says that it asks this server. */
  isNamed = false
  readonly chosen = new Set<string>()
  /** Where calls to it may be withheld. */
  readonly circuits = new Set<Circuit>()
  /** Opened when it was heard to answer another process. */
  readonly sign = Latch.makeUnsafe(false)
}

interface Waiting {
  readonly address: Address
  readonly outage: Outage
  /** Was told that a server answers. */
  isTold: boolean
}

const mayBeTold = ({ isTold, outage }: Waiting): boolean => !isTold && outage.sooner !== "never"

/** Every server whose answer ends a wait. */
const serversOf = ({ others = [], server }: Pick<Outage, "others" | "server">): ReadonlyArray<string> => [
  server,
  ...others
]

export class OutageBook {
  /** Open while someone should try whether a server is back. */
  readonly trouble = Latch.makeUnsafe(false)
  /** Opened when some of those that wait may go on. */
  readonly relief = Latch.makeUnsafe(false)
  /** Models whose calls are noted here, by what they were before. */
  readonly watched = new WeakMap<Model["Service"], Model["Service"]>()
  readonly #servers = new Map<string, Known>()
  readonly #waiting = new Map<string, Waiting>()
  #hasEnded = false

  /** The servers that are away. */
  get away(): ReadonlyArray<Away> {
    return [...this.#servers.values()].flatMap(({ away }) => away ?? [])
  }

  get waiting(): number {
    return this.#waiting.size
  }

  awayAt(server: string): Away | undefined {
    return this.#servers.get(server)?.away
  }

  sign(server: string): Latch.Latch {
    return this.#known(server).sign
  }

  circuits(server: string): ReadonlySet<Circuit> {
    return this.#known(server).circuits
  }

  /** A model is asked that names this server. */
  names(server: string, circuit: Circuit | undefined): void {
    const known = this.#known(server)
    known.isNamed = true
    if (circuit !== undefined) known.circuits.add(circuit)
  }

  /** True when an outage has ended since this was asked last. */
  takeEnd(): boolean {
    const hasEnded = this.#hasEnded
    this.#hasEnded = false
    return hasEnded
  }

  /** Without a server: by a model that names none (B5). */
  answered(at: number, server?: string): void {
    if (server !== undefined) return this.#answers(this.#known(server), at)
    for (const known of this.#servers.values()) if (!known.isNamed) this.#answers(known, at)
  }

  failed(at: number, server: string, reason: string): void {
    const known = this.#known(server)
    known.triedAt = at
    this.#meets(known, { server, since: known.away?.since ?? at, at, reason })
  }

  /** Each of the servers has answered someone since then. */
  haveAnsweredSince(at: number, seen: Pick<Outage, "others" | "server">): boolean {
    return serversOf(seen).every((server) => this.#known(server).answeredAt > at)
  }

  /** What a commit or the store says of one: that it waits, or that it does not. True when that is news. */
  follow(address: Address, outage: Outage | undefined): boolean {
    const key = addressKey(address)
    const known = this.#waiting.get(key)
    if (known === undefined && outage === undefined) return false
    if (known !== undefined && known.outage.at === outage?.at && known.outage.tries === outage.tries) return false
    if (known !== undefined) {
      const isCounted = mayBeTold(known)
      for (const server of this.#of(known.outage)) {
        if (isCounted) server.untold--
        server.chosen.delete(key)
      }
    }
    this.#waiting.delete(key)
    if (outage !== undefined) this.#waits(key, { address, outage, isTold: false })
    return true
  }

  knows(address: Address): boolean {
    return this.#waiting.has(addressKey(address))
  }

  mayTry(address: Address, outage: Outage): boolean {
    const { at, sooner } = outage
    if (sooner === "never") return false
    const key = addressKey(address)
    return this.#of(outage).some(({ answeredAt, chosen }) => at < answeredAt || (sooner === "try" && chosen.has(key)))
  }

  /** In how many milliseconds someone should try a server, when those are to lie between two tries of this process. */
  tryInMillis(server: string, now: number, betweenMillis: number): number {
    const { triedAt } = this.#known(server)
    return triedAt === undefined ? 0 : Math.max(0, triedAt + betweenMillis - now)
  }

  /** Who could try a server: the one that has waited longest since its last try. */
  candidate(server: string): Address | undefined {
    let found: Waiting | undefined
    for (const waiting of this.#waiting.values()) {
      if (waiting.outage.sooner !== "try" || !serversOf(waiting.outage).includes(server)) continue
      if (found === undefined || waiting.outage.at < found.outage.at) found = waiting
    }
    return found?.address
  }

  /** Chooses who tries a server. */
  choose(server: string, now: number): Address | undefined {
    const found = this.candidate(server)
    if (found === undefined) return undefined
    const known = this.#known(server)
    known.triedAt = now
    known.chosen.add(addressKey(found))
    return found
  }

  /** So many of those that may go on, each once; none while each of its servers is away. */
  relieved(most: number): ReadonlyArray<Address> {
    const told: Array<Address> = []
    for (const waiting of this.#waiting.values()) {
      if (told.length >= most) break
      if (!mayBeTold(waiting) || !this.#isRelieved(waiting.outage)) continue
      waiting.isTold = true
      for (const server of this.#of(waiting.outage)) server.untold--
      told.push(waiting.address)
    }
    return told
  }

  #known(server: string): Known {
    const known = this.#servers.get(server) ?? new Known()
    this.#servers.set(server, known)
    return known
  }

  #of(outage: Outage): ReadonlyArray<Known> {
    return serversOf(outage).map((server) => this.#known(server))
  }

  #isRelieved(outage: Outage): boolean {
    return this.#of(outage).some(({ answeredAt, away }) => away === undefined && outage.at < answeredAt)
  }

  #answers(known: Known, at: number): void {
    known.answeredAt = Math.max(known.answeredAt, at)
    if (known.away !== undefined) {
      known.away = undefined
      this.#hasEnded = true
      known.triedAt = undefined
      known.chosen.clear()
      Latch.openUnsafe(this.relief)
    }
    if (known.untold > 0) Latch.openUnsafe(this.relief)
  }

  #waits(key: string, waiting: Waiting): void {
    const { outage } = waiting
    this.#waiting.set(key, waiting)
    const isCounted = mayBeTold(waiting)
    for (const server of serversOf(outage)) {
      const known = this.#known(server)
      if (isCounted) known.untold++
      if (outage.at < known.answeredAt) Latch.openUnsafe(this.relief)
      else if (known.away === undefined || outage.at > known.away.at) this.#meets(known, { ...outage, server })
      else Latch.openUnsafe(this.trouble)
    }
  }

  #meets(known: Known, { at, reason, server, since }: Away): void {
    known.away = { server, since: Math.min(since, known.away?.since ?? since), at, reason }
    Latch.openUnsafe(this.trouble)
  }
}

/** The book of the worker; work that no worker does has one of its own, which no one reads. */
export class Outages extends Context.Reference<OutageBook>("@reverie/runtime/Outages", {
  defaultValue: () => new OutageBook()
}) {}

// WatchedModel: the model, and what its calls say of its server; of a list, each model by itself.
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
  for (const { server } of away) yield* Metric.update(upAt(server), 0)
})

const watching = Effect.fnUntraced(function* (book: OutageBook, model: Model["Service"]) {
  const { hide } = yield* Secrets
  const named = model.serves?.server
  const up = named === undefined ? undefined : upAt(named)
  if (named !== undefined) book.names(named, model.circuit)
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
    const isNews = !isSaidUp || (named !== undefined && book.awayAt(named) !== undefined)
    book.answered(now, named)
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
  const { others } = error
  const where = { server: serverOf(yield* Model, error), ...defined({ others }) }
  const isAlone = !isWithheld && known !== null && book.haveAnsweredSince(known.at, where)
  const outage: OutageSeen = {
    ...where,
    at: yield* Clock.currentTimeMillis,
    spread: Math.round(shareOf(`${addressKey(address)}/${id}`) * 1_000) / 1_000,
    ...defined({
      withheld: isWithheld ? true : undefined,
      alone: isAlone ? true : undefined
    }),
    ...namedBy(error)
  }
  const reason = isWithheld ? (book.awayAt(where.server)?.reason ?? known?.reason) : undefined
  return {
    recovery: error.recovery,
    reason: reason ?? `${error._tag}: ${error.message}`,
    ...defined({ retryAfterMs: "retryAfterMs" in error ? error.retryAfterMs : undefined }),
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

const withheldFor = Effect.fnUntraced(function* (model: Model["Service"], retryAfterMs: number) {
  yield* Metric.update(withheldCalls, 1)
  const message = `not asked: it is away, and is tried again in ${retryAfterMs} ms`
  const [provider = serverOf(model), ...others] = model.inOrder?.models.map((each) => serverOf(each)) ?? []
  const more = [...new Set(others)].filter((server) => server !== provider)
  return new CallWithheld({
    provider,
    message,
    retryAfterMs,
    ...defined({ others: more.length === 0 ? undefined : more })
  })
})
