import { ledgerLaws, mailboxLaws, MemoryDisk, memoryStoreLayer, storeLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"

const fresh = () => memoryStoreLayer(new MemoryDisk())

prove("memory store: mailbox laws", mailboxLaws, fresh)
prove("memory store: ledger laws", ledgerLaws, fresh)
prove("memory store: store laws", storeLaws, fresh)
