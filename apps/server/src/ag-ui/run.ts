// Run: what came, and comes, back for one envelope.
// Owns finding its beginning in the ledger, reading on from there, and listening until its end. Leaves what is reported of an
// entry to teller.ts.
// R1  The ledger is what is reported; notices of this process only wake the reading, and `part`s only come early.
// R2  A run is reported by any process of a fleet: where nothing wakes it, it looks by itself.
// R3  Listening ends with the run, or when the one who reads it leaves.
// R4  A piece of a reply is reported after what was committed before it, and only where the whole reply was heard.

import { type AssistantRecord, type Entry, viewOf } from "reverie"
import { Ear } from "./ear.ts"
import type { ReadFleet } from "../gateway.ts"
import type { AgUiEvent } from "./events.ts"
import { isAsking, Teller } from "./teller.ts"
import { NotFound } from "../api/index.ts"
import { living } from "../views/facts.ts"

const READ_AT_ONCE = 100
/** Entries that are looked through for the beginning of a run. */
const MAX_LOOKED_BACK = 20_000
/** Letters of a mailbox that are looked through. */
const MAX_LETTERS = 500

export interface RunRequest {
  readonly assistant: string
  readonly envelope: string
  readonly threadId: string
  readonly runId: string
}

/** Where a run begins: an entry number, or that nothing of it has happened yet. */
export type Beginning = { readonly from: number } | "waiting" | undefined

const beginsWith = ({ cause }: Entry, envelope: string): boolean =>
  (cause.kind === "envelope" || cause.kind === "dead-letter") && cause.id === envelope

/** Letters that make an assistant that waits for a person go on. */
const movers: ReadonlySet<string> = new Set(["approval", "resume"])

const settles = ({ settled = [] }: Entry, envelope: string): boolean => settled.some(({ id }) => id === envelope)

/** Looks for the beginning of a run; undefined when the envelope is unknown, or the signal says that no client waits. */
export const beginningOf = async (
  fleet: ReadFleet,
  { assistant, envelope }: RunRequest,
  signal: AbortSignal
): Promise<Beginning> => {
  let looked = 0
  let end: number | undefined
  for await (const { entry } of fleet.history.newest(assistant)) {
    if (signal.aborted) return undefined
    if (beginsWith(entry, envelope)) return { from: entry.no }
    if (settles(entry, envelope)) end = entry.no
    if (++looked >= MAX_LOOKED_BACK) break
  }
  if (end !== undefined) return { from: end }
  if (signal.aborted) return undefined
  const letters = await fleet.history.mailbox(assistant, MAX_LETTERS)
  if (letters.some(({ id }) => id === envelope)) return "waiting"
  // More waits than can be looked through: it may be among them.
  const { waiting = 0 } = (await fleet.inspect(assistant)) ?? {}
  return waiting > letters.length ? "waiting" : undefined
}

export interface Listening {
  readonly fleet: ReadFleet
  readonly request: RunRequest
  readonly ear: Ear
  /** The version of the assistant when listening began: replies that were begun before are reported when they are committed. */
  readonly heardSince: number
  readonly beginning: { readonly from: number } | "waiting"
  readonly signal: AbortSignal
  /** What a failure is to the one who reads the run. */
  readonly explain: (error: unknown) => string
}

const statusBefore = async (fleet: ReadFleet, id: string, no: number): Promise<string> => {
  const [row] = no > 1 ? await fleet.history.entries(id, no - 1, 1) : []
  return row?.entry.status ?? "awake.idle"
}

/** Of a team only its states and its answer are reported: whom it asks is nothing that it says. */
const toldOf = (entry: Entry, isTeam: boolean): Entry => {
  if (!isTeam) return entry
  const { step: _, ...rest } = entry
  return { ...rest, messages: [] }
}

class Reading {
  readonly #listening: Listening
  readonly #teller: Teller
  readonly #isTeam: boolean
  #next = 1
  #seq = 0
  #tick: number | undefined
  #isHeardWhole = false

