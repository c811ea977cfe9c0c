// Board: the fleet of one tenant, kept ready for lists.
// Owns its rows: built from the records once, kept by the entries that come by. Leaves order and pages to choice.ts.
// B1  After any sequence of commits it is what it would be if it were built anew, but for what only entries tell.
// B2  What entries do not tell is read from the records: of the rows that a page shows at once, of the others in turn.
// B3  It holds one row an assistant and nothing that grows with their lives.
// B4  What cannot be read of one assistant is in no one else's way.

import type { AssistantRecord, FleetReadings, OutboxRow } from "reverie"
import type { AssistantRow, Counts, Outage, PulseView } from "../api/index.ts"
import { budgetsOf } from "./budgets.ts"
import { Choice, type Filter, meaning, type Question, type Tags } from "./choice.ts"
import { Counting, Outages } from "./counting.ts"
import { type GroupQuestion, groupsOf } from "./groups.ts"
import { Pulse } from "./pulse.ts"
import { Day, lookBackInto, readInto, type Row, rowOf, shownOf, tellRow } from "./row.ts"

const PAGE = 500
/** Shown rows that were read within it are not read again. */
const FRESH_MILLIS = 500
/** Rows that are read anew with each list, in turn. */
const SWEEP = 200
/** Entries that are looked at to find since when an assistant is in its state. */
const LOOK_BACK = 20

export interface Listed {
  readonly items: ReadonlyArray<AssistantRow>
  readonly next: string | null
  readonly matched: number
  readonly counts: Counts
  readonly outages: ReadonlyArray<Outage>
}

export interface Work {
  readonly busy: ReadonlyArray<string>
  /** Envelopes. */
  readonly waiting: number
  /** Those that are tried again after a pause. */
  readonly delayed: number
}

type Reading = Pick<FleetReadings, "list" | "inspect" | "tenant" | "usage"> & {
  readonly history: Pick<FleetReadings["history"], "entries">
  readonly outbox: Pick<FleetReadings["outbox"], "end" | "read">
}

/** Damaged, or written by a newer Reverie: a matter of one assistant. */
const isUnreadable = (error: unknown): boolean => {
  if (typeof error !== "object" || error === null) return false
  return Reflect.get(error, "_tag") === "UnreadableRecord" || Reflect.get(error, "recovery") === "tell-owner"
}

export class Board {
  readonly #fleet: Reading
  readonly #rows = new Map<string, Row>()
  /** Told by entries since they were read. */
  readonly #changed = new Set<string>()
  readonly #day: Day
  #isBuilt = false
  #early: Array<OutboxRow> = []
  #pulse: Pulse | undefined
  #beginning: Promise<Pulse> | undefined
  #sweptTo: string | undefined
  #isSweeping = false

  constructor(fleet: Reading) {
    this.#fleet = fleet
    this.#day = new Day((question) => fleet.usage(question))
  }

  get size(): number {
    return this.#rows.size
  }

