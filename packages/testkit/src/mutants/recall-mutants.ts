// Recall mutants: indexes that are each wrong in one way, which the recall laws must kill.

import type { Recall } from "@reverie/memory"
import type { FreshLayer } from "../law.ts"
import { recallReadingMutants } from "./recall-reading-mutants.ts"
import { recallWritingMutants } from "./recall-writing-mutants.ts"

export const recallMutants: Readonly<Record<string, FreshLayer<Recall>>> = {
  ...recallReadingMutants,
  ...recallWritingMutants
}
