// Replay: the group about going through a life again, and about trying a tick with something changed.
// Owns frames as the contract has them, and the bound on how much is gone through. Leaves replaying and forking to the SDK.
// R1  A page of frames ends at its limit, or at the first frame that it was told to stop at.
// R2  Nothing of a fork reaches the fleet; the model that is asked is one of the fleet's own server, or none. Who leaves ends it.

import { defined } from "@reverie/protocol"
import { type Fork, type ForkRequest, type Json, type ReplayFrame, type ReplayVerdict, viewOf } from "reverie"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api, Conflict, type Frame, Malformed, NotFound } from "../../api/index.ts"
import { clip, clipAll, LIST_CHARS, WHOLE_CHARS } from "../../views/message-view.ts"
import { asking, costing, type ReadFleet } from "../../gateway.ts"
import { living } from "../../views/facts.ts"
import { type Drops, Live } from "../../live.ts"

// ReplayWalks: replays that were left in the middle, for anyone who comes for the next page.
// W1  A page that follows another one goes on where that ended; any other one is reached from the creation on.
// W2  At most MOST_KEPT are kept, those that were left last.
// W3  One that is gone on with belongs to no one else meanwhile.

const MOST_KEPT = 8

type Walk = AsyncIterator<ReplayFrame, unknown, unknown>

interface WalkRequest {
  readonly id: string
  readonly from: number
  readonly snapshots: boolean
}

/** What a walk asks. */
type Walked = Pick<ReadFleet, "tenant"> & { readonly replay: Pick<ReadFleet["replay"], "frames"> }

const keyOf = ({ tenant }: Walked, { from, id, snapshots }: WalkRequest): string =>
  `${tenant}/${id}/${from}/${snapshots ? "with" : "without"}`

const letGo = (walk: Walk): void => void walk.return?.().catch(() => {})

export class ReplayWalks {
  readonly #left = new Map<string, Walk>()

