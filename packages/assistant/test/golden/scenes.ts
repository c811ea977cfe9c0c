// Scenes: for every state in which an assistant can be found, a short life that leads there.
// Owns the lives that golden snapshots are written from.

import { STATE_VERSION } from "@reverie/protocol"
import { DEFAULT_SETTINGS, type restingStates } from "../../src/index.ts"
import {
  asking,
  at,
  away,
  BROKEN,
  DONE,
  failure,
  message,
  PENDING,
  Rig,
  skipped,
  sleep,
  stored,
  unfinished,
  worked
} from "../rig.ts"
import { type LeafState } from "../../src/chart/ignored.ts"

/** An assistant that holds a value of its own for every setting it can, in the middle of its second tick. */
const lived = (): Rig =>
  new Rig({
    ...DEFAULT_SETTINGS,
    maxIterations: 3,
    confirmDangerous: false,
    terminalEndsLoop: false,
    assessTask: true,
    maxErrors: 4,
    approvalMs: 60_001,
    reportMs: 60_002,
    parkMinMs: 1_001,
    parkMaxMs: 60_003,
    sleepMs: 60_004,
    compactEnabled: true,
    compactSleepRatio: 0.6,
    compactEmergencyRatio: 0.9
  })
    .hear(message("envelope-1"))
    .fails("assess", {})
    .fails("infer", failure("tell-owner"))
    .hear(message("envelope-2", { signals: at(0.89) }))

const restricted = (): Rig =>
  lived().ends("assess", { restriction: { mode: "react_loop", maxIterations: 2, confirmDangerous: true } })

const acting = (): Rig =>
  restricted().ends("infer", asking("safe_chain", "dangerous", "async_required", "terminal", "dangerous"))

const asleep = (operations: number): Rig => {
  const rig = new Rig({ compactEnabled: true }).hear(sleep("envelope-1", { forMs: 90_000, signals: at(0.71) }))
  for (let operation = 0; operation < operations; operation++) rig.ends("dream", skipped(at(0.71)))
  return rig.hear({ type: "wake" })
}

const compacting = (phases: number): Rig => {
  const rig = new Rig({ compactEnabled: true }).hear(message("envelope-1", { signals: at(0.95) }))
  for (let phase = 0; phase < phases; phase++) rig.ends("compact", worked(at(0.95)))
  return rig
}

const scenes: { readonly [State in LeafState]?: () => Rig } = {
  "awake.idle": () => new Rig(),
  "awake.assessing.weighing": lived,
  "awake.thinking.inferring": restricted,
  "awake.thinking.parked": () => restricted().fails("infer", failure("park", { retryAfterMs: 7_000 })),
  "awake.acting.running": () => acting().ends("tool.0", DONE).ends("tool.2", PENDING),
  "awake.awaitingApproval": () => acting().ends("tool.0", DONE).ends("tool.2", PENDING).fails("tool.3", {}),
  "awake.awaitingReports": () =>
    restricted().ends("infer", asking("async_required", "safe_chain")).ends("tool.1", BROKEN).ends("tool.0", PENDING),
  "dreaming.consolidating": () => asleep(0),
  "dreaming.linking": () => asleep(1),
  "dreaming.profiling": () => asleep(2),
  "dreaming.reflecting": () => asleep(3),
  "dreaming.pruning": () => asleep(4),
  "dreaming.pausing": () =>
    new Rig({ sleepTickMs: 60_005 })
      .hear(sleep("envelope-1", { forMs: 90_000, at: 1_000 }))
      .ends("dream", { ...unfinished(), at: 31_000 }),
  "dreaming.resting": () => {
    const rig = new Rig().hear(sleep("envelope-1"))
    while (rig.jobs.size > 0) rig.ends("dream", skipped())
    return rig
  },
  "compacting.extracting": () => compacting(0),
  "compacting.summarizing": () => compacting(1),
  "compacting.replacing": () => compacting(2),
  "compacting.parked": () => compacting(1).fails("compact", away(1_000, { spread: 0.5 })),
  halted: () => acting().hear({ type: "halt", reason: "fire drill" }),
  retired: () => acting().hear({ type: "retire" })
}

/** A scene for every state at rest, by the state it leads to. */
export const sceneOf = (state: (typeof restingStates)[number]): Rig => {
  const scene = scenes[state]
  if (scene === undefined) throw new Error(`no scene leads to ${state}`)
  return scene()
}

export interface Golden {
  readonly format: number
  readonly status: string
  readonly snapshot: unknown
}

export const goldenOf = (state: (typeof restingStates)[number]): Golden => {
  const rig = sceneOf(state)
  return { format: STATE_VERSION, status: rig.status, snapshot: stored(rig.decoded) }
}
