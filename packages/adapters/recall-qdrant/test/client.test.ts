import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, it } from "@effect/vitest"

const index = fileURLToPath(new URL("../src/index.ts", import.meta.url))

/** Builds the layer in a process of its own, and says which packages were loaded by then and by the first request. */
const child = `
import { registerHooks } from "node:module"
const seen = new Set()
registerHooks({ resolve: (name, context, next) => { seen.add(name); return next(name, context) } })
const { recallQdrantLayer } = await import(${JSON.stringify(index)})
const Effect = await import("effect/Effect")
const { Recall } = await import("@reverie/memory")
const isLoaded = () => seen.has("@qdrant/js-client-rest")
const layer = recallQdrantLayer({ url: "http://127.0.0.1:1", apiKey: "key", timeoutMs: 1000 })
const told = await Effect.runPromise(Effect.gen(function* () {
  const recall = yield* Recall
  const before = isLoaded()
  yield* Effect.flip(recall.position({ tenant: "harbor", assistant: "ada" }))
  return [before, isLoaded()]
}).pipe(Effect.provide(layer)))
console.log(JSON.stringify(told))
`

it("C1 the client is loaded at the first request, and writes nothing to the console", async () => {
  const run = promisify(execFile)
  const { stderr, stdout } = await run(process.execPath, ["--input-type=module", "--eval", child], {
    cwd: fileURLToPath(new URL("..", import.meta.url))
  })
  assert.deepStrictEqual(JSON.parse(stdout), [false, true])
  assert.strictEqual(stderr, "")
})
