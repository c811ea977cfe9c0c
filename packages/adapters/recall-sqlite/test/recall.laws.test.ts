import { recallSqliteLayer } from "@reverie/recall-sqlite"
import { recallLaws, recallThreadLaws } from "@reverie/testkit"
import { atLength } from "@reverie/testkit/length"
import { prove } from "@reverie/testkit/prove"
import { recallTuned } from "../src/recall.ts"
import { aDirectory } from "./directories.ts"
import { aSealing } from "./sealings.ts"
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

prove("F107 sealed SQLite in a directory: recall laws", recallLaws, () =>
  recallSqliteLayer(aDirectory(), { sealing: aSealing() })
)
prove("F107 sealed SQLite in memory, in tiny segments: recall laws", recallLaws, () =>
  recallTuned(IN_MEMORY, { sealing: aSealing() }, { sizes: TINY })
)
