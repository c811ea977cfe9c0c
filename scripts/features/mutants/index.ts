// Mutants: one break for each row, where the row lives in the source.
// Owns the list. Leaves what a mutant is to mutant.ts.

import { blockMutants } from "./blocks.ts"
import { builderMutants } from "./builder.ts"
import { contextMutants } from "./context.ts"
import { dreamMutants } from "./dreams.ts"
import { extractionMutants } from "./extraction.ts"
import type { Mutant } from "./mutant.ts"
import { patternMutants } from "./patterns.ts"
import { selfMutants } from "./self.ts"

export const mutants: ReadonlyArray<Mutant> = [
  ...contextMutants,
  ...patternMutants,
  ...dreamMutants,
  ...extractionMutants,
  ...selfMutants,
  ...blockMutants,
  ...builderMutants
]
