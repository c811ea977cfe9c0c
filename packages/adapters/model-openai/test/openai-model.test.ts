import { assert, describe, it } from "@effect/vitest"
import { type Model, Tokens, tokensOf } from "@reverie/model"
import { benchScript, DONE, piece, saying } from "@reverie/testkit/model-server"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { aPrompt, harbor, KEY } from "./harbor-model.ts"
import { makeOpenAiModel } from "../src/openai-model.ts"

describe("a good server", () => {
  it.live("model I1 a call and then an answer, streaming and not, with the key and our ids on the wire", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ script: benchScript })
      const prompt = aPrompt()
      const called = yield* model.infer(prompt)
      const calls = [{ id: "7.1.0", tool: "look", arguments: { text: "berth seven, from noon" } }]
      assert.deepStrictEqual(called, {
        text: "",
        calls,
        finish: "tool-calls",
        usage: { inputTokens: 12, outputTokens: 5, source: "provider" },
        model: "harbor-1"
      })
      assert.deepStrictEqual(yield* model.infer(prompt, { onText: () => {} }), called)
      const answered = yield* model.infer({
        ...prompt,
        messages: [
          ...prompt.messages,
          { role: "assistant", content: "", calls },
          { role: "tool", content: "ok", call: "7.1.0" }
        ]
      })
      assert.strictEqual(answered.finish, "stop")
      assert.match(answered.text, /^The harbour master/)
      const [first, second, third] = server.requests
      assert.strictEqual(first?.headers.authorization, `Bearer ${KEY}`)
      for (const name of ["openai-organization", "openai-project", "x-stainless-timeout", "accept-encoding"]) {
        assert.notProperty(first?.headers, name)
      }
      const { "content-length": length, ...headers } = first?.headers ?? {}
      assert.isAbove(Number(length), 0)
      for (const later of [second, third]) assert.deepInclude(later?.headers, headers)
      assert.notStrictEqual(third?.headers["content-length"], length)
      assert.deepStrictEqual([first?.stream, second?.stream], [false, true])
      assert.strictEqual(third?.messages.at(-1)?.tool_call_id, "7_1_0")
    })
  )

  it.live("model I1 the pieces of a stream are the reply", () =>
    Effect.gen(function* () {
      const text = "A long answer, of which some is said before the rest is known: ⚓🛶 and so on."
      const { model } = yield* harbor({ script: saying(text) })
      const heard: Array<string> = []
      const reply = yield* model.infer(aPrompt(), { onText: (piece) => heard.push(piece) })
      assert.strictEqual(reply.text, text)
      assert.strictEqual(heard.join(""), text)
      assert.isAbove(heard.length, 1)
    })
  )

  it.live("the option decides on streaming, no matter who listens", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ script: saying("Yes.") }, { stream: false })
      const heard: Array<string> = []
      yield* model.infer(aPrompt(), { onText: (piece) => heard.push(piece) })
      assert.isFalse(server.requests[0]?.stream)
      assert.deepStrictEqual(heard, ["Yes."])
    })
  )

  it.live("a prompt that names another model is answered by it, over both forms and the repair, and no other is", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ script: ({ model }) => ({ text: `I am ${model}.` }) })
      const tiny = aPrompt({ model: 'tiny "small"' })
      const reply = yield* model.infer(tiny)
      assert.deepStrictEqual([reply.text, reply.model], ['I am tiny "small".', 'tiny "small"'])
      yield* model.infer(tiny, { onText: () => {} })
      yield* model.infer(aPrompt())
      server.become({ sequence: [{ mode: "empty-stop" }, { script: saying("Yes.") }] })
      yield* model.infer(tiny)
      const other = 'tiny "small"'
      assert.deepStrictEqual(
        server.requests.map(({ model }) => model),
        [other, other, "harbor-1", other, other]
      )
    })
  )

  it.live("no limit at all is a limit that a timer can hold", () =>
    Effect.gen(function* () {
      const { model } = yield* harbor({ script: saying("Yes.") }, { timeoutMs: Infinity, idleMs: Infinity })
      assert.strictEqual((yield* model.infer(aPrompt())).text, "Yes.")
    })
  )

  it.live("I4 a second call on a kept connection that the server has closed meanwhile is no failure", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ script: saying("Yes.") }, { retries: 0 })
      for (let round = 0; round < 5; round++) {
        assert.strictEqual((yield* model.infer(aPrompt())).text, "Yes.")
        server.dropIdle()
      }
    })
  )

  it.live("missing usage is counted with the vocabulary at hand", () =>
    Effect.gen(function* () {
      const { server } = yield* harbor({ mode: "usage-missing" })
      const model = yield* makeOpenAiModel({ baseURL: server.url, apiKey: Redacted.make(KEY), model: "m" }).pipe(
        Effect.provideService(
          Tokens,
          tokensOf(() => 100)
        )
      )
      const { usage } = yield* model.infer(aPrompt())
      assert.deepStrictEqual(usage, { inputTokens: 2 * 104 + 3 * 100, outputTokens: 100, source: "counted" })
    })
  )
})

