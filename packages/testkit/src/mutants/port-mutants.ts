// Port mutants: for each port adapters that are each wrong in one way, which its laws must kill.

import type { Recall } from "@reverie/memory"
import type { FreshLayer } from "../law.ts"
import { blobMistakes } from "./blob-mutants.ts"
import { claimMistakes } from "./claim-mutants.ts"
import { commitMistakes } from "./commit-mutants.ts"
import { discardedMistakes } from "./discarded-mutants.ts"
import { dueMistakes } from "./due-mutants.ts"
import { mailMistakes } from "./mail-mutants.ts"
import { type Mutants, mutantsOf } from "./mutant.ts"
import { noteMistakes } from "./note-mutants.ts"
import { readingMistakes } from "./reading-mutants.ts"
import { recallReadingMutants } from "./recall-reading-mutants.ts"
import { recallWritingMutants } from "./recall-writing-mutants.ts"
import { usageMistakes } from "./usage-mutants.ts"

export const mailboxMutants: Mutants = mutantsOf({
  ...claimMistakes,
  ...noteMistakes,
  ...mailMistakes,
  ...dueMistakes
})

export const ledgerMutants: Mutants = mutantsOf({
  ...commitMistakes,
  ...readingMistakes,
  ...discardedMistakes,
  ...usageMistakes,
  ...blobMistakes
})

export const recallMutants: Readonly<Record<string, FreshLayer<Recall>>> = {
  ...recallReadingMutants,
  ...recallWritingMutants
}
