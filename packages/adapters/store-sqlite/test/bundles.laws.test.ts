import { IN_MEMORY, openSqliteStore } from "@reverie/store-sqlite"
import { dataStoresLayer, bundleLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import * as Effect from "effect/Effect"
import { aDirectory } from "./directories.ts"

prove("SQLite in memory: bundle laws", bundleLaws, () => dataStoresLayer(openSqliteStore(IN_MEMORY)))
prove("SQLite in directories: bundle laws", bundleLaws, () =>
  dataStoresLayer(Effect.suspend(() => openSqliteStore(aDirectory())))
)
