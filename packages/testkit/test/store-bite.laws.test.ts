import { ledgerLaws, ledgerMutants, mailboxLaws, mailboxMutants, storeLaws, storeMutants } from "@reverie/testkit"
import { bite } from "@reverie/testkit/prove"

bite("mailbox laws bite", mailboxLaws, mailboxMutants)
bite("ledger laws bite", ledgerLaws, ledgerMutants)
bite("store laws bite", storeLaws, storeMutants)
