// Lives: one process after the other on the same disk, each until it dies of something.
// Owns dying and coming back, as a supervisor has it. What kills is said by the test.

import type { FaultPoint } from "@reverie/runtime"
import type { MemoryDisk } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { type Life, live, type LifeOptions } from "../rig.ts"

/** Ends the life it is called in: nothing of it happens any more. */
export type Kill = Effect.Effect<never>

export interface Lives {
  /** The last one, which came to rest. */
  readonly last: Life
  /** How many ended before it. */
  readonly deaths: number
}

const MOST_LIVES = 60

export interface LivesOptions {
  /** Done at the beginning of every life but the first. */
  readonly between?: (life: Life) => void
  /** When a life is killed from outside; not at all when undefined. */
  readonly killAfterMillis?: (index: number) => number | undefined
  /** When a life is stopped in good order: it lets go of everything, and the next one begins. */
  readonly stopAfterMillis?: (index: number) => number | undefined
}

const RESTART_MILLIS = 1_000

/** Stops the workers of a life in good order. */
const stopped = (life: Life, worker: Fiber.Fiber<unknown, unknown>, millis: number): void => {
  life.pass(millis)
  life.run(Fiber.interrupt(worker))
}

/** Lives one after the other, each until it dies, the last one until it rests. `begin` is done in the first one. */
export const lives = (
  options: (kill: Kill, index: number) => LifeOptions,
  begin: (life: Life) => void,
  { between, killAfterMillis, stopAfterMillis }: LivesOptions = {}
): Lives => {
  let disk: MemoryDisk | undefined
  let startAt: number | undefined
  for (let index = 0; index < MOST_LIVES; index++) {
    let created: Life | undefined
    const kill = Effect.suspend(() => {
      if (created !== undefined) created.dead = true
      return Effect.never
    })
    const life = live({
      ...options(kill, index),
      idle: true,
      onCreation: (each) => {
        created = each
      },
      ...(disk === undefined ? {} : { disk }),
      ...(startAt === undefined ? {} : { startAt })
    })
    const worker = life.work()
    if (index === 0) begin(life)
    else between?.(life)
    const [killed, stopping] = [killAfterMillis?.(index), stopAfterMillis?.(index)]
    if (killed !== undefined) life.fork(Effect.delay(kill, killed))
    if (stopping === undefined) life.rest()
    else stopped(life, worker, stopping)
    if (!life.dead && stopping === undefined) return { last: life, deaths: index }
    disk = life.disk
    startAt = life.time.now + RESTART_MILLIS
  }
  throw new Error(`it never came to rest in ${MOST_LIVES} lives`)
}

/** Dies at a fault point, of one assistant or of any, as often as it should. */
export const dyingAt = (point: FaultPoint, times: number, assistant?: string) => {
  let left = times
  return (kill: Kill): Pick<LifeOptions, "faults"> => ({
    faults: {
      at: (at, address) =>
        Effect.suspend(() => {
          if (at !== point || left === 0 || (assistant !== undefined && address.assistant !== assistant)) {
            return Effect.void
          }
          left--
          return kill
        })
    }
  })
}
