// FleetReader: reads a store beside the process that works on it.
// Owns opening for reading and closing. Leaves the readings to fleet/records.ts.
// P1  Nothing is written but the index of memories, which its readers bring up to date; no claim is taken, and a
//     running fleet is not disturbed.
// P2  The index of memories is opened by the first question that needs it: most looks ask nothing of it.

import { DEFAULT_TENANT, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as References from "effect/References"
import type { DeepCheck } from "../checks/deep-check.ts"
import { reading, readingIndex } from "../opening/profile.ts"
import { type FleetReadings, Readings, type RunReading } from "../fleet/records.ts"
import { loaded } from "../doors.ts"

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
export class FleetReader extends Readings implements AsyncDisposable, FleetReadings {
  readonly #opened: Opened

  private constructor(opened: Opened, tenant: TenantId) {
    super(opened.run, tenant, { runWithIndex: opened.runWithIndex, freshKey: noKey })
    this.#opened = opened
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
          withIndex ??= ManagedRuntime.make(Layer.merge(store, readingIndex(data)), { memoMap })
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
