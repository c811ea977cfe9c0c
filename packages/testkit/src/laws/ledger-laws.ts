// Ledger laws: the whole list that every ledger is judged by, together with its mailbox.

import type { Ledger } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import type { Law } from "../law.ts"
import { blobLaws } from "./blob-laws.ts"
import { discardedLaws } from "./discarded-laws.ts"
import { commitLaws } from "./commit-laws.ts"
import { readingLaws } from "./reading-laws.ts"
import { usageLaws } from "./usage-laws.ts"

export const ledgerLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [
  ...commitLaws,
  ...readingLaws,
  ...discardedLaws,
  ...usageLaws,
  ...blobLaws
]
