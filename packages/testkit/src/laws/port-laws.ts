// Port laws: for each port the whole list that every adapter of it is judged by.

import type { Ledger } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import type { Recall } from "@reverie/memory"
import type { Law } from "../law.ts"
import { blobLaws } from "./blob-laws.ts"
import { claimLaws } from "./claim-laws.ts"
import { commitLaws } from "./commit-laws.ts"
import { discardedLaws } from "./discarded-laws.ts"
import { dueLaws } from "./due-laws.ts"
import { mailLaws } from "./mail-laws.ts"
import { noteLaws } from "./note-laws.ts"
import { readingLaws } from "./reading-laws.ts"
import { recallAccessLaws } from "./recall-access-laws.ts"
import { recallFindingLaws } from "./recall-finding-laws.ts"
import { recallKeepingLaws } from "./recall-keeping-laws.ts"
import { recallReasonLaws } from "./recall-reason-laws.ts"
import { recallVectorLaws } from "./recall-vector-laws.ts"
import { usageLaws } from "./usage-laws.ts"

/** Of a mailbox, together with its ledger. */
export const mailboxLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [...claimLaws, ...noteLaws, ...mailLaws, ...dueLaws]

/** Of a ledger, together with its mailbox. */
export const ledgerLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [
  ...commitLaws,
  ...readingLaws,
  ...discardedLaws,
  ...usageLaws,
  ...blobLaws
]

/** Of an index of memories. */
export const recallLaws: ReadonlyArray<Law<Recall>> = [
  ...recallAccessLaws,
  ...recallKeepingLaws,
  ...recallFindingLaws,
  ...recallReasonLaws,
  ...recallVectorLaws
]

/** The least of them for an index that is searched on a thread: one of each kind of what is asked and found. Each starts a thread. */
export const recallThreadLaws = recallLaws.filter(({ id }) =>
  /^I(?:1\.(?:own|tenant|facts|vectors)|3\.hostile|4\.exact|6\.next|7\.both|9)/.test(id)
)
