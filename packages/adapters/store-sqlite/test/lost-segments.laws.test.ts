import { openSqliteStore } from "@reverie/store-sqlite"
import { ApartStore, lostSegmentLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import * as Layer from "effect/Layer"
import { aDirectory } from "./directories.ts"

prove("SQLite: lost segment laws", lostSegmentLaws, () => {
  const directory = aDirectory()
  return Layer.succeed(ApartStore, {
    open: (segments) => openSqliteStore(directory, segments === undefined ? {} : { segments })
  })
})
