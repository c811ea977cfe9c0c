// FleetNemeses: the faults that a fleet has to live through.
// Owns what each of them does, and the plan of a run. Leaves when they come to fleet.ts, and the processes to fleet-crew.ts.
// N1  What pauses or cuts off a worker lasts longer than a lease, and goes on beside the faults that follow; one worker at
//     a time is in that state, and is not chosen for anything else.
// N2  A worker is chosen when it is ready; one that is still starting has nothing to lose.

import { setTimeout as sleep } from "node:timers/promises"
import type { FaultPoint } from "@reverie/runtime"
import type { BlackHole, PostgresServer, RedisServer } from "@reverie/testkit/servers"
import type { Hand, Post } from "./fleet-crew.ts"
import { steadyMillis } from "./fleet-diary.ts"
import type { Wound } from "./fleet-judge.ts"

export interface WorkerPlace {
  readonly post: Post
  /** Its own ways to the servers. */
  readonly redis: BlackHole
  readonly postgres: BlackHole
  /** What its next process believes the time to be. */
  nextShiftMillis: number
}

export interface Stage {
  readonly redis: RedisServer
  readonly postgres: PostgresServer
  readonly workers: ReadonlyArray<WorkerPlace>
  readonly producers: ReadonlyArray<Post>
  /** A whole number below the limit. */
  readonly random: (limit: number) => number
  readonly wounds: Array<Wound>
  /** What still goes on beside the plan. */
  readonly lasting: Set<Promise<void>>
  disabled: WorkerPlace | undefined
}

/** Longer than a lease of the fleet profile, and than Redis takes to notice. */
const BEYOND_LEASE_MILLIS = 7_000
const POINT_PATIENCE_MILLIS = 4_000
const HOUR_MILLIS = 3_600_000
const DEAD_SERVER_MILLIS = 300
const MOST_PASSINGS = 3
/** Between a burst and its fault at most. */
const BURST_MILLIS = 350

const workerPoints: ReadonlyArray<FaultPoint> = [
  "after-claim",
  "before-commit",
  "after-commit",
  "before-model",
  "after-model",
  "before-tool",
  "after-tool",
  "before-deliver",
  "after-deliver"
]
const producerPoints: ReadonlyArray<FaultPoint> = ["before-accept", "after-accept"]

const wound = (stage: Stage, kind: string, ...victims: ReadonlyArray<string>): void =>
  void stage.wounds.push({ kind, victims, at: steadyMillis() })

const everyWorker = ({ workers }: Stage): ReadonlyArray<string> => workers.map(({ post }) => post.hand().name)

/** A worker that is ready and no one has cut off. */
const chooseWorker = async (stage: Stage): Promise<WorkerPlace> => {
  for (;;) {
    const able = stage.workers.filter((place) => place !== stage.disabled && place.post.hand().isReady())
    if (able.length > 0) return able[stage.random(able.length)]!
    await sleep(20)
  }
}

const kill = (stage: Stage, kind: string, hand: Hand): Promise<unknown> => {
  wound(stage, kind, hand.name)
  hand.signal("SIGKILL")
  return hand.gone
}

const whenGone = (hand: Hand): Promise<boolean> =>
  Promise.race([hand.gone.then(() => true), sleep(POINT_PATIENCE_MILLIS, false)])

/** Dies where it says; where it does not come in time, it dies where it is. */
const killAtPoint = async (
  stage: Stage,
  post: Post,
  points: ReadonlyArray<FaultPoint>,
  burst: () => void
): Promise<void> => {
  const hand = post.hand()
  const point = points[stage.random(points.length)]!
  hand.order({ do: "arm", point, passing: 1 + stage.random(MOST_PASSINGS) })
  burst()
  if (!(await whenGone(hand))) return void (await kill(stage, "kill", hand))
  const { at } = await hand.gone
  stage.wounds.push({ kind: `at ${point}`, victims: [hand.name], at })
}

/** Disables a worker for longer than its lease, beside what follows. */
const disable = async (stage: Stage, kind: string, begin: (place: WorkerPlace) => () => unknown): Promise<void> => {
  await Promise.all(stage.lasting)
  const place = await chooseWorker(stage)
  stage.disabled = place
  wound(stage, kind, place.post.hand().name)
  const end = begin(place)
  const whole = async (): Promise<void> => {
    await sleep(BEYOND_LEASE_MILLIS)
    await end()
    stage.disabled = undefined
  }
  const lasts = whole().finally(() => stage.lasting.delete(lasts))
  stage.lasting.add(lasts)
}

