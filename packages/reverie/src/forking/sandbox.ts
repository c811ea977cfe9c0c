// Sandbox: a data store in memory in which one assistant stands as it stood before a tick, and no other.
// Owns furnishing it and living through the tick there. Leaves what is found out to fork.ts, exact-prompt.ts and fixture.ts.
// S1  Nothing in it reaches the data store that the tick was lived in: no store, no queue and no listener is shared.
// S2  No tool runs: what a call is answered with is decided before, and every tool of its definitions is empty besides. No hook
//     is called: what hooks did is done again.
// S3  Only the model that is named is asked, and only for the tick.
// S4  The prompts are those that are made for that model: with its limits, and with the tools in the words where it has no calls.

import { receives, persist, type Settings, statusOf } from "@reverie/assistant"
import { PromptStore } from "@reverie/context"
import { Ledger, type Bundle, Bundles } from "@reverie/ledger"
import { BlockStore, Recall } from "@reverie/memory"
import { Model } from "@reverie/model"
import { STATE_VERSION, defined } from "@reverie/protocol"
import { queueLocalLayer } from "@reverie/queue-local"
import {
  acceptsAsked,
  type Asking,
  type Definition,
  Definitions,
  deliveriesOf,
  type Driven,
  driveTick,
  type Driving,
  FleetDirectory,
  HeldClock,
  keepIndexed,
  ledgerOfThen,
  modelAsked,
  NoticeHub,
  noting,
  recallOfThen,
  recordedHooks,
  recordedModel,
  type Shown,
  steppedModel,
  type ToolAnswers,
  toolAnswers,
  type ToolStub,
  untilTurn,
  withConversations
} from "@reverie/runtime"
import { storeSqliteLayer } from "@reverie/store-sqlite"
import { gptTokenizerLayer } from "@reverie/tokens"
import type { Tool, Toolkit } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as References from "effect/References"
import { directoryOf, type FleetDefinition } from "../fleet-options.ts"
import { type ModelChoice, modelLayer } from "../models/model-choice.ts"
import { choiceFor } from "../models/models.ts"
import { forModel } from "../options/contexts.ts"
import { stillBlocks, stillPrompts } from "./blocks-of-then.ts"
import { ForkRefused } from "./errors.ts"
import { rebuiltEnvelope, type TickSource } from "./tick-source.ts"

const IN_MEMORY = ":memory:"

/** A tick with its changes, ready to be lived through. */
export interface Request {
  readonly fleet: FleetDefinition
  readonly systemPrompt?: string
  readonly persona?: string
  /** "recorded": the replies of then, in their order, and no one is asked. */
  readonly model: ModelChoice | undefined
  readonly stubs?: ReadonlyArray<ToolStub>
  /** `recorded`: commit by commit as it was, up to the first difference. */
  readonly order: Driving["order"]
  /** Ends it. */
  readonly signal?: AbortSignal
}

export interface Lived extends Driven {
  /** What reached the model for the tick, in the order of the calls. */
  readonly shown: ReadonlyArray<Shown>
  /** What calls were answered with, by their ids. */
  readonly answered: ToolAnswers["given"]
}

const empty = (tool: Tool): Tool => ({
  ...tool,
  effect: () => Effect.die("a fork runs no tools")
})

const emptied = (toolkit: Toolkit): Toolkit => ({
  ...toolkit,
  get: (name) => {
    const tool = toolkit.get(name)
    return tool === undefined ? undefined : empty(tool)
  },
  only: (filter) => emptied(toolkit.only(filter))
})

/** The definitions of the sandbox: that of the assistant with its changes, and the settings it had then. */
const definitionsOf = (
  { definition, recorded }: TickSource,
  request: Request,
  asking: Asking
): ReadonlyArray<Definition> => {
  const { fleet, persona, systemPrompt } = request
  const settings: Partial<Settings> = recorded.settings
  const found = fleet.assistants.find(({ name }) => name === definition)
  if (found === undefined) {
    const message = `the fleet has no definition "${definition}", which the assistant was created from`
    throw new ForkRefused({ reason: "no-definition", message })
  }
  if (found.team !== undefined) {
    throw new ForkRefused({ reason: "team", message: `"${definition}" is a team: no model is asked in its ticks` })
  }
  const { instructionsKey, ...rest } = found
  const edited = {
    ...rest,
    settings,
    // What the tenant has written in the place of the instructions is changed as they are.
    ...defined({ systemPrompt, persona, instructionsKey: systemPrompt === undefined ? instructionsKey : undefined })
  }
  const hooks = recordedHooks(recorded, asking, request.model === "recorded")
  return fleet.assistants.map((each): Definition => {
    // S2
    const { hooks: _hooks, ...one } = each === found ? edited : each
    return { ...one, ...defined({ hooks }), toolkit: emptied(one.toolkit) }
  })
}

/** The definitions as they are with the model that is asked: the recorded one, or that of the fork. */
const definitionsLayer = (source: TickSource, request: Request, asking: Asking) => {
  const definitions = definitionsOf(source, request, asking)
  return Layer.effect(
    Definitions,
    Effect.map(Model, ({ serves }) => {
      const { asks } = source.recorded
      const isRecorded = request.model === "recorded"
      const asked = isRecorded ? modelAsked(asks) : serves?.model
      const accepts = isRecorded ? acceptsAsked(asks) : serves?.accepts
      const byName = new Map(
        definitions.map((each) => [each.name, { ...forModel(each, asked), ...defined({ accepts }) }])
      )
      return { find: (name) => byName.get(name) }
    })
  )
}

