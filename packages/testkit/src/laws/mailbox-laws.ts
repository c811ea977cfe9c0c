// Mailbox laws: the whole list that every mailbox is judged by, together with its ledger.

import type { Ledger } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import type { Law } from "../law.ts"
import { claimLaws } from "./claim-laws.ts"
import { dueLaws } from "./due-laws.ts"
import { mailLaws } from "./mail-laws.ts"

export const mailboxLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [...claimLaws, ...mailLaws, ...dueLaws]
