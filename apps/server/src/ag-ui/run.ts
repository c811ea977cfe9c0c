// Run: what came, and comes, back for one envelope.
// Owns finding its beginning in the ledger, reading on from there, and listening until its end. Leaves what is reported of an
// entry to a telling: that of AG-UI (teller.ts), or one of formats.ts.
// R1  The ledger is what is reported; notices of this process only wake the reading, and `part`s only come early.
// R2  A run is reported by any process of a fleet: where nothing wakes it, it looks by itself.
// R3  Listening ends with the run, or when the one who reads it leaves.
// R4  A piece of a reply is reported after what was committed before it, and only where the whole reply was heard.

import { type AssistantRecord, type Entry, type OutboxRow, viewOf } from "reverie"
import { Ear, type PieceNotice } from "./ear.ts"
import type { ReadFleet } from "../gateway.ts"
import type { AgUiEvent } from "./events.ts"
import { isAsking, type OpenApproval, Teller } from "./teller.ts"
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

/** What is reported of a run, made of its entries and of the pieces of its replies. */
export interface Telling<Event> {
  readonly isOver: boolean
  /** `status`: the state of the assistant before the run. */
  readonly begin: (status: string) => ReadonlyArray<Event>
  readonly piece: (notice: PieceNotice) => ReadonlyArray<Event>
  readonly entry: (row: OutboxRow) => ReadonlyArray<Event>
  /** Nothing more is in the ledger: it goes on when someone acts. */
  readonly caughtUp: (status: string, approvals: ReadonlyArray<OpenApproval>) => ReadonlyArray<Event>
  readonly failed: (message: string, code: string) => ReadonlyArray<Event>
}

export const isTeamIn = (fleet: ReadFleet, { assistant }: RunRequest): boolean =>
  fleet.teams().some(({ id }) => id === assistant)

/** In the events of AG-UI. */
export const agUiTelling = (fleet: ReadFleet, request: RunRequest): Telling<AgUiEvent> => {
  const isTeam = isTeamIn(fleet, request)
  const teller = new Teller({ ...request, isTeam })
  return {
    get isOver() {
      return teller.isOver
    },
    begin: (status) => teller.begin(status),
    piece: ({ at, piece }) => teller.piece(piece, at),
    entry: ({ entry }) => teller.entry(toldOf(entry, isTeam)),
    caughtUp: (status, approvals) => teller.caughtUp(status, approvals),
    failed: (message, code) => teller.failed(message, code)
  }
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

class Reading<Event> {
  readonly #listening: Listening
  readonly #telling: Telling<Event>
  #next = 1
  #seq = 0
  #tick: number | undefined
  #isHeardWhole = false

  constructor(listening: Listening, telling: Telling<Event>) {
    this.#listening = listening
    this.#telling = telling
  }

  async *events(): AsyncGenerator<Event> {
    const { beginning, ear, fleet, heardSince, signal, request } = this.#listening
    this.#next = beginning === "waiting" ? heardSince + 1 : beginning.from
    yield* this.#telling.begin(await statusBefore(fleet, request.assistant, this.#next))
    while (!this.#telling.isOver && !signal.aborted) {
      const rows = await fleet.history.entries(request.assistant, this.#next, READ_AT_ONCE)
      for (const row of rows) {
        yield* this.#pieces(row.seq - 1)
        yield* this.#take(row)
        this.#seq = row.seq
        if (this.#telling.isOver || signal.aborted) return
      }
      if (rows.length === READ_AT_ONCE) continue
      const record = await fleet.inspect(request.assistant)
      if (record === undefined || record.version >= this.#next) continue
      yield* this.#pieces(this.#seq)
      if (await this.#isWaiting(record)) yield* this.#telling.caughtUp(record.state.status, viewOf(record).approvals)
      if (!this.#telling.isOver) await ear.next(signal)
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

  failed(error: unknown): ReadonlyArray<Event> {
    return this.#telling.failed(this.#listening.explain(error), "unavailable")
  }

  *#take(row: OutboxRow): Generator<Event> {
    const { heardSince, request } = this.#listening
    const { entry } = row
    this.#next = entry.no + 1
    if (entry.no > heardSince) this.#isHeardWhole = true
    if (this.#tick === undefined && (beginsWith(entry, request.envelope) || settles(entry, request.envelope))) {
      this.#tick = entry.tick
    }
    if (this.#tick !== undefined) yield* this.#telling.entry(row)
  }

  *#pieces(seq: number): Generator<Event> {
    for (const notice of this.#listening.ear.ready(seq)) if (this.#isHeardWhole) yield* this.#telling.piece(notice)
  }
}

/** The run from its beginning to its end; a failure on the way is its end. */
export async function* eventsOf<Event>(listening: Listening, telling: Telling<Event>): AsyncGenerator<Event> {
  const reading = new Reading(listening, telling)
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
    const telling = agUiTelling(fleet, request)
    yield* eventsOf({ fleet, request, ear, heardSince, beginning, signal, explain }, telling)
  } finally {
    ear.close()
  }
}
