import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import { UnreadableRecord } from "../src/errors.ts"
import { Readable } from "../src/present.ts"

const damage = (no: number, message: string) => new UnreadableRecord({ record: `entry ${no} of desk`, message })

it.effect("R2 what is skipped is reported once, and a segment that is lost with the first of its rows alone", () =>
  Effect.gen(function* () {
    const said: Array<string> = []
    const heard = Logger.make(({ message }) => void said.push(String(message)))
    const rows = [
      damage(1, "segment 4 is missing"),
      damage(2, "segment 4 is missing"),
      damage(3, "segment 5 is missing"),
      damage(4, "it is no JSON"),
      damage(5, "it is no JSON")
    ]
    const readable = new Readable()
    const page = readable.page<UnreadableRecord, never, never, never>({
      limit: 10,
      fetch: (last) => Effect.succeed(last === undefined ? rows : []),
      decode: (row) => Result.fail(row)
    })
    yield* Effect.provide(Effect.andThen(page, page), Logger.layer([heard]))
    const more = "reverie doctor --deep tells more"
    assert.deepStrictEqual(said, [
      `entry 1 of desk, and what else lies with it, cannot be read and is skipped: segment 4 is missing; ${more}`,
      `entry 3 of desk, and what else lies with it, cannot be read and is skipped: segment 5 is missing; ${more}`,
      `entry 4 of desk cannot be read and is skipped: it is no JSON; ${more}`,
      `entry 5 of desk cannot be read and is skipped: it is no JSON; ${more}`
    ])
  })
)

it.effect("R2 what does not open for want of keys is reported in one line a page, which says how many", () =>
  Effect.gen(function* () {
    const said: Array<string> = []
    const heard = Logger.make(({ message }) => void said.push(String(message)))
    const sealed = "it is sealed, and does not open: it was changed, it is not in its place, or its key is gone"
    const pageOf = (rows: ReadonlyArray<UnreadableRecord>) =>
      readable.page<UnreadableRecord, never, never, never>({
        limit: 10,
        fetch: (last) => Effect.succeed(last === undefined ? rows : []),
        decode: (row) => Result.fail(row)
      })
    const readable = new Readable()
    const rows = [damage(1, sealed), damage(2, "it is no JSON"), damage(3, sealed), damage(4, sealed)]
    yield* Effect.provide(Effect.andThen(pageOf(rows), pageOf([...rows, damage(5, sealed)])), Logger.layer([heard]))
    const more = "reverie doctor --deep tells more"
    assert.deepStrictEqual(said, [
      `entry 2 of desk cannot be read and is skipped: it is no JSON; ${more}`,
      `entry 1 of desk and 2 more cannot be read and are skipped: ${sealed}; ${more}`,
      `entry 5 of desk cannot be read and is skipped: ${sealed}; ${more}`
    ])
  })
)
