// Recall laws: what every index of memories does (recall I1-I8).

import type { Recall } from "@reverie/memory"
import type { Law } from "../law.ts"
import { recallAccessLaws } from "./recall-access-laws.ts"
import { recallFindingLaws } from "./recall-finding-laws.ts"
import { recallKeepingLaws } from "./recall-keeping-laws.ts"
import { recallReasonLaws } from "./recall-reason-laws.ts"
import { recallVectorLaws } from "./recall-vector-laws.ts"

export const recallLaws: ReadonlyArray<Law<Recall>> = [
  ...recallAccessLaws,
  ...recallKeepingLaws,
  ...recallFindingLaws,
  ...recallReasonLaws,
  ...recallVectorLaws
]
