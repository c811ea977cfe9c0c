import { ledgerLaws, mailboxLaws, MemoryDisk, memoryStoreLayer } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"

const fresh = () => memoryStoreLayer(new MemoryDisk())

prove("memory store: mailbox laws", mailboxLaws, fresh)
prove("memory store: ledger laws", ledgerLaws, fresh)