describe("exchange", () => {
  it.live("I1 what follows a whole answer is not read to its end", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ mode: "stream-after-done-floods" })
      const departed = server.nextDeparture()
      yield* model.infer(aPrompt(), { onText: () => {} })
      yield* Effect.promise(() => departed)
    })
  )

  it.live("I3 a busy process does not blame the server for its own silence", () =>
    Effect.gen(function* () {
      const { model } = yield* harbor(
        {
          serve: (request, response) => {
            response.writeHead(200, { "content-type": "text/event-stream" })
            response.write(piece(request.model, { content: "Berth " }))
            setTimeout(() => {
              response.write(piece(request.model, { content: "sev" }))
              setTimeout(() => response.end(piece(request.model, { content: "en." }, "stop") + DONE), 10)
            }, 10)
          }
        },
        { idleMs: 100, retries: 0 }
      )
      const reply = yield* model.infer(aPrompt(), {
        onText: (text) => {
          const until = text === "Berth " ? Date.now() + 150 : 0
          while (Date.now() < until);
        }
      })
      assert.strictEqual(reply.text, "Berth seven.")
    })
  )
})

describe("model I3 interruption", () => {
  it.live("closes the connection while headers are awaited", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ mode: "headers-hang" })
      const arrived = server.nextRequest()
      const departed = server.nextDeparture()
      const fiber = yield* Effect.forkChild(model.infer(aPrompt()), { startImmediately: true })
      yield* Effect.promise(() => arrived)
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => departed)
    })
  )

  it.live("closes the connection in the middle of a stream", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ mode: "slow-loris" })
      const departed = server.nextDeparture()
      let hear = (): void => {}
      const heard = new Promise<void>((resolve) => (hear = resolve))
      const fiber = yield* Effect.forkChild(model.infer(aPrompt(), { onText: () => hear() }), {
        startImmediately: true
      })
      yield* Effect.promise(() => heard)
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => departed)
      server.become({ script: saying("Yes.") })
      assert.strictEqual((yield* model.infer(aPrompt())).text, "Yes.")
    })
  )

  it.live("before the first request leaves nothing behind", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ script: saying("Yes.") })
      const fiber = yield* Effect.forkChild(model.infer(aPrompt()), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      assert.lengthOf(server.requests, 0)
      assert.strictEqual((yield* model.infer(aPrompt())).text, "Yes.")
    })
  )
})

describe("the circuit", () => {
  const breaker = { failures: 3, windowMs: 60_000, coolDownMs: 30_000 }
  const withheldMillis = (model: Model["Service"], name?: string) =>
    model.circuit?.withheldMillis(name) ?? Effect.succeed(-1)

  it.effect("B1 B2 B3 opens, withholds without a request, tries one call after its time, and closes", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ mode: "status-500" }, { retries: 0, breaker })
      const infer = Effect.result(model.infer(aPrompt()))
      for (let failure = 0; failure < 3; failure++) yield* infer
      assert.lengthOf(server.requests, 3)
      const withheld = yield* Effect.flip(model.infer(aPrompt()))
      assert.strictEqual(withheld._tag, "CallWithheld")
      assert.strictEqual("retryAfterMs" in withheld ? withheld.retryAfterMs : undefined, 30_000)
      assert.strictEqual(yield* withheldMillis(model), 30_000)
      assert.lengthOf(server.requests, 3)

      yield* TestClock.adjust("30 seconds")
      yield* infer
      yield* infer
      assert.lengthOf(server.requests, 4, "one call tried, and opened the circuit again")

      server.become({ script: saying("Yes.") })
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* model.infer(aPrompt())).text, "Yes.")
      assert.strictEqual((yield* model.infer(aPrompt())).text, "Yes.")
      assert.strictEqual(yield* withheldMillis(model), 0)
    })
  )

  it.effect("B5 a sign of life lets one call try before its time", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ mode: "status-500" }, { retries: 0, breaker })
      for (let failure = 0; failure < 4; failure++) yield* Effect.result(model.infer(aPrompt()))
      assert.lengthOf(server.requests, 3)
      yield* model.circuit?.tryNow ?? Effect.void
      for (let failure = 0; failure < 4; failure++) yield* Effect.result(model.infer(aPrompt()))
      assert.lengthOf(server.requests, 4)
    })
  )

  it.effect("B1 another model of the same server has a circuit of its own", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ mode: "status-500" }, { retries: 0, breaker })
      const tiny = aPrompt({ model: "tiny" })
      for (let failure = 0; failure < 4; failure++) yield* Effect.result(model.infer(tiny))
      assert.lengthOf(server.requests, 3)
      server.become({ script: saying("Yes.") })
      assert.strictEqual((yield* model.infer(aPrompt())).text, "Yes.")
      assert.strictEqual((yield* Effect.flip(model.infer(tiny)))._tag, "CallWithheld")
      assert.deepStrictEqual([yield* withheldMillis(model), yield* withheldMillis(model, "tiny")], [0, 30_000])
    })
  )

  it.effect("B3 an interrupted probe frees its place", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ mode: "status-500" }, { retries: 0, breaker })
      for (let failure = 0; failure < 3; failure++) yield* Effect.result(model.infer(aPrompt()))
      yield* TestClock.adjust("30 seconds")
      server.become({ mode: "headers-hang" })
      const arrived = server.nextRequest()
      const probe = yield* Effect.forkChild(model.infer(aPrompt()), { startImmediately: true })
      yield* Effect.promise(() => arrived)
      yield* Fiber.interrupt(probe)
      server.become({ script: saying("Yes.") })
      assert.strictEqual((yield* model.infer(aPrompt())).text, "Yes.")
    })
  )

  it.effect.each(["rate-limited-1h", "rate-limited-nonsense", "html-with-200", "choices-empty", "redirect"] as const)(
    "B1 %s is no answer: nothing but that opens it",
    (mode) =>
      Effect.gen(function* () {
        const { model, server } = yield* harbor({ mode }, { retries: 0, breaker })
        for (let call = 0; call < 6; call++) yield* Effect.result(model.infer(aPrompt()))
        assert.lengthOf(server.requests, 3)
      })
  )

  it.effect.each(["bad-request", "unauthorized", "empty-stop"] as const)(
    "B1 %s says nothing against the health of the server",
    (mode) =>
      Effect.gen(function* () {
        const { model, server } = yield* harbor({ mode }, { retries: 0, breaker })
        for (let call = 0; call < 6; call++) yield* Effect.result(model.infer(aPrompt()))
        assert.isAtLeast(server.requests.length, 6)
      })
  )
})

