import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { SegmentPlace } from "@reverie/ledger"
import { segmentDirectory } from "@reverie/store-sqlite"
import { segmentPlaceLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { aDirectory } from "./directories.ts"

prove("directory: segment place laws", segmentPlaceLaws, () =>
  Layer.sync(SegmentPlace, () => segmentDirectory(join(aDirectory(), "deep", "down")))
)

it.effect("D2 what a crash cut off is not read, not listed, and goes when it is old", () =>
  Effect.gen(function* () {
    const directory = aDirectory()
    const place = segmentDirectory(directory)
    yield* place.put("s1/a", Uint8Array.of(1, 2, 3))
    assert.deepStrictEqual(readdirSync(join(directory, "s1")), ["a.segment"])
    for (const name of [".partial-old", ".partial-new"]) writeFileSync(join(directory, "s1", name), "half")
    writeFileSync(join(directory, "s1", "README"), "not ours")
    utimesSync(join(directory, "s1", ".partial-old"), 1, 1)
    assert.deepStrictEqual(yield* place.list(""), [{ key: "s1/a", bytes: 3 }])
    assert.deepStrictEqual(readdirSync(join(directory, "s1")).toSorted(), [".partial-new", "README", "a.segment"])
  })
)

it.effect("a directory that cannot be written is one error with its name", () =>
  Effect.gen(function* () {
    const directory = aDirectory()
    mkdirSync(directory, { recursive: true })
    const file = join(directory, "file")
    writeFileSync(file, "")
    const outcome = yield* Effect.result(segmentDirectory(file).put("s1/a", Uint8Array.of(1)))
    assert.ok(Result.isFailure(outcome) && outcome.failure._tag === "SegmentPlaceUnavailable")
    assert.include(outcome.failure.message, file)
  })
)
