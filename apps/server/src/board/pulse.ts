// Pulse: what the assistants of one tenant did in the last day, a minute each, and the last lines of it in words.
// Owns counting entries into minutes, and keeping the newest sentences. Leaves who is in which state to board.ts.
// U1  It follows from the entries of the outbox alone: after a restart it is made of them again, as far back as it reads.
// U2  Every entry counts once, in the minute of its commit. What model calls took is what `/v1/usage` sums.
// U3  It holds a day of minutes, the runs under way and MAX_LINES lines, however long a fleet lives.
// U4  Data stands in a line as words: none holds JSON.

import { noticesOf, withoutJson } from "@reverie/protocol"
import { type OutboxRow, type Sentence, Sentences } from "reverie"
import type { PulsePoint, PulseView } from "../api/index.ts"

const MINUTE_MILLIS = 60_000
const DAY_MINUTES = 1_440
/** Minutes of a point of the day. */
const DAY_STEP = 15
const MAX_LINES = 60
const MAX_LINE_CHARS = 240
/** Entries that are read again when it begins: what lies before them it does not know. */
const MOST_READ = 50_000
/** The newest of its tenant's are made sentences of: the lines of all before them would be gone by the end. */
const MOST_TOLD = 2_000
const PAGE = 500

// Durations: how long something took, in classes that grow by a fifth.

const CLASSES = 80
const GROWTH = 1.2

const classOf = (millis: number): number =>
  Math.min(CLASSES - 1, Math.max(0, Math.ceil(Math.log(Math.max(1, millis)) / Math.log(GROWTH))))

/** What nineteen of twenty stay within, to a fifth; null where there were none. */
const p95Of = (counts: Uint32Array): number | null => {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  let left = Math.ceil(all * 0.95)
  const found = counts.findIndex((count) => (left -= count) <= 0)
  return Math.round(GROWTH ** found)
}

class Minutes {
  messages = 0
  runs = 0
  modelCalls = 0
  modelFailed = 0
  tokens = 0
  costMicros = 0
  unpricedCalls = 0
  readonly runMillis = new Uint32Array(CLASSES)
  readonly modelMillis = new Uint32Array(CLASSES)

  add(other: Minutes): void {
    this.messages += other.messages
    this.runs += other.runs
    this.modelCalls += other.modelCalls
    this.modelFailed += other.modelFailed
    this.tokens += other.tokens
    this.costMicros += other.costMicros
    this.unpricedCalls += other.unpricedCalls
    for (const [at, count] of other.runMillis.entries()) this.runMillis[at] = (this.runMillis[at] ?? 0) + count
    for (const [at, count] of other.modelMillis.entries()) this.modelMillis[at] = (this.modelMillis[at] ?? 0) + count
  }

  pointAt(at: number): PulsePoint {
    const { costMicros, messages, modelCalls, modelFailed, modelMillis, runMillis, runs, tokens, unpricedCalls } = this
    return {
      at,
      messages,
      runs,
      runP95Ms: p95Of(runMillis),
      modelCalls,
      modelFailed,
      modelP95Ms: p95Of(modelMillis),
      tokens,
      costMicros,
      unpricedCalls
    }
  }
}

/** What a pulse is read from. */
export interface PulseSource {
  readonly tenant: string
  readonly outbox: {
    readonly end: () => Promise<number>
    readonly read: (after: number, limit: number) => Promise<ReadonlyArray<OutboxRow>>
  }
}

interface Line extends Sentence {
  readonly seq: number
  readonly at: number
  readonly assistant: string
}

const cut = (text: string): string =>
  text.length > MAX_LINE_CHARS ? `${text.slice(0, MAX_LINE_CHARS).toWellFormed()}…` : text

export class Pulse {
  readonly #minutes = new Map<number, Minutes>()
  /** When the runs under way began, by assistant. */
  readonly #begun = new Map<string, number>()
  readonly #sentences = new Sentences()
  readonly #lines: Array<Line> = []
  /** Entries up to here are those that are read when it begins. */
  readonly #from: number
  #since = 0
  /** What was committed while those before it are still being read. */
  #early: Array<OutboxRow> | undefined = []

  private constructor(from: number) {
    this.#from = from
  }

