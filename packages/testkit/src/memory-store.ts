// MemoryStore: mailbox and ledger over one MemoryDisk, for laws, simulation and tests.
// Owns putting them together. To crash it, drop the layer and build another over the same disk.

import { Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { MemoryDisk } from "./memory-disk.ts"
import { memoryLedger } from "./memory-ledger.ts"
import { memoryMailbox } from "./memory-mailbox.ts"

/** Both ports of a store, as plain services. */
export interface Store {
  readonly mailbox: Mailbox["Service"]
  readonly ledger: Ledger["Service"]
}

export const memoryStore = (disk: MemoryDisk): Store => ({ mailbox: memoryMailbox(disk), ledger: memoryLedger(disk) })

export const storeLayer = ({ mailbox, ledger }: Store): Layer.Layer<Mailbox | Ledger> =>
  Layer.succeedContext(Context.make(Mailbox, mailbox).pipe(Context.add(Ledger, ledger)))

export const memoryStoreLayer = (disk: MemoryDisk): Layer.Layer<Mailbox | Ledger> => storeLayer(memoryStore(disk))
