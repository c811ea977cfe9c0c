// Peek: a look into a store, beside whoever works on it.
// Owns opening for reading and closing. Leaves the readings to records.ts.
// P1  Nothing is written but the index of memories, which whoever asks it brings up to date; no claim is taken, and a
//     running fleet is not disturbed.

import { DEFAULT_TENANT, TenantId } from "@reverie/protocol"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as References from "effect/References"
import type { DeepCheck } from "../checks/deep-check.ts"
import { reading } from "../opening/profile.ts"
import { Records, type RunReading } from "../fleet/records.ts"

export class Peek extends Records implements AsyncDisposable {
  readonly #run: RunReading
  readonly #dispose: () => Promise<void>

  private constructor(run: RunReading, tenant: TenantId, dispose: () => Promise<void>) {
    super(run, tenant)
    this.#run = run
    this.#dispose = dispose
  }

  /** Reads every row of every tenant once and names what is damaged. It takes a while, and works beside a running fleet. */
  async deepCheck(): Promise<DeepCheck> {
    const { deepCheck } = await import("../checks/deep-check.ts")
    return this.#run(deepCheck)
  }

  /**
   * Opens the data directory for reading; without one, what the environment names. Rejects when there is none, or one of
   * another format.
   */
  static async open(data?: string, tenant: string = DEFAULT_TENANT): Promise<Peek> {
    const runtime = ManagedRuntime.make(Layer.merge(reading(data), Layer.succeed(References.LogToStderr, true)))
    // Opens now, so that what is wrong with the directory is said here.
    await runtime.context()
    return new Peek(
      (reading) => runtime.runPromise(reading),
      TenantId.make(tenant),
      () => runtime.dispose()
    )
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose()
  }
}
