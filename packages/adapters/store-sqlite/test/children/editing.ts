// A process that changes the blocks of the directory named on its command line as fast as it can, until it is killed. What
// it was told is durable it says on stdout, one line each: `<block index> <key> <version>`.
import { writeSync } from "node:fs"
import type { BlockDraft } from "@reverie/memory"
import { TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { openSqliteStore } from "@reverie/store-sqlite"

const BLOCKS = 4
const tenant = TenantId.make("harbor")

const editing = Effect.gen(function* () {
  const { blocks } = yield* openSqliteStore(String(process.argv[2]))

  const live = (index: number) =>
    Effect.gen(function* () {
      const viewer = { tenant, by: "ada" }
      const draft: BlockDraft = {
        owner: "ada",
        label: `list-${index}`,
        type: "working",
        charLimit: 1_000_000,
        schema: { kind: "list" }
      }
      const { block } = yield* blocks.create(draft, { ...viewer, key: `created ${index}`, at: 0 })
      const first = (yield* blocks.load(viewer, block))?.version ?? 1
      for (let version = first + 1; ; version++) {
        const key = `${index}/${version}`
        const value = `${version} ${"x".repeat(version % 300)}`
        const done = yield* blocks.change(block, { ...viewer, key, at: version }, { op: "push_item", value })
        writeSync(1, `${index} ${key} ${done.version}\n`)
      }
    })

  yield* Effect.forEach(
    Array.from({ length: BLOCKS }, (_, index) => index),
    live,
    { concurrency: "unbounded" }
  )
})

void Effect.runPromise(Effect.scoped(editing))
