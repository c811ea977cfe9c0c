// LoopWatch: how long the event loop of this process is held in one piece.
// Owns measuring it and its figures. Leaves what is too long to health.ts, and to the code that reads the metrics.
// K1  It tells the same to all who ask: asking changes nothing.
// K2  `wall` is what everybody waited. `cpu` is how much of it this thread computed: a busy machine raises the former alone,
//     a slow disk too.

/** How often it looks. A hold is measured short by up to so much. */
const EVERY_MILLIS = 10
const SLOT_MILLIS = 1_000
const SLOTS = 60

/** Seconds. */
const BOUNDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

const clocks = ["wall", "cpu"] as const
type Clock = (typeof clocks)[number]

type Millis = Readonly<Record<Clock, number>>

interface Slot {
  /** Its number since the beginning. */
  no: number
  wall: number
  cpu: number
}

interface Histogram {
  readonly buckets: Array<number>
  sum: number
  count: number
}

const histogram = (): Histogram => ({ buckets: BOUNDS.map(() => 0), sum: 0, count: 0 })

const taken = (into: Histogram, seconds: number): void => {
  into.sum += seconds
  into.count++
  for (let at = BOUNDS.length - 1; at >= 0 && seconds <= (BOUNDS[at] ?? 0); at--) {
    into.buckets[at] = (into.buckets[at] ?? 0) + 1
  }
}

/** The clock of the process, and what its main thread has computed; both in milliseconds. */
const now = (): Millis => {
  const { system, user } = process.threadCpuUsage()
  return { wall: performance.now(), cpu: (system + user) / 1_000 }
}

export class LoopWatch {
  readonly #slots: Array<Slot> = Array.from({ length: SLOTS }, () => ({ no: -1, wall: 0, cpu: 0 }))
  readonly #histograms: Readonly<Record<Clock, Histogram>> = { wall: histogram(), cpu: histogram() }
  #last: Millis
  #timer: NodeJS.Timeout | undefined

  constructor(begun: Millis = now()) {
    this.#last = begun
  }

  /** Looks by itself from now on; keeps no process alive. */
  start(): this {
    this.#last = now()
    this.#timer ??= setInterval(() => this.look(now()), EVERY_MILLIS).unref()
    return this
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** It should have looked EVERY_MILLIS after the last time. */
  look(at: Millis): void {
    const wall = Math.max(0, at.wall - this.#last.wall - EVERY_MILLIS)
    const cpu = Math.min(wall, at.cpu - this.#last.cpu)
    this.#last = at
    taken(this.#histograms.wall, wall / 1_000)
    taken(this.#histograms.cpu, cpu / 1_000)
    const slot = this.#slotAt(at.wall)
    slot.wall = Math.max(slot.wall, wall)
    slot.cpu = Math.max(slot.cpu, cpu)
  }

  /** The longest hold of the last so many milliseconds, one that has not ended yet included. */
  longest(withinMs: number, at: Millis = now()): Millis {
    const from = Math.floor((at.wall - withinMs) / SLOT_MILLIS)
    const recent = this.#slots.filter(({ no }) => no >= from)
    const running = Math.max(0, at.wall - this.#last.wall - EVERY_MILLIS)
    return {
      wall: Math.max(running, ...recent.map(({ wall }) => wall)),
      cpu: Math.max(Math.min(running, at.cpu - this.#last.cpu), ...recent.map(({ cpu }) => cpu))
    }
  }

  format(at: Millis = now()): string {
    const longest = this.longest(SLOTS * SLOT_MILLIS, at)
    const held = "reverie_event_loop_hold_seconds"
    return [
      `# HELP ${held} How long the event loop was held in one piece; cpu is what this process computed of it.`,
      `# TYPE ${held} histogram`,
      ...clocks.flatMap((clock) => {
        const { buckets, count, sum } = this.#histograms[clock]
        return [
          ...buckets.map((below, index) => `${held}_bucket{clock="${clock}",le="${BOUNDS[index] ?? ""}"} ${below}`),
          `${held}_bucket{clock="${clock}",le="+Inf"} ${count}`,
          `${held}_sum{clock="${clock}"} ${sum}`,
          `${held}_count{clock="${clock}"} ${count}`
        ]
      }),
      "# HELP reverie_event_loop_hold_max_seconds The longest such piece of the last minute.",
      "# TYPE reverie_event_loop_hold_max_seconds gauge",
      ...clocks.map((clock) => `reverie_event_loop_hold_max_seconds{clock="${clock}"} ${longest[clock] / 1_000}`),
      ""
    ].join("\n")
  }

  #slotAt(wall: number): Slot {
    const no = Math.floor(wall / SLOT_MILLIS)
    const slot = this.#slots[no % SLOTS] as Slot
    if (slot.no !== no) {
      slot.no = no
      slot.wall = 0
      slot.cpu = 0
    }
    return slot
  }
}