/** A store that takes an assistant in raises its epoch, and so does the claim after it. */
const RAISED = 2

/** The assistant as it stood before the tick. */
const bundleBefore = ({ address, blobs, definition, recorded }: TickSource): Bundle => {
  const { before, first, prefix, records } = recorded
  const status = statusOf(before.decoded)
  return {
    head: {
      kind: "assistant",
      address,
      // Approvals are bound to the epoch in which they were asked for.
      epoch: first.epoch - RAISED,
      version: before.no,
      handled: { control: 0, reply: 0, mail: 0 },
      state: {
        v: STATE_VERSION,
        snapshot: persist(before.decoded),
        jobs: before.jobs,
        timers: before.timers,
        receives: receives(before.decoded),
        status,
        definition
      }
    },
    parts: [
      ...prefix.map((entry) => ({ kind: "entry" as const, entry })),
      ...records.map(({ key, kind, value }) => ({ kind: "record" as const, of: kind, key, value })),
      ...blobs.map(({ bytes, digest }) => ({ kind: "blob", digest, bytes: Buffer.from(bytes).toString("base64") }))
    ]
  } as unknown as Bundle
}

/** Who is asked: what the request says, else what the assistant asks today. */
const modelOf = ({ definition }: TickSource, { fleet, model }: Request): ModelChoice | undefined => {
  if (model !== undefined) return model === "recorded" ? "offline" : model
  return choiceFor("answer", fleet.assistants.find(({ name }) => name === definition) ?? {}, fleet)
}

const furnished = (source: TickSource, request: Request, asking: Asking) => {
  const model = modelLayer(modelOf(source, request))
  return Layer.mergeAll(
    storeSqliteLayer(IN_MEMORY),
    queueLocalLayer,
    NoticeHub.layer,
    gptTokenizerLayer,
    model,
    // Loaded when a tick is tried again: a process that only works does not wait for it.
    Layer.unwrap(
      Effect.map(
        Effect.promise(() => import("@reverie/recall-sqlite")),
        ({ recallSqliteLayer }) => recallSqliteLayer(IN_MEMORY)
      )
    ),
    Layer.provide(definitionsLayer(source, request, asking), model),
    Layer.succeed(FleetDirectory, directoryOf(request.fleet)),
    Layer.succeed(References.LogToStderr, true),
    Layer.succeed(References.MinimumLogLevel, "None")
  )
}

/** A model's own waiting is in real time. */
const inRealTime = (model: Model["Service"], real: Clock.Clock): Model["Service"] => ({
  infer: (prompt, options) => Effect.provideService(model.infer(prompt, options), Clock.Clock, real),
  ...defined({ serves: model.serves })
})

interface Stage {
  readonly asking: Asking
  readonly real: Clock.Clock
  readonly turn: (no: number) => Effect.Effect<void>
}

const chosenModel = Effect.fnUntraced(function* (
  { recorded }: TickSource,
  request: Request,
  { asking, real, turn }: Stage
) {
  if (request.model !== "recorded") return inRealTime(yield* Model, real)
  return request.order === "free" ? recordedModel(recorded.asks) : steppedModel(recorded.asks, asking, turn)
})

const lived = Effect.fnUntraced(function* (source: TickSource, request: Request, asking: Asking) {
  const { address, envelope, envelopes, recorded } = source
  const bundles = yield* Bundles
  const ledger = yield* Ledger
  const recall = yield* Recall
  const real = yield* Clock.Clock
  const clock = new HeldClock(recorded.first.at)
  yield* bundles.unpack(bundleBefore(source))
  yield* bundles.admit([address])
  const tools = toolAnswers(recorded, request.stubs)
  const deliveries = deliveriesOf(recorded, (id, entry) => envelopes.get(id) ?? rebuiltEnvelope(address, id, entry))
  const driving: Driving = { address, recorded, envelope, deliveries, order: request.order, tools, clock, asking }
  const turn = (no: number) => Effect.provideService(untilTurn(driving, real, no), Ledger, ledger)
  const chosen = yield* chosenModel(source, request, { asking, real, turn })
  const shown: Array<Shown> = []
  const driven = yield* keepIndexed(address).pipe(
    Effect.provideService(Clock.Clock, clock),
    Effect.andThen(driveTick(driving)),
    withConversations(address, recorded),
    Effect.provideService(Recall, recallOfThen(recall, recorded, address)),
    Effect.provideService(Ledger, ledgerOfThen(ledger, recorded)),
    Effect.provideService(Model, noting(chosen, asking, shown)),
    Effect.provideService(BlockStore, stillBlocks(source.blocks)),
    Effect.provideService(PromptStore, stillPrompts(source.prompts))
  )
  return { ...driven, shown, answered: tools.given } satisfies Lived
})

/** Lives through a tick again. Rejects with ForkRefused, and with the reason of the signal that ends it. */
export const liveAgain = async (source: TickSource, request: Request): Promise<Lived> => {
  const { signal } = request
  signal?.throwIfAborted()
  const asking: Asking = { job: "" }
  const runtime = ManagedRuntime.make(furnished(source, request, asking))
  try {
    return await runtime.runPromise(lived(source, request, asking), defined({ signal }))
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    await runtime.dispose()
  }
}
