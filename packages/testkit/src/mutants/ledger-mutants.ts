// Ledger mutants: every wrong ledger that the ledger laws must kill.

import { blobMistakes } from "./blob-mutants.ts"
import { discardedMistakes } from "./discarded-mutants.ts"
import { commitMistakes } from "./commit-mutants.ts"
import { type Mutants, mutantsOf } from "./mutant.ts"
import { readingMistakes } from "./reading-mutants.ts"
import { usageMistakes } from "./usage-mutants.ts"

export const ledgerMutants: Mutants = mutantsOf({
  ...commitMistakes,
  ...readingMistakes,
  ...discardedMistakes,
  ...usageMistakes,
  ...blobMistakes
})