/** `burst` lets events in; what waits for work of a certain kind does so itself. */
type Inflict = (stage: Stage, burst: () => void) => Promise<unknown>

/** Events are let in, and after a moment of no name it happens. */
const amidst =
  (happen: Inflict): Inflict =>
  async (stage, burst) => {
    burst()
    await sleep(stage.random(BURST_MILLIS))
    await happen(stage, burst)
  }

const killServer =
  (kind: string, which: (stage: Stage) => RedisServer | PostgresServer): Inflict =>
  async (stage) => {
    wound(stage, kind, ...everyWorker(stage))
    await which(stage).kill()
    await sleep(stage.random(DEAD_SERVER_MILLIS))
    await which(stage).restart()
  }

const inflictions = {
  kill: amidst(async (stage) => kill(stage, "kill", (await chooseWorker(stage)).post.hand())),
  point: async (stage, burst) => killAtPoint(stage, (await chooseWorker(stage)).post, workerPoints, burst),
  pause: amidst((stage) =>
    disable(stage, "pause", ({ post }) => {
      const hand = post.hand()
      hand.signal("SIGSTOP")
      return () => hand.signal("SIGCONT")
    })
  ),
  "redis-kill": amidst(killServer("redis-kill", ({ redis }) => redis)),
  flush: amidst((stage) => {
    wound(stage, "flush", ...everyWorker(stage))
    return stage.redis.send("FLUSHALL")
  }),
  "postgres-kill": amidst(killServer("postgres-kill", ({ postgres }) => postgres)),
  "redis-hang": amidst((stage) =>
    disable(stage, "redis-hang", ({ redis }) => {
      redis.hang()
      return redis.heal
    })
  ),
  "postgres-hang": amidst((stage) =>
    disable(stage, "postgres-hang", ({ postgres }) => {
      postgres.hang()
      return postgres.heal
    })
  ),
  producer: async (stage, burst) => {
    const post = stage.producers[stage.random(stage.producers.length)]!
    await post.hand().ready
    await killAtPoint(stage, post, producerPoints, burst)
  },
  clock: amidst(async (stage) => {
    const place = await chooseWorker(stage)
    place.nextShiftMillis = stage.random(2) === 0 ? HOUR_MILLIS : -HOUR_MILLIS
    return kill(stage, "clock", place.post.hand())
  }),
  "postgres-restart": amidst((stage) => {
    wound(stage, "postgres-restart", ...everyWorker(stage))
    return stage.postgres.restart()
  })
} satisfies Record<string, Inflict>

export type Nemesis = keyof typeof inflictions

export const inflict = (nemesis: Nemesis, stage: Stage, burst: () => void): Promise<unknown> =>
  inflictions[nemesis](stage, burst)

/** Of two hundred. The first ones of the list are in every plan, however short. */
const shares: Readonly<Record<Nemesis, number>> = {
  kill: 84,
  point: 44,
  pause: 16,
  "redis-kill": 8,
  flush: 8,
  "postgres-kill": 6,
  "redis-hang": 7,
  "postgres-hang": 7,
  producer: 12,
  clock: 4,
  "postgres-restart": 4
}
const OF = 200

const nemeses = Object.keys(shares) as ReadonlyArray<Nemesis>

const shuffled = <A>(values: ReadonlyArray<A>, random: (limit: number) => number): ReadonlyArray<A> => {
  const left = [...values]
  return values.map(() => left.splice(random(left.length), 1)[0]!)
}

/** Which faults a run of so many has, in their order. */
export const planOf = (faults: number, random: (limit: number) => number): ReadonlyArray<Nemesis> => {
  const once = nemeses.slice(0, faults)
  const more = nemeses.flatMap((nemesis) =>
    Array.from({ length: Math.max(0, Math.round((shares[nemesis] * faults) / OF) - 1) }, () => nemesis)
  )
  const all = [...once, ...more].slice(0, faults)
  return shuffled([...all, ...Array.from({ length: faults - all.length }, (): Nemesis => "kill")], random)
}

/** The nemeses that a plan of so many must have inflicted. */
export const nemesesOf = (faults: number): ReadonlyArray<Nemesis> => nemeses.slice(0, faults)
