import { createSecretKey, randomBytes } from "node:crypto"
import { Sealing, type Subject, type SubjectKey } from "@reverie/ledger"
import { recallSqliteLayer } from "@reverie/recall-sqlite"
import { recallLaws, recallThreadLaws } from "@reverie/testkit"
import { atLength } from "@reverie/testkit/length"
import { prove } from "@reverie/testkit/prove"
import { recallTuned } from "../src/recall.ts"
import { aDirectory } from "./directories.ts"
import { TINY } from "./tiny.ts"
import { IN_MEMORY } from "../src/connection.ts"

prove("F107 SQLite in memory: recall laws", recallLaws, () => recallSqliteLayer(IN_MEMORY))
prove("F107 SQLite in a directory: recall laws", recallLaws, () => recallSqliteLayer(aDirectory()))
prove("F107 SQLite in memory, in tiny segments: recall laws", recallLaws, () =>
  recallTuned(IN_MEMORY, {}, { sizes: TINY })
)
prove("F107 SQLite, searched on a thread: recall laws", atLength(recallThreadLaws, recallLaws), () =>
  recallTuned(aDirectory(), {}, { sizes: TINY, large: 0 })
)

const aSealing = (): Sealing => {
  const keys = new Map<string, SubjectKey>()
  const current = (subject: Subject): SubjectKey => {
    const name = JSON.stringify(subject)
    const key = keys.get(name) ?? { id: keys.size + 1, subject, secret: createSecretKey(randomBytes(32)) }
    keys.set(name, key)
    return key
  }
  return new Sealing({ current, byId: (id) => [...keys.values()].find((key) => key.id === id) }, randomBytes(16))
}

prove("F107 sealed SQLite in a directory: recall laws", recallLaws, () =>
  recallSqliteLayer(aDirectory(), { sealing: aSealing() })
)
prove("F107 sealed SQLite in memory, in tiny segments: recall laws", recallLaws, () =>
  recallTuned(IN_MEMORY, { sealing: aSealing() }, { sizes: TINY })
)
