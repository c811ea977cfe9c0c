// Sealings: keys of subjects, in memory.

import { createSecretKey, randomBytes } from "node:crypto"
import { Sealing, type Subject, type SubjectKey } from "@reverie/ledger"

export const aSealing = (): Sealing => {
  const keys = new Map<string, SubjectKey>()
  const current = (subject: Subject): SubjectKey => {
    const name = JSON.stringify(subject)
    const key = keys.get(name) ?? { id: keys.size + 1, subject, secret: createSecretKey(randomBytes(32)) }
    keys.set(name, key)
    return key
  }
  return new Sealing({ current, byId: (id) => [...keys.values()].find((key) => key.id === id) }, randomBytes(16))
}
