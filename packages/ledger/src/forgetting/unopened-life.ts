// UnopenedLife: a life whose data keys are not there, as of who was forgotten after a backup was made that is put back.
// Owns telling it. Leaves what becomes of its rows to the stores.

import type { Bundle } from "../bundle-part.ts"
import { unopenedReason } from "../sealing/sealed-rows.ts"

/** It can only be forgotten whole: what it says is not known. */
export const isUnopenedLife = ({ head }: Bundle): boolean =>
  head.kind === "assistant" && typeof head.state === "string" && unopenedReason(head.state) !== undefined