  /** Begins: what is committed from now on is reported by `tell`, what was before is read. */
  static async begin({ outbox, tenant }: PulseSource, now: number, hold: (pulse: Pulse) => void): Promise<Pulse> {
    const end = await outbox.end()
    const pulse = new Pulse(end)
    hold(pulse)
    const early = now - DAY_MINUTES * MINUTE_MILLIS
    // The first place that may be within the day: places grow with time.
    let [low, high] = [Math.max(0, end - MOST_READ), end]
    while (high - low > PAGE) {
      const middle = Math.floor((low + high) / 2)
      const [row] = await outbox.read(middle, 1)
      if (row !== undefined && row.entry.at < early) low = middle
      else high = middle
    }
    const [first] = await outbox.read(low, 1)
    // What was before the first of as many as it reads is not known, where that lies within the day.
    pulse.#since = low > 0 && first !== undefined && first.entry.at > early ? first.entry.at : early
    let newest: ReadonlyArray<OutboxRow> = []
    for (let after = low; after < end;) {
      const page = await outbox.read(after, PAGE)
      const last = page.at(-1)
      if (last === undefined) break
      const own = page.filter(({ address, seq }) => seq <= end && address.tenant === tenant)
      for (const row of own) pulse.#take(row)
      newest = [...newest, ...own].slice(-MOST_TOLD)
      after = last.seq
    }
    for (const row of newest) pulse.#say(row)
    for (const row of pulse.#early ?? []) pulse.#hear(row)
    pulse.#early = undefined
    return pulse
  }

  /** Entries of its tenant, as they are committed. */
  tell(row: OutboxRow): void {
    if (row.seq <= this.#from) return
    if (this.#early === undefined) this.#hear(row)
    else this.#early.push(row)
  }

  view(now: number): PulseView {
    const last = Math.floor(now / MINUTE_MILLIS)
    const lastStep = Math.floor(last / DAY_STEP)
    const points = (count: number, step: number, newest: number) =>
      Array.from({ length: count }, (_, place) => {
        const first = (newest - count + 1 + place) * step
        const sum = new Minutes()
        for (let minute = first; minute < first + step; minute++) {
          const one = this.#minutes.get(minute)
          if (one !== undefined) sum.add(one)
        }
        return sum.pointAt(first * MINUTE_MILLIS)
      })
    return {
      now,
      since: this.#since,
      hour: points(60, 1, last),
      day: points(DAY_MINUTES / DAY_STEP, DAY_STEP, lastStep),
      feed: this.#lines.toReversed()
    }
  }

  #hear(row: OutboxRow): void {
    this.#take(row)
    this.#say(row)
  }

  /** Into the minute of its commit. */
  #take({ address, entry }: OutboxRow): void {
    const { at, cause, messages, step, tickEnd } = entry
    const minute = this.#minuteOf(at)
    const { assistant } = address
    if (cause.kind === "envelope" && cause.lane === "mail" && messages.some(({ role }) => role === "user")) {
      minute.messages++
      this.#begun.set(assistant, at)
    }
    if (tickEnd !== undefined) {
      minute.runs++
      const millis = at - (this.#begun.get(assistant) ?? at)
      minute.runMillis[classOf(millis)] = (minute.runMillis[classOf(millis)] ?? 0) + 1
      this.#begun.delete(assistant)
    }
    if (step?.kind === "infer") {
      minute.modelMillis[classOf(step.elapsedMs)] = (minute.modelMillis[classOf(step.elapsedMs)] ?? 0) + 1
      if (!step.ok) minute.modelFailed++
    }
    for (const use of step?.spent ?? []) {
      minute.modelCalls += use.calls
      minute.tokens += use.inputTokens + use.outputTokens
      minute.costMicros += use.costMicros
      minute.unpricedCalls += use.unpricedCalls
    }
  }

  /** What it is in words. */
  #say({ address, entry, seq }: OutboxRow): void {
    const { at } = entry
    const { assistant } = address
    for (const notice of noticesOf(address, seq, entry)) {
      const sentence = this.#sentences.of(notice)
      if (sentence === undefined) continue
      this.#lines.push({ ...sentence, text: cut(withoutJson(sentence.text)), seq, at, assistant })
      if (this.#lines.length > MAX_LINES) this.#lines.shift()
    }
  }

  #minuteOf(at: number): Minutes {
    const key = Math.floor(at / MINUTE_MILLIS)
    const known = this.#minutes.get(key)
    if (known !== undefined) return known
    const fresh = new Minutes()
    this.#minutes.set(key, fresh)
    const [oldest] = this.#minutes.keys()
    if (this.#minutes.size > DAY_MINUTES + DAY_STEP && oldest !== undefined) this.#minutes.delete(oldest)
    return fresh
  }
}
