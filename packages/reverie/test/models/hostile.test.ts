// Models given as objects, over code as programs write it: trusting, with fetch, against a server that lies.

import { assert, describe, it } from "@effect/vitest"
import { type CallPiece, isModelError, type Model, type Prompt } from "@reverie/model"
import {
  aiSdkOverFetch,
  HOSTILE_TOOL,
  hostileModeNames,
  type HostileModeName,
  hostileModes,
  promiseOverFetch,
  saying,
  startModelServer
} from "@reverie/testkit/model-server"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { aiSdkModel } from "../../src/models/ai-sdk-model.ts"
import { ownModel } from "../../src/models/promise-model.ts"

const WELL = "All is well."

const prompt: Prompt = {
  messages: [{ role: "user", content: "Is there a berth free?" }],
  tools: [
    {
      name: HOSTILE_TOOL,
      description: "Looks at the berths.",
      parameters: { type: "object", properties: { text: { type: "string" } } }
    }
  ],
  callPrefix: "7.1"
}

/** Small enough for a test, and long enough for a good answer on a busy machine. */
const limits = {
  timeoutMs: 1_500,
  idleMs: 200,
  maxReplyBytes: 1_000_000,
  retries: 0,
  backoffMs: 1,
  parkAfterMs: 100
}

const serverOf = (mode: HostileModeName) =>
  Effect.acquireRelease(
    Effect.promise(() => startModelServer({ mode })),
    (server) => Effect.promise(() => server.close())
  )

const judged = Effect.fnUntraced(function* (
  name: HostileModeName,
  make: (url: string) => Model["Service"],
  isStream: boolean
) {
  const server = yield* serverOf(name)
  const model = make(server.url)
  const shown = new Set<number>()
  const onCall = ({ call }: CallPiece): void => void shown.add(call)
  const options = isStream ? { onText: () => {}, onCall } : undefined
  // A deadline and what its ending takes; twice, for what is asked once more.
  const exit = yield* Effect.exit(model.infer(prompt, options)).pipe(Effect.timeout(4 * limits.timeoutMs))
  if (Exit.isFailure(exit)) {
    const error = Cause.findErrorOption(exit.cause)
    assert.isFalse(Cause.hasDies(exit.cause), Cause.pretty(exit.cause))
    assert.isTrue(error._tag === "Some" && isModelError(error.value))
    const { leadsTo } = hostileModes[name]
    // Redirects are followed by fetch, before the model sees them.
    if (!name.startsWith("redirect") && "error" in leadsTo && leadsTo.error === "ModelDenied")
      assert.strictEqual(error._tag === "Some" && error.value._tag, "ModelDenied")
  } else {
    for (const [index, call] of exit.value.calls.entries()) assert.strictEqual(call.id, `7.1.${index}`)
  }
  assert.isAtMost(shown.size, 16, "of more calls than a reply may have no one is shown anything")
  server.become({ script: saying(WELL) })
  assert.strictEqual((yield* model.infer(prompt, options)).text, WELL)
})

const wires: Readonly<Record<string, readonly [make: (url: string) => Model["Service"], isStream: boolean]>> = {
  "a model with an async infer": [(url) => ownModel(promiseOverFetch(url), limits), false],
  "a model of the AI SDK": [(url) => aiSdkModel(aiSdkOverFetch(url), limits), false],
  "a stream of the AI SDK": [(url) => aiSdkModel(aiSdkOverFetch(url), limits), true]
}

describe.each(Object.keys(wires))("P1 %s ends every call in a reply or one failure, and answers the next", (wire) => {
  const [make, isStream] = wires[wire] ?? assert.fail(wire)
  const names = hostileModeNames.filter((name) => hostileModes[name][isStream ? "stream" : "plain"] !== undefined)
  it("meets enough modes to mean something", () => assert.isAtLeast(names.length, 30))
  it.live.each(names)("%s", (name) => Effect.scoped(judged(name, make, isStream)))
})
