// FleetReader: reads a store beside the process that works on it.
// Owns opening for reading and closing. Leaves the readings to fleet/records.ts.
// P1  Nothing is written but the index of memories, which its readers bring up to date; no claim is taken, and a
//     running fleet is not disturbed.
// P2  The index of memories is opened by the first question that needs it: most looks ask nothing of it.

import { Archive, Bundles, type PlaceReport } from "@reverie/ledger"
import { DEFAULT_TENANT, TenantId } from "@reverie/protocol"
import { type KeysLacking, SqliteStore, type StoreShortened } from "@reverie/store-sqlite"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as References from "effect/References"
import type { DeepCheck } from "../checks/deep-check.ts"
import type { FleetDefinition } from "../fleet-options.ts"
import type { VacuumReport } from "../opening/vacuuming.ts"
import { reading, readingIndex } from "../opening/profile.ts"
import type { RunReading } from "../fleet/entry-source.ts"
import { type FleetReadings, Readings } from "../fleet/records.ts"
import { loaded } from "../opening/loaded.ts"

interface Opened {
  readonly run: RunReading
  /** The same with the index of memories. */
  readonly runWithIndex: RunReading
  readonly dispose: () => Promise<void>
}

/** A reader changes no block, so that no change needs a key. */
const noKey = Effect.die(new Error("a reader changes no block"))

/**
 * Reads the data of a fleet, also while another process works on it: takes no claim and writes nothing but the index of
 * memories.
 * @example
 * await using reader = await FleetReader.open(".reverie/hello")
 * for (const { id, state } of await reader.views()) console.log(id, state)
 */
export class FleetReader implements FleetReadings, AsyncDisposable {
  readonly #opened: Opened
  readonly #read: Readings

  /** What is stored of an assistant; undefined when there is none. Rejects with IdInvalid. */
  readonly inspect: FleetReadings["inspect"] = (id) => this.#read.inspect(id)

  /** At most `limit` assistants (100 when left out) in the order of their ids, after the given one. Rejects with IdInvalid. */
  readonly list: FleetReadings["list"] = (after, limit) => this.#read.list(after, limit)

  /** Every assistant of the tenant as a person wants to see it, in the order of their ids. */
  readonly views: FleetReadings["views"] = () => this.#read.views()

  /** The bytes of a part that a message refers to, by its digest; undefined when this tenant keeps none under it. */
  readonly blob: FleetReadings["blob"] = (digest) => this.#read.blob(digest)

  /** What model calls have used, by assistant, hour, model or purpose; of one assistant, or of all of this tenant. */
  readonly usage: FleetReadings["usage"] = (question) => this.#read.usage(question)

  private constructor(opened: Opened, tenant: TenantId) {
    this.#opened = opened
    this.#read = new Readings(opened.run, tenant, { runWithIndex: opened.runWithIndex, freshKey: noKey })
  }

  /** The tenant whose assistants these are. */
  get tenant(): FleetReadings["tenant"] {
    return this.#read.tenant
  }

  /** Tool calls that wait for a person. */
  get approvals(): FleetReadings["approvals"] {
    return this.#read.approvals
  }

  /** Messages that could not be handled. */
  get deadLetters(): FleetReadings["deadLetters"] {
    return this.#read.deadLetters
  }

  /** Sub-agents, and what they have spent. */
  get subAgents(): FleetReadings["subAgents"] {
    return this.#read.subAgents
  }

  /** What assistants remember: facts, profiles, passages, dreams, their own records. */
  get memory(): FleetReadings["memory"] {
    return this.#read.memory
  }

  /** How histories were compacted. */
  get compactions(): FleetReadings["compactions"] {
    return this.#read.compactions
  }

  /** Times that assistants are to be reminded of something. */
  get reminders(): FleetReadings["reminders"] {
    return this.#read.reminders
  }

  /** What assistants have done: ticks, ledger entries, use, errors, and the mail that waits. */
  get history(): FleetReadings["history"] {
    return this.#read.history
  }

