import { prove } from "@reverie/testkit/prove"
import { ledgerLaws, MemoryDisk, memoryStoreLayer, mailboxLaws } from "@reverie/testkit"

const fresh = () => memoryStoreLayer(new MemoryDisk())

prove("memory store: mailbox laws", mailboxLaws, fresh)
prove("memory store: ledger laws", ledgerLaws, fresh)
