// Living: whom a request is about.
// Owns refusing a request about somebody who is not there. Leaves reading to the fleet.
// L1  A reading about nobody is `NotFound`, never an empty answer.

import type { AssistantRecord, Records } from "reverie"
import { NotFound } from "../api/errors.ts"

export const living = async (records: Pick<Records, "inspect">, id: string): Promise<AssistantRecord> => {
  const record = await records.inspect(id)
  if (record === undefined) throw new NotFound({ message: `there is no assistant ${id}` })
  return record
}

/** What was found, or a refusal that names it. */
export const found = <A>(value: A | undefined, what: string): A => {
  if (value === undefined) throw new NotFound({ message: `there is no ${what}` })
  return value
}