describe("odd surroundings", () => {
  it.live("I1 a base URL that is none is a denial, not a throw", () =>
    Effect.gen(function* () {
      for (const baseURL of ["", "harbor", "file:///etc/passwd", "ftp://h/"]) {
        const model = yield* makeOpenAiModel({ baseURL, apiKey: Redacted.make(KEY), model: "m" })
        assert.strictEqual((yield* Effect.flip(model.infer(aPrompt())))._tag, "ModelDenied")
      }
    })
  )

  it.live("I1 no one listens", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ script: saying("Yes.") })
      yield* Effect.promise(() => server.close())
      const error = yield* Effect.flip(model.infer(aPrompt()))
      assert.deepInclude(
        { tag: error._tag, kind: Reflect.get(error, "kind") },
        { tag: "ModelUnavailable", kind: "network" }
      )
      assert.include(error.message, "ECONNREFUSED")
    })
  )

  it.live("I3 a key that no header can carry is not told in the error", () =>
    Effect.gen(function* () {
      const { server } = yield* harbor({ script: saying("Yes.") })
      const key = `sk-broken\n${KEY}`
      const model = yield* makeOpenAiModel({ baseURL: server.url, apiKey: Redacted.make(key), model: "m", retries: 0 })
      const error = yield* Effect.flip(model.infer(aPrompt()))
      assert.notInclude(JSON.stringify(error) + (error.stack ?? ""), KEY)
      assert.lengthOf(server.requests, 0)
    })
  )

  it.live("I3 credentials in the base URL do not show in errors", () =>
    Effect.gen(function* () {
      const { server } = yield* harbor({ mode: "status-500" })
      const baseURL = server.url.replace("http://", "http://user:hunter2hunter2@")
      const model = yield* makeOpenAiModel({ baseURL, apiKey: Redacted.make(KEY), model: "m", retries: 0 })
      const error = yield* Effect.flip(model.infer(aPrompt()))
      assert.notInclude(JSON.stringify(error) + (error.stack ?? ""), "hunter2")
    })
  )

  it.live("a listener that throws is a defect of the listener, and of that call alone", () =>
    Effect.gen(function* () {
      const { model } = yield* harbor({ script: saying("Yes.") })
      const exit = yield* Effect.exit(
        model.infer(aPrompt(), {
          onText: () => {
            throw new Error("deaf")
          }
        })
      )
      assert.isTrue(Exit.hasDies(exit))
      assert.strictEqual((yield* model.infer(aPrompt())).text, "Yes.")
    })
  )

  it.live("I1 many calls at once each get their own answer", () =>
    Effect.gen(function* () {
      const { model } = yield* harbor({
        script: ({ messages }) => ({ text: `you said ${String(messages.at(-1)?.content)}` })
      })
      const replies = yield* Effect.forEach(
        Array.from({ length: 64 }, (_, index) => String(index)),
        (content) => model.infer(aPrompt({ messages: [{ role: "user", content }] }), { onText: () => {} }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        replies.map(({ text }) => text),
        replies.map((_, index) => `you said ${index}`)
      )
    })
  )
})
