// NightLife: what one child process of the night lane does until it is killed.
// Owns the day, the night after it, and where the process kills itself. Leaves judging to night.ts.
// N1  Only while the assistant dreams or compacts its history are passings counted: whatever is killed there is a night's work.
// N2  Anyone who runs this again on the same directory goes on where it was.
// N3  The day leaves work to every operation and phase: the history is compacted by day and again by night, and what the
//     evening writes down calls for a reflection.

import { join } from "node:path"
import type { FaultPoint } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import { defineAssistant, defineFleet, Fleet, memoryTools, selfTools } from "reverie"

export const NIGHT_POINTS = [
  "before-model",
  "after-model",
  "before-commit",
  "after-commit"
] as const satisfies ReadonlyArray<FaultPoint>
export type NightPoint = (typeof NIGHT_POINTS)[number]

/** A state of the night and a point passed in it, as `dreaming.linking before-commit`. */
export type Place = `${string} ${NightPoint}`

export interface NightOptions {
  readonly data: string
  /** Where this process kills itself, and at which passing of that place. */
  readonly killAt?: { readonly place: string; readonly passing: number }
}

export const SLEEPER = "keeper"

const berths = [
  ["Caspar", "The Aurora is at pier 3 with 21 tons of timber."],
  ["Dora", "My brother Ludwig bought the Borealis in Hamburg and paid 1,370 crowns for her."],
  ["Caspar", "The Borealis brought 34 tons of salt, and I signed for them."],
  ["Dora", "I live in the old lighthouse and I work for the harbour office."],
  ["Caspar", "The Aurora is at pier 5 with 21 tons of timber."],
  ["Dora", "Ludwig sold the tug Cormorant to the pilots on Monday."],
  ["Caspar", "My daughter Greta has a boat of her own and loves the sea."],
  ["Dora", "The Borealis lost her anchor off the north mole, and Caspar found it."]
] as const

/** Fills the window, and leaves nothing to remember. */
const SMALL_TALK = "How are you? What a day! ".repeat(24)

/** The conversation of the lane, the same every time: plain statements, each with something to remember. */
const letters: ReadonlyArray<{ readonly id: string; readonly from: string; readonly text: string }> = Array.from(
  { length: 17 },
  (_, index) => {
    const [from, said] = berths[index % berths.length]!
    const text = index < berths.length ? said : `In week ${index}: ${said}`
    return { id: `letter-${index}`, from, text: `${text} ${SMALL_TALK}` }
  }
)

/** What the assistant does of its own accord before the letters: it puts things away. */
const morning = [
  '/update_entity_observation entity="Dora" observation="Dora knows every light of the coast."',
  '/store_memory text="The harbour book of the year stands on the upper shelf."'
]

/** And after them: it goes to bed, and fills its journal until it is worth looking back upon. */
const evening = [
  "/go_to_sleep hours=4",
  ...Array.from(
    { length: 15 },
    (_, index) => `/add_journal_entry content="Aurora, day ${index}: ${index + 2} tons of salt." importance=10`
  )
]

/** When the first letter was said. */
const SAID_AT = Date.UTC(2026, 2, 14, 9)
/** When all of it is lived through. */
export const EVENING = Date.UTC(2026, 2, 14, 22)
const MINUTE_MILLIS = 60_000

const wanted: ReadonlySet<string> = new Set([
  "go_to_sleep",
  "add_journal_entry",
  "update_entity_observation",
  "store_memory",
  "read_history"
])

export const nightFleet = defineFleet({
  assistants: [
    defineAssistant({
      id: SLEEPER,
      instructions: "You keep the harbour book.",
      tools: [...selfTools, ...memoryTools].filter(({ name }) => wanted.has(name)),
      maxContextTokens: 8_000,
      reservedResponseTokens: 400,
      // The night's last work archives the day: whatever place it is killed at, what is left is read out of segments.
      retention: { archiveAfter: 8 },
      compaction: {
        compactPreserveWindow: 8,
        preCompactMaxIterations: 2,
        strategy: { type: "recursive-summarization", chunkTokens: 1_200 }
      },
      settings: { compactEnabled: true, compactSleepRatio: 0.3, compactEmergencyRatio: 0.5 }
    })
  ]
})

const isNight = (status: string): boolean => status.startsWith("dreaming.") || status.startsWith("compacting.")

/** Lives through the day and the night after it, or until killed. Answers how often each place was passed. */
export const liveNight = async ({ data, killAt }: NightOptions): Promise<Readonly<Record<Place, number>>> => {
  let status = ""
  const passed: Record<string, number> = {}
  await using fleet = await Fleet.open({
    data: join(data, "store"),
    fleet: nightFleet,
    model: "offline",
    onNotice: (notice) => {
      if (notice.type === "state-changed") status = notice.status
    },
    faults: {
      at: (point) =>
        Effect.sync(() => {
          if (!isNight(status)) return
          const place = `${status} ${point}`
          passed[place] = (passed[place] ?? 0) + 1
          if (place === killAt?.place && passed[place] >= killAt.passing) process.kill(process.pid, "SIGKILL")
        })
    }
  })
  status = (await fleet.inspect(SLEEPER))?.state.status ?? ""
  const timer = async (name: string, calls: ReadonlyArray<string>): Promise<void> => {
    await fleet.post(SLEEPER, { type: "timer", name, note: calls.join("\n") }, { id: name, from: "clock" })
    await fleet.idle()
  }
  await timer("morning", morning)
  for (const [index, { from, id, text }] of letters.entries()) {
    await fleet.post(SLEEPER, { type: "message", text, at: SAID_AT + index * MINUTE_MILLIS }, { id, from })
    await fleet.idle()
  }
  await timer("evening", evening)
  return passed
}
