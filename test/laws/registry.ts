// Registry: every adapter that has laws to keep, by the name under which it is asked for.
// Owns the pairing of adapters with lists of laws. Leaves judging to `@reverie/testkit`.
// R1  An unknown name is refused: it would judge nothing and look like success.

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { PromptStore } from "@reverie/context"
import type { Ledger } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import { queueLocalLayer } from "@reverie/queue-local"
import { IN_MEMORY, storeSqliteLayer } from "@reverie/store-sqlite"
import {
  type FreshLayer,
  type Law,
  type LawResult,
  ledgerLaws,
  mailboxLaws,
  MemoryDisk,
  memoryPromptStoreLayer,
  memoryStoreLayer,
  promptStoreLaws,
  runLaws,
  storeLaws,
  wakeQueueLaws
} from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** One list of laws on one adapter. */
export interface Suite {
  readonly port: string
  readonly results: Effect.Effect<ReadonlyArray<LawResult>>
}

const suite = <R>(port: string, laws: ReadonlyArray<Law<R>>, layer: FreshLayer<R>): Suite => ({
  port,
  results: runLaws(laws, layer)
})

const store = (layer: FreshLayer<Mailbox | Ledger>, prompts: FreshLayer<PromptStore>): ReadonlyArray<Suite> => [
  suite("prompt-store", promptStoreLaws, prompts),
  suite("mailbox", mailboxLaws, layer),
  suite("ledger", ledgerLaws, layer),
  suite("store", storeLaws, layer)
]

/** A store in a directory that is gone when the store is closed. */
const inDirectory = () =>
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "reverie-laws-"))),
        (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
      ),
      (directory) => storeSqliteLayer(directory)
    )
  )

const inMemory = () => storeSqliteLayer(IN_MEMORY)

export const registry: Readonly<Record<string, ReadonlyArray<Suite>>> = {
  memory: store(
    () => memoryStoreLayer(new MemoryDisk()),
    () => memoryPromptStoreLayer()
  ),
  sqlite: store(inMemory, inMemory),
  "sqlite-directory": store(inDirectory, inDirectory),
  "queue-local": [suite("wake-queue", wakeQueueLaws, () => queueLocalLayer)]
}

/** The adapters asked for, all of them when none is named. Throws on a name that is not in the registry. */
export const adaptersNamed = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const known = Object.keys(registry)
  for (const name of names) {
    if (!known.includes(name)) throw new Error(`no adapter is called ${name}; there are ${known.join(", ")}`)
  }
  return names.length === 0 ? known : names
}
