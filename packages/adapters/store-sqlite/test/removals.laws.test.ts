import { IN_MEMORY, openSqliteStore } from "@reverie/store-sqlite"
import { housesLayer, removalLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import * as Effect from "effect/Effect"
import { aDirectory } from "./directories.ts"

prove("SQLite in memory: removal laws", removalLaws, () => housesLayer(openSqliteStore(IN_MEMORY)))
prove("SQLite in directories: removal laws", removalLaws, () =>
  housesLayer(Effect.suspend(() => openSqliteStore(aDirectory())))
)
