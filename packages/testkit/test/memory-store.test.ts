import { prove } from "@reverie/testkit/prove"
import { MemoryDisk, memoryStoreLayer, mailboxLaws } from "@reverie/testkit"

prove("memory store: mailbox laws", mailboxLaws, () => memoryStoreLayer(new MemoryDisk()))
