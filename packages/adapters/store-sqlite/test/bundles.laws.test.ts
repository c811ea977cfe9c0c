import { IN_MEMORY, openSqliteStore } from "@reverie/store-sqlite"
import { housesLayer, bundleLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import * as Effect from "effect/Effect"
import { aDirectory } from "./directories.ts"

prove("SQLite in memory: bundle laws", bundleLaws, () => housesLayer(openSqliteStore(IN_MEMORY)))
prove("SQLite in directories: bundle laws", bundleLaws, () =>
  housesLayer(Effect.suspend(() => openSqliteStore(aDirectory())))
)
