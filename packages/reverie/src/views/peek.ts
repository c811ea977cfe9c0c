// Peek: a look into a store, beside whoever works on it.
// Owns opening for reading and closing. Leaves the readings to records.ts.
// P1  Nothing is written but the index of memories, which whoever asks it brings up to date; no claim is taken, and a
//     running fleet is not disturbed.
// P2  The index of memories is opened by the first question that needs it: most looks ask nothing of it.

import type { PromptStore } from "@reverie/context"
import type { Ledger } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import type { BlockStore, Recalled, RecallOptions } from "@reverie/memory"
import { DEFAULT_TENANT, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as References from "effect/References"
import type { DeepCheck } from "../checks/deep-check.ts"
import { type Blocks, blocksOf } from "../fleet/blocks.ts"
import type { Rebuilt } from "../fleet/memories.ts"
import { type Prompts, promptsOf } from "../fleet/prompts.ts"
import { reading, readingIndex } from "../opening/profile.ts"
import { Records } from "../fleet/records.ts"
import { loaded } from "../doors.ts"

type Run = <A, E>(reading: Effect.Effect<A, E, Mailbox | Ledger | PromptStore | BlockStore>) => Promise<A>

interface Opened {
  readonly run: Run
  /** The same with the index of memories. */
  readonly runWithIndex: Run
  readonly dispose: () => Promise<void>
}

/** A look changes no block, so that no change needs a key. */
const noKey = Effect.die(new Error("a look changes no block"))

export class Peek extends Records implements AsyncDisposable {
  readonly #opened: Opened

  private constructor(opened: Opened, tenant: TenantId) {
    super(opened.run, tenant)
    this.#opened = opened
  }

  /** Reads every row of every tenant once and names what is damaged. It takes a while, and works beside a running fleet. */
  async deepCheck(): Promise<DeepCheck> {
    const { deepCheck } = await import("../checks/deep-check.ts")
    return this.#opened.run(deepCheck)
  }

  override recall(id: string, question: string, options: RecallOptions = {}): Promise<Recalled> {
    return this.#withIndex().recall(id, question, options)
  }

  override rebuildMemory(id?: string): Promise<ReadonlyArray<Rebuilt>> {
    return this.#withIndex().rebuildMemory(id)
  }

  /** The memory blocks of the tenant, to be read. */
  blocks(): Blocks {
    return blocksOf(this.tenant, (effect) => this.#opened.run(effect), noKey)
  }

  /** The prompt registry of the tenant, to be read. */
  prompts(): Promise<Prompts> {
    return promptsOf(this.tenant, (effect) => this.#opened.run(effect))
  }

  /**
   * Opens the data directory for reading; without one, what the environment names. Rejects when there is none, or one of
   * another format.
   */
  static async open(data?: string, tenant: string = DEFAULT_TENANT): Promise<Peek> {
    const store = Layer.merge(reading(data), Layer.succeed(References.LogToStderr, true))
    const runtime = ManagedRuntime.make(store)
    // Opens now, so that what is wrong with the directory is said here.
    await runtime.context()
    const { memoMap } = runtime
    let withIndex: ManagedRuntime.ManagedRuntime<Layer.Success<typeof store>, unknown> | undefined
    return new Peek(
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.dispose()
  }

  #withIndex(): Records {
    return new Records(this.#opened.runWithIndex, this.tenant)
  }
}

loaded.Peek = Peek