  constructor(drops?: Drops) {
    drops?.listen(() => {
      for (const walk of this.#left.values()) letGo(walk)
      this.#left.clear()
    })
  }

  /** The frames from a number on. */
  take(fleet: Walked, request: WalkRequest): Walk {
    const key = keyOf(fleet, request)
    const walk = this.#left.get(key)
    this.#left.delete(key)
    const { from, id, snapshots } = request
    return walk ?? fleet.replay.frames(id, { from, snapshots })[Symbol.asyncIterator]()
  }

  /** Keeps a walk whose next frame is that of `request.from`. */
  leave(fleet: Walked, request: WalkRequest, walk: Walk): void {
    const key = keyOf(fleet, request)
    const before = this.#left.get(key)
    if (before !== undefined) letGo(before)
    this.#left.delete(key)
    this.#left.set(key, walk)
    const [oldest] = this.#left
    if (this.#left.size <= MOST_KEPT || oldest === undefined) return
    this.#left.delete(oldest[0])
    letGo(oldest[1])
  }
}

// ForkModel: the model that a fork asks, by its name.
// M1  No one who asks names a server or a key: both are those of the environment that the process was started in.

const DEFAULT_BASE_URL = "https://api.openai.com/v1"

const modelNamed = (name: string): NonNullable<ForkRequest["model"]> => {
  if (name === "offline" || name === "recorded") return name
  const { OPENAI_API_KEY: apiKey = "", OPENAI_BASE_URL: baseURL = "" } = process.env
  if (apiKey === "" && baseURL === "") {
    throw new Malformed({
      message: "no server of models is configured here",
      hint: "say offline or recorded, or start the server with OPENAI_BASE_URL or OPENAI_API_KEY"
    })
  }
  return {
    baseURL: baseURL === "" ? DEFAULT_BASE_URL : baseURL,
    model: name,
    ...defined({ apiKey: apiKey === "" ? undefined : apiKey })
  }
}

/** Commits that one request may go through; a frame is made of every one before it. */
const MAX_COMMITS = 100_000

const replayable = (id: string, commits: number, isWhole: boolean): void => {
  if (isWhole || commits <= MAX_COMMITS) return
  const message = `${id} has lived through ${commits} commits; at most ${MAX_COMMITS} are gone through by one request`
  throw new Conflict({ message, hint: `reverie replay ${id} goes through all of them` })
}

const causeOf = ({ cause }: ReplayFrame): string => {
  switch (cause.kind) {
    case "creation":
      return cause.kind
    case "envelope":
    case "dead-letter":
      return `${cause.kind} ${cause.lane} ${cause.id}`
    case "job":
      return `job ${cause.id}`
    case "timer":
      return `timer ${cause.name}`
  }
}

const viewOfFrame = (frame: ReplayFrame): Frame => {
  const { cause: _, eventType, problem, snapshot, step, ...rest } = frame
  return {
    ...rest,
    cause: causeOf(frame),
    event: eventType ?? "",
    ...defined({ step, problem, snapshot })
  }
}

interface FramesAsked {
  readonly from?: number
  readonly to?: number
  readonly limit: number
  readonly untilState?: string
  readonly untilEvent?: string
  readonly snapshots?: "true" | "false"
}

const isIn = (state: string, wanted: string): boolean => state === wanted || state.startsWith(`${wanted}.`)

const stopsAt = ({ after, eventType }: ReplayFrame, { untilEvent, untilState }: FramesAsked): boolean =>
  (untilState !== undefined && isIn(after, untilState)) || (untilEvent !== undefined && eventType === untilEvent)

const framesOf = async (walks: ReplayWalks, fleet: ReadFleet, id: string, asked: FramesAsked, isWhole: boolean) => {
  const version = Math.min(asked.to ?? Infinity, (await living(fleet, id)).version)
  const request = { id, from: Math.max(1, asked.from ?? 1), snapshots: asked.snapshots === "true" }
  replayable(id, Math.min(request.from + asked.limit, version), isWhole)
  const items: Array<Frame> = []
  if (request.from > version) return { items, next: null }
  for (let walk = walks.take(fleet, request); ;) {
    const { done, value } = await walk.next()
    const next = (items.at(-1)?.no ?? request.from - 1) + 1
    if (done !== true) {
      items.push(viewOfFrame(value))
      if (items.length < asked.limit && value.no !== asked.to && !stopsAt(value, asked)) continue
      walks.leave(fleet, { ...request, from: value.no + 1 }, walk)
      return { items, next: value.no < version ? value.no + 1 : null }
    }
    // A replay is of one moment: what was committed since is gone to anew.
    if (next > version) return { items, next: null }
    walk = walks.take(fleet, { ...request, from: next })
  }
}

const verdictOf = ({ commits, differences, equal, mismatches, modelCalls, toolCalls, unknown }: ReplayVerdict) => {
  const [mismatch] = mismatches
  const [difference] = differences
  const at = mismatch?.no ?? difference?.writtenBy
  const told =
    mismatch?.what ??
    (difference === undefined
      ? undefined
      : `${difference.path.join(".")}: ${difference.replayed ?? "nothing"}, stored is ${difference.stored ?? "nothing"}`)
  return {
    commits,
    equal,
    modelCalls,
    toolCalls,
    ...defined({ differsAt: at, difference: told === undefined ? undefined : clip(told, LIST_CHARS * 4), unknown })
  }
}

interface ChangedTick {
  readonly tick: number
  readonly prompt?: string
  readonly stubs?: { readonly [tool: string]: string }
  readonly results?: ReadonlyArray<{ readonly call: string; readonly tool: string; readonly content: string }>
}

/** What the SDK takes for a tick and what is changed in it. */
const changesOf = (assistant: string, { prompt, results = [], stubs = {}, tick }: ChangedTick) => ({
  assistant,
  tick,
  ...defined({ instructions: prompt }),
  stubs: [...results, ...Object.entries(stubs).map(([tool, content]) => ({ tool, content }))]
})

const assertTick = async (fleet: ReadFleet, id: string, tick: number): Promise<void> => {
  const record = await living(fleet, id)
  if (tick > viewOf(record).ticks) throw new NotFound({ message: `${id} has no tick ${tick}` })
}

const forkOf = async (
  fleet: ReadFleet,
  id: string,
  { model, ...changed }: ChangedTick & { readonly model?: string },
  signal: AbortSignal
): Promise<Fork> => {
  await assertTick(fleet, id, changed.tick)
  const chosen = defined({ model: model === undefined ? undefined : modelNamed(model) })
  const request: ForkRequest = { ...changesOf(id, changed), ...chosen, signal }
  return fleet.replay.fork(request)
}

const beginningOf = async (fleet: ReadFleet, id: string, tick: number) => {
  await assertTick(fleet, id, tick)
  return { tick, ...(await fleet.replay.beginning(id, tick)) }
}

interface CaseAsked extends ChangedTick {
  readonly name?: string
  readonly expected?: ReadonlyArray<string>
  readonly expectedTools?: ReadonlyArray<string>
}

const caseOf = async (fleet: ReadFleet, id: string, { expected, expectedTools, name, ...changed }: CaseAsked) => {
  await assertTick(fleet, id, changed.tick)
  return fleet.replay.evalCase({ ...changesOf(id, changed), ...defined({ expected, expectedTools, name }) })
}

const toldOf = ({ differs, forked, original }: Fork) => ({
  original: clipAll(original, WHOLE_CHARS) as Json,
  forked: clipAll(forked, WHOLE_CHARS) as Json,
  differs: differs.map(({ forked: other, original: one, what }) => `${what}: ${clip(one)} → ${clip(other)}`)
})

export const replayLive = HttpApiBuilder.group(
  Api,
  "replay",
  Effect.fnUntraced(function* (handlers) {
    const { drops, isWhole } = yield* Live
    const walks = new ReplayWalks(drops)
    return handlers.handleAll({
      frames: ({ params: { id }, query }) => asking((fleet) => framesOf(walks, fleet, id, query, isWhole)),
      verify: ({ params: { id } }) =>
        asking(async (fleet) => {
          replayable(id, (await living(fleet, id)).version, isWhole)
          return verdictOf(await fleet.replay.verify(id))
        }),
      fork: ({ params: { id }, payload }) =>
        costing("replay.fork", `${id}/${payload.tick}`, async (fleet, leaving) =>
          toldOf(await forkOf(fleet, id, payload, leaving))
        ),
      beginning: ({ params: { id, tick } }) => asking((fleet) => beginningOf(fleet, id, tick)),
      evalCase: ({ params: { id }, payload }) =>
        costing("replay.eval-case", `${id}/${payload.tick}`, (fleet) => caseOf(fleet, id, payload))
    })
  })
)