  /** The names of the definitions that its assistants were made from. */
  definitions(): ReadonlySet<string> {
    return new Set([...this.#rows.values()].map(({ definition }) => definition))
  }

  /** What it did in the last day; made of the outbox with the first question. */
  async pulse(now: number): Promise<PulseView> {
    const hold = (pulse: Pulse): void => void (this.#pulse = pulse)
    this.#beginning ??= Pulse.begin(this.#fleet, now, hold).catch((error: unknown) => {
      this.#beginning = undefined
      this.#pulse = undefined
      throw error
    })
    return (await this.#beginning).view(now)
  }

  /** Entries of this tenant, from before `build` on. */
  tell(rows: ReadonlyArray<OutboxRow>): void {
    if (this.#pulse !== undefined) for (const row of rows) this.#pulse.tell(row)
    if (!this.#isBuilt) {
      for (const row of rows) this.#early.push(row)
      return
    }
    for (const row of rows) this.#tellOne(row)
  }

  /** Something was accepted for it, which no entry tells yet. */
  touch(id: string): void {
    if (this.#rows.has(id)) this.#changed.add(id)
  }

  async build(now: number): Promise<void> {
    let after: string | undefined
    while (true) {
      const page = await this.#fleet.list(after, PAGE)
      for (const record of page) this.#rows.set(record.address.assistant, rowOf(record, now))
      after = page.at(-1)?.address.assistant
      if (page.length < PAGE) break
    }
    this.#isBuilt = true
    for (const row of this.#early) this.#tellOne(row)
    this.#early = []
  }

  async list(question: Question, now: number): Promise<Listed> {
    await this.#readChanged(now)
    const dayOf = await this.#day.read(now)
    const choice = new Choice(question, now)
    for (const row of this.#rows.values()) {
      row.day = dayOf(row.id)
      choice.take(row)
    }
    const { matched, next, rows } = choice.page()
    await Promise.all(rows.map((row) => this.#freshen(row, now)))
    // Counted last: sums agree with the rows they stand over.
    const counting = new Counting(now)
    const outages = new Outages()
    for (const row of this.#rows.values()) {
      counting.take(row)
      outages.take(row)
    }
    // Anyone who asked need not wait for it, nor hear when it fails: the next list goes on with it.
    this.#sweep(now).catch(() => {})
    return { items: rows.map(shownOf), next, matched, counts: counting.counts, outages: outages.all }
  }

  /** Who may spend how much, the most used up first; at most so many. */
  async budgets(now: number, limit: number): Promise<ReturnType<typeof budgetsOf>> {
    await this.#readChanged(now)
    const dayOf = await this.#day.read(now)
    for (const row of this.#rows.values()) if (row.budget !== undefined) row.day = dayOf(row.id)
    return budgetsOf(this.#rows.values(), now, limit)
  }

  /** The servers of models that are away. */
  async outages(now: number): Promise<ReadonlyArray<Outage>> {
    await this.#readChanged(now)
    const outages = new Outages()
    for (const row of this.#rows.values()) outages.take(row)
    return outages.all
  }

  /** The ids that a filter means, in their order. */
  async meant(filter: Filter, now: number, tags?: Tags): Promise<ReadonlyArray<string>> {
    await this.#readChanged(now)
    return [...this.#rows.values()]
      .filter(meaning(filter, tags))
      .map(({ id }) => id)
      .toSorted()
  }

  /** What those that a filter means come to, by definition, state or label. */
  async groups(question: GroupQuestion, now: number): Promise<ReturnType<typeof groupsOf>> {
    await this.#readChanged(now)
    const dayOf = await this.#day.read(now)
    for (const row of this.#rows.values()) row.day = dayOf(row.id)
    return groupsOf(this.#rows.values(), question, now)
  }

  /** The ids of those who may wait for a person. */
  async asking(now: number): Promise<ReadonlyArray<string>> {
    await this.#readChanged(now)
    return [...this.#rows.values()].filter(({ approvals }) => approvals > 0).map(({ id }) => id)
  }

  /** Who works, and what waits for whom. */
  async work(now: number): Promise<Work> {
    await this.#readChanged(now)
    const busy: Array<string> = []
    let waiting = 0
    let delayed = 0
    for (const row of this.#rows.values()) {
      waiting += row.waiting
      if (row.state.endsWith(".parked")) delayed++
      else if (row.isWorking) busy.push(row.id)
    }
    return { busy, waiting, delayed }
  }

  /** The row of one, as it is now; undefined when no one of that name lives here. */
  async rowOf(id: string, now: number): Promise<AssistantRow | undefined> {
    const record = await this.#fleet.inspect(id)
    if (record === undefined) return undefined
    const row = this.#read(record, now)
    await this.#freshen(row, now)
    row.day = (await this.#day.read(now))(id)
    return shownOf(row)
  }

  #tellOne(told: OutboxRow): void {
    const id = told.address.assistant
    const row = this.#rows.get(id)
    if (told.entry.step?.spent !== undefined) this.#day.touch()
    // An assistant that was created since is read with the next list, and what was told of it with it.
    if (row === undefined || tellRow(row, told)) this.#changed.add(id)
  }

  #read(record: AssistantRecord, now: number): Row {
    const id = record.address.assistant
    const row = this.#rows.get(id)
    this.#changed.delete(id)
    if (row !== undefined) {
      readInto(row, record, now)
      return row
    }
    const created = rowOf(record, now)
    this.#rows.set(id, created)
    return created
  }

  /** When many have changed, reading pages is cheaper than reading each. */
  async #readChanged(now: number): Promise<void> {
    if (this.#changed.size > this.#rows.size / 4 && this.#changed.size > PAGE) {
      this.#changed.clear()
      let after: string | undefined
      while (true) {
        const page = await this.#fleet.list(after, PAGE)
        for (const record of page) this.#read(record, now)
        after = page.at(-1)?.address.assistant
        if (page.length < PAGE) return
      }
    }
    const changed = [...this.#changed]
    this.#changed.clear()
    await Promise.all(
      changed.map(async (id) => {
        try {
          const record = await this.#fleet.inspect(id)
          if (record !== undefined) this.#read(record, now)
        } catch (error) {
          if (!isUnreadable(error)) throw error
        }
      })
    )
  }

  /** What cannot be read of one keeps its row as it was: the list is for all the others too. */
  async #freshen(row: Row, now: number): Promise<void> {
    try {
      if (now - row.readAt > FRESH_MILLIS) {
        const record = await this.#fleet.inspect(row.id)
        if (record !== undefined) readInto(row, record, now)
      }
      if (row.since === 0) await this.#lookBack(row)
    } catch (error) {
      if (!isUnreadable(error)) throw error
    }
  }

  /** Since when it is in its state, as far as its newest entries tell. */
  async #lookBack(row: Row): Promise<void> {
    const { commits } = row
    const entries = await this.#fleet.history.entries(row.id, Math.max(1, commits - LOOK_BACK + 1), LOOK_BACK)
    if (row.commits === commits && row.since === 0) lookBackInto(row, entries)
  }

  async #sweep(now: number): Promise<void> {
    if (this.#isSweeping) return
    this.#isSweeping = true
    try {
      const page = await this.#fleet.list(this.#sweptTo, SWEEP)
      for (const record of page) this.#read(record, now)
      this.#sweptTo = page.length < SWEEP ? undefined : page.at(-1)?.address.assistant
    } finally {
      this.#isSweeping = false
    }
  }
}
