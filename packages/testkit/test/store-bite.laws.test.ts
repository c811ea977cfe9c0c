import { ledgerLaws, ledgerMutants, mailboxLaws, mailboxMutants } from "@reverie/testkit"
import { bite } from "@reverie/testkit/prove"

bite("mailbox laws bite", mailboxLaws, mailboxMutants)
bite("ledger laws bite", ledgerLaws, ledgerMutants)
