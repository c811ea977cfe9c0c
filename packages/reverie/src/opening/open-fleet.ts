// OpenFleet: where everything of an open fleet runs, until it ends.
// Owns opening it, the way in, the end, and who learns of it. Leaves what is asked of it to the fleet.
// H1  What is asked of a closed fleet, or was under way when it closed and could not end, fails with FleetClosed.
// H2  Anyone who waits learns of the end once, and keeps nothing alive by having waited.

import type { Directory, Team } from "@reverie/assistant"
import { type Address, DEFAULT_TENANT, defined, TenantId } from "@reverie/protocol"
import { outsideRuns, runPlaceLayer } from "@reverie/run-place"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import {
  DEFAULT_WORKER,
  Ending,
  Faults,
  FleetDirectory,
  type HostFailure,
  HostFailures,
  isLasting,
  Limits,
  NoticeHub,
  runWorker,
  TenantRetention,
  type TenantWeight
} from "@reverie/runtime"
import * as Layer from "effect/Layer"
import { bringToLife } from "../creation.ts"
import { ID_FORM } from "../define-assistant.ts"
import { FleetClosed, FleetDefinitionInvalid } from "../errors.ts"
import {
  directoryOf,
  type FleetDefinition,
  type FleetOptions,
  flawOfOpening,
  flawOfTerms,
  type TenantTerms,
  type Terms
} from "../fleet-options.ts"
import { flawOfEmbedder } from "../models/embedder-choice.ts"
import { choicesIn, flawOfModels, fleetModels, modelsLayer } from "../models/models.ts"
import type { Profile, Services } from "./deployment.ts"
import { groundOf, onlyModelOf } from "./ground.ts"
import { profileOf } from "./profile.ts"
import { tracingLayer } from "./tracing.ts"
import { assertModules } from "./warming.ts"

const reasonOf = (exit: Exit.Exit<never, unknown>): FleetClosed | undefined => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return undefined
  const cause = Cause.squash(exit.cause)
  return new FleetClosed({ message: cause instanceof Error ? cause.message : String(cause), cause })
}

class OpenFleet<Services> {
  /** Nothing after `close`, the reason when the worker ended by itself. */
  readonly ended: Promise<FleetClosed | undefined>
  readonly #runtime: ManagedRuntime.ManagedRuntime<Services, unknown>
  readonly #worker: Fiber.Fiber<never, unknown>
  readonly #ending: Ending
  readonly #waiting = new Set<(reason: FleetClosed) => void>()
  #over: FleetClosed | undefined
  /** A store that failed to write can still be read, so only closing shuts the door. */
  #isClosed = false

  constructor(
    runtime: ManagedRuntime.ManagedRuntime<Services, unknown>,
    worker: Fiber.Fiber<never, unknown>,
    ending: Ending
  ) {
    this.#runtime = runtime
    this.#worker = worker
    this.#ending = ending
    this.ended = Effect.runPromise(Fiber.await(worker)).then((exit) => {
      const reason = reasonOf(exit)
      this.#end(reason)
      return reason
    })
  }

