// Sealings: one subject with one key, in memory.

import { createSecretKey, randomBytes } from "node:crypto"
import { type Place, Sealing, type Subject, type SubjectKey } from "../src/sealing/sealing.ts"

export const ADA: Subject = { tenant: "home", assistant: "ada" }
export const PLACE: Place = ["letters", "body", "l-1"]

export const aSealing = () => {
  const key: SubjectKey = { id: 1, subject: ADA, secret: createSecretKey(randomBytes(32)) }
  const known = new Map([[key.id, key]])
  const sealing = new Sealing({ current: () => key, byId: (id) => known.get(id) }, randomBytes(16))
  return { sealing, destroy: () => known.clear() }
}