  constructor(listening: Listening) {
    const { fleet, request } = listening
    this.#listening = listening
    this.#isTeam = fleet.teams().some(({ id }) => id === request.assistant)
    this.#teller = new Teller({ ...request, isTeam: this.#isTeam })
  }

  async *events(): AsyncGenerator<AgUiEvent> {
    const { beginning, ear, fleet, heardSince, signal, request } = this.#listening
    this.#next = beginning === "waiting" ? heardSince + 1 : beginning.from
    yield* this.#teller.begin(await statusBefore(fleet, request.assistant, this.#next))
    while (!this.#teller.isOver && !signal.aborted) {
      const rows = await fleet.history.entries(request.assistant, this.#next, READ_AT_ONCE)
      for (const { entry, seq } of rows) {
        yield* this.#pieces(seq - 1)
        yield* this.#take(entry)
        this.#seq = seq
        if (this.#teller.isOver || signal.aborted) return
      }
      if (rows.length === READ_AT_ONCE) continue
      const record = await fleet.inspect(request.assistant)
      if (record === undefined || record.version >= this.#next) continue
      yield* this.#pieces(this.#seq)
      if (await this.#isWaiting(record)) yield* this.#teller.caughtUp(record.state.status, viewOf(record).approvals)
      if (!this.#teller.isOver) await ear.next(signal)
    }
  }

  /** Nothing goes on by itself: no decision is on its way, and none was heard since. */
  async #isWaiting({ state, version }: AssistantRecord): Promise<boolean> {
    const { fleet, request } = this.#listening
    const isHalted = state.status === "halted"
    if (!isHalted && (this.#tick === undefined || !isAsking(state.status))) return false
    const letters = await fleet.history.mailbox(request.assistant, MAX_LETTERS)
    if (letters.some(({ type }) => movers.has(type))) return false
    return (await fleet.inspect(request.assistant))?.version === version
  }

  failed(error: unknown): ReadonlyArray<AgUiEvent> {
    return this.#teller.failed(this.#listening.explain(error), "unavailable")
  }

  *#take(entry: Entry): Generator<AgUiEvent> {
    const { heardSince, request } = this.#listening
    this.#next = entry.no + 1
    if (entry.no > heardSince) this.#isHeardWhole = true
    if (this.#tick === undefined && (beginsWith(entry, request.envelope) || settles(entry, request.envelope))) {
      this.#tick = entry.tick
    }
    if (this.#tick !== undefined) yield* this.#teller.entry(toldOf(entry, this.#isTeam))
  }

  *#pieces(seq: number): Generator<AgUiEvent> {
    for (const piece of this.#listening.ear.ready(seq)) if (this.#isHeardWhole) yield* this.#teller.part(piece)
  }
}

/** The run from its beginning to its end; a failure on the way is its end. */
export async function* eventsOf(listening: Listening): AsyncGenerator<AgUiEvent> {
  const reading = new Reading(listening)
  try {
    yield* reading.events()
  } catch (error) {
    yield* reading.failed(error)
  }
}

// ToldRun: a run for the one who reads it in this process.
// D1  Anyone who stops reading, or whose signal says so, listens no more.

export const unknownEnvelope = ({ assistant, envelope }: RunRequest): NotFound =>
  new NotFound({ message: `${assistant} knows of no message ${envelope}` })

/** `prepare` comes after listening has begun and before anything is reported; what it rejects with is rejected with. */
export async function* toldRun(
  fleet: ReadFleet,
  request: RunRequest,
  { explain, prepare, signal }: Pick<Listening, "explain" | "signal"> & { readonly prepare: () => Promise<unknown> }
): AsyncGenerator<AgUiEvent> {
  const { version: heardSince } = await living(fleet, request.assistant)
  const ear = new Ear(fleet, request)
  try {
    await prepare()
    const beginning = await beginningOf(fleet, request, signal)
    if (beginning === undefined) throw unknownEnvelope(request)
    yield* eventsOf({ fleet, request, ear, heardSince, beginning, signal, explain })
  } finally {
    ear.close()
  }
}