  /** Assistants gone through again from their ledger. */
  get replay(): FleetReadings["replay"] {
    return this.#read.replay
  }

  /** The memory blocks of the tenant. */
  get blocks(): FleetReadings["blocks"] {
    return this.#read.blocks
  }

  /** The prompt registry of the tenant: templates, and components that stand in every prompt of its assistants. */
  get prompts(): FleetReadings["prompts"] {
    return this.#read.prompts
  }

  /** The ledger of all assistants, in one order. */
  get outbox(): FleetReadings["outbox"] {
    return this.#read.outbox
  }

  /** Figures of the whole store. */
  get monitor(): FleetReadings["monitor"] {
    return this.#read.monitor
  }

  /** What of the store lies apart (`segments`), and what lacks there; undefined where nothing does. Rejects where that is out of reach. */
  segments(): Promise<PlaceReport | undefined> {
    return this.#opened.run(
      Effect.flatMap(Effect.serviceOption(Archive), (archive) =>
        Option.isNone(archive) ? Effect.undefined : archive.value.apart(true)
      )
    )
  }

  /** What `fleet.vacuum` would put away, by the policies of the definition; the size is that of the store without its index. */
  async due(definition?: FleetDefinition): Promise<VacuumReport> {
    const { dueNow } = await import("../opening/vacuuming.ts")
    return this.#opened.run(dueNow(this.tenant, definition))
  }

  /** What a data directory has lost of all that was acknowledged, for which a fleet would refuse it; undefined when nothing is. */
  loss(): Promise<StoreShortened | undefined> {
    return this.#opened.run(
      Effect.flatMap(Effect.serviceOption(SqliteStore), (store) =>
        Option.isNone(store) ? Effect.undefined : store.value.loss
      )
    )
  }

  /** Whose data keys are not there, as after a restore, so that nothing of them can be read; undefined where none lack. */
  lacking(): Promise<KeysLacking | undefined> {
    return this.#opened.run(
      Effect.flatMap(Effect.serviceOption(SqliteStore), (store) =>
        Option.isNone(store) ? Effect.undefined : store.value.lacking
      )
    )
  }

  /** Every tenant that has anything in the store, in the order of their ids. */
  tenants(): Promise<ReadonlyArray<string>> {
    return this.#opened.run(
      Effect.flatMap(Effect.serviceOption(Bundles), (bundles) =>
        Option.isNone(bundles) ? Effect.succeed([]) : bundles.value.tenants
      )
    )
  }

  /** Reads every row of every tenant once and names what is damaged. It takes a while, and works beside a running fleet. */
  async deepCheck(): Promise<DeepCheck> {
    const { deepCheck } = await import("../checks/deep-check.ts")
    return this.#opened.run(deepCheck)
  }

  /**
   * Opens the data directory for reading; without one, what the environment names. Rejects when there is none, or one of
   * another format.
   */
  static async open(data?: string, tenant: string = DEFAULT_TENANT): Promise<FleetReader> {
    const store = Layer.merge(reading(data), Layer.succeed(References.LogToStderr, true))
    const runtime = ManagedRuntime.make(store)
    // Opens now, so that what is wrong with the directory is said here.
    await runtime.context()
    const { memoMap } = runtime
    let withIndex: ManagedRuntime.ManagedRuntime<Layer.Success<typeof store>, unknown> | undefined
    return new FleetReader(
      {
        run: (effect) => runtime.runPromise(effect),
        runWithIndex: (effect) => {
          withIndex ??= ManagedRuntime.make(Layer.provideMerge(readingIndex(data), store), { memoMap })
          return withIndex.runPromise(effect)
        },
        dispose: async () => {
          await withIndex?.dispose()
          await runtime.dispose()
        }
      },
      TenantId.make(tenant)
    )
  }

  /** Closes it at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.dispose()
  }
}

loaded.FleetReader = FleetReader