  async run<A, E>(effect: Effect.Effect<A, E, Services>): Promise<A> {
    if (this.#isClosed) throw this.#over
    // Asked from within a tool, what happens here is none of its doing.
    const exit = await outsideRuns(() => this.#runtime.runPromiseExit(effect))
    if (Exit.isSuccess(exit)) return exit.value
    throw this.#isClosed ? this.#over : Cause.squash(exit.cause)
  }

  /** Calls the listener with the reason when the end has come. Answers how to stop waiting. */
  onEnd(listener: (reason: FleetClosed) => void): () => void {
    if (this.#over === undefined) this.#waiting.add(listener)
    else listener(this.#over)
    return () => {
      this.#waiting.delete(listener)
    }
  }

  /** Rejects when the end comes before what is waited for. */
  endingWith<A>(work: Promise<A>): Promise<A> {
    return new Promise((resolve, reject) => {
      const stop = this.onEnd(reject)
      void work.then(resolve, reject).finally(stop)
    })
  }

  /** What runs may end before, within so many milliseconds. */
  async close(graceMs = 0): Promise<void> {
    if (graceMs > 0 && !this.#isClosed) {
      await this.#runtime.runPromise(Effect.timeoutOption(this.#ending.ask, graceMs))
    }
    await Effect.runPromise(Fiber.interrupt(this.#worker))
    this.#isClosed = true
    this.#end()
    await this.#runtime.dispose()
  }

  #end(reason: FleetClosed = new FleetClosed({ message: "the fleet was closed" })): void {
    if (this.#over !== undefined) return
    this.#over = reason
    for (const listener of this.#waiting) listener(reason)
    this.#waiting.clear()
  }
}

const termsOf = ({ tenants = {} }: Terms, tenant: string): TenantTerms | undefined =>
  Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined

const weightIn =
  (terms: Terms): TenantWeight =>
  (tenant) =>
    termsOf(terms, tenant)?.weight ?? 1

/** The limits and prices of these terms, as the runtime asks for them. */
const limitsLayer = (terms: Terms): Layer.Layer<never> =>
  Layer.succeed(Limits, {
    of: (tenant) => {
      const { retention: _, weight: __, ...limits } = termsOf(terms, tenant) ?? {}
      return Object.keys(limits).length === 0 ? undefined : limits
    },
    tariff: terms.prices ?? {}
  })

const hex = (value: number): string => (value >>> 0).toString(16).padStart(8, "0")

/** 128 random bits, from the Random service. */
export const freshId = Effect.gen(function* () {
  let id = ""
  for (let part = 0; part < 4; part++) id += hex(yield* Random.nextInt)
  return id
})

const decodeTenant = Schema.decodeUnknownOption(TenantId)

export const tenantOf = (tenant: string = DEFAULT_TENANT): TenantId =>
  Option.getOrElse(decodeTenant(tenant), () => {
    const subject = `tenant ${JSON.stringify(tenant)}`
    throw new FleetDefinitionInvalid({ subject, message: `${subject}: its id must have ${ID_FORM}` })
  })

/** What every tenant of an open fleet has in common. */
export interface Opened {
  readonly openFleet: OpenFleet<Services>
  readonly hub: NoticeHub["Service"]
  readonly profile: Profile
  readonly definition: FleetDefinition
  readonly directory: Directory
  readonly teams: ReadonlyArray<Team>
  /** For the key of an address the name of its definition; see `Judging`. */
  readonly known: Map<string, string>
  readonly turns: Map<string, Promise<void>>
  /** Calls the listener with every assistant that can not be worked on until a person has acted. Answers how to stop. */
  readonly onBroken: (listener: OnFailure) => () => void
}

type OnFailure = (address: Address, failure: HostFailure) => void

const layerOf = (options: FleetOptions, profile: Profile, terms: Terms, onFailure: OnFailure) => {
  const { faults, fleet, role = "all" } = options
  const models = fleetModels(fleet, options, onlyModelOf(options))
  return Layer.mergeAll(
    modelsLayer({ ...models, ...defined({ prices: terms.prices }) }),
    profile.ports,
    Layer.succeed(FleetDirectory, directoryOf(fleet)),
    faults === undefined ? Layer.empty : Layer.succeed(Faults, faults),
    // Standard output belongs to the program.
    Layer.succeed(References.LogToStderr, true),
    Layer.succeed(HostFailures, onFailure),
    // A process that only takes in runs no tools.
    role === "api" ? Layer.empty : runPlaceLayer,
    limitsLayer(terms),
    Layer.succeed(TenantRetention, (tenant) => termsOf(terms, tenant)?.retention),
    tracingLayer({ ...options, chosen: choicesIn(models) })
  )
}

const flawOfChoices = (options: FleetOptions): string | undefined => {
  const flaw = flawOfModels(options)
  const ofEmbedder = flawOfEmbedder(options.embedder)
  if (flaw !== undefined) return `its ${flaw}`
  return ofEmbedder === undefined ? undefined : `its embedder ${ofEmbedder}`
}

/** Opens the store, creates the assistants of the definition that are missing, and starts to work. */
export const opened = async (options: FleetOptions): Promise<Opened> => {
  const misshapen = flawOfOpening(options)
  if (misshapen !== undefined) throw new FleetDefinitionInvalid({ subject: "fleet", message: `fleet: ${misshapen}` })
  const { fleet, role = "all" } = options
  const terms: Terms = { ...fleet, ...options }
  const flaw = flawOfTerms(terms) ?? flawOfChoices(options)
  if (flaw !== undefined) throw new FleetDefinitionInvalid({ subject: "fleet", message: `fleet: ${flaw}` })
  const tenant = tenantOf(options.tenant)
  const profile = await Effect.runPromise(
    profileOf({ ...options, ...defined({ model: options.model ?? fleet.model }) })
  )
  assertModules(fleet.assistants)
  const listeners = new Set<OnFailure>()
  const onFailure: OnFailure = (address, failure) => {
    if (isLasting(failure)) for (const listener of listeners) listener(address, failure)
    options.onError?.(address, failure)
  }
  const runtime = ManagedRuntime.make(groundOf(options)(layerOf(options, profile, terms, onFailure)))
  try {
    const hub = await runtime.runPromise(
      Effect.gen(function* () {
        for (const definition of fleet.assistants) {
          yield* bringToLife({ tenant, id: definition.id, definition, keepHours: profile.keepHours }).pipe(
            // One that can not be read keeps none of the others from their work.
            Effect.catchTag("UnreadableRecord", ({ message, record }) =>
              Effect.logWarning(`${record} can not be read, and it does not work: ${message}`)
            )
          )
        }
        const hub = yield* NoticeHub
        if (options.onNotice !== undefined) hub.listen(options.onNotice)
        return hub
      })
    )
    const worker = `worker-${await runtime.runPromise(freshId)}`
    const ending = new Ending()
    const settings = { worker, tenantWeight: weightIn(terms), ...DEFAULT_WORKER, ...profile.worker, ...options.worker }
    const working = profile.sustained(role === "api" ? Effect.never : runWorker(settings, ending))
    const openFleet = new OpenFleet(runtime, runtime.runFork(working), ending)
    const teams = fleet.assistants.flatMap(({ team }) => team ?? [])
    const onBroken = (listener: OnFailure) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
    const directory = directoryOf(fleet)
    return {
      openFleet,
      hub,
      profile,
      // What a fork costs is what the ledger would charge.
      definition: options.prices === undefined ? fleet : Object.freeze({ ...fleet, prices: options.prices }),
      directory,
      teams,
      known: new Map(),
      turns: new Map(),
      onBroken
    }
  } catch (failure) {
    await runtime.dispose()
    throw failure
  }
}
