import { assert, describe, it } from "@effect/vitest"

import { inTurn } from "@reverie/testkit"
import type { Tool } from "@reverie/tools"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { aTool, calling, type Life, live, type LifeOptions } from "./rig.ts"
import { MAX_HOPS, undeliverable } from "../src/worker/relay.ts"

const countUndeliverable = (): number => Effect.runSync(Metric.value(undeliverable)).count

/** Sends to whom the assistant is asked to send. */
const pass = (to: (assistant: string) => string): Tool =>
  aTool("pass", {
    idempotent: true,
    effect: (_, { assistant, send }) =>
      Effect.sync(() => {
        send(to(assistant), `a word from ${assistant}`)
        return "passed on"
      })
  })

const said = (life: Life, assistant: string): ReadonlyArray<string> =>
  life.messages(assistant).flatMap(({ content, name, role }) => (role === "user" ? [`${name}: ${content}`] : []))

/** Passes on whatever a person says, and answers everything else. */
const answersAssistants: LifeOptions["model"] = (prompt) => {
  const last = prompt.messages.at(-1)
  return Effect.succeed(last?.role === "user" && last.content === "Go." ? calling("pass") : { text: "Noted." })
}

describe("the relay", () => {
  it("I1 what an assistant sends arrives once, in the name of its sender, one hop further", () => {
    const life = live({ assistants: ["ada", "bo"], tools: [pass(() => "bo")], model: answersAssistants })
    life.say("Go.", { to: "ada", hops: 2 })
    life.rest()
    assert.deepStrictEqual(said(life, "bo"), ["assistant:ada: a word from ada"])
    const arrival = life.entries("bo").find(({ cause }) => cause.kind === "envelope")
    assert.deepInclude(arrival?.event, { envelope: "harbor/ada/1.1.0#0", hops: 3 })
    assert.strictEqual(life.ends("bo").length, 1)
    assert.strictEqual(life.disk.sends.size, 0)
  })

  it("I1 nothing leaves before the commit of the result that sent it", () => {
    const life = live({
      assistants: ["ada", "bo"],
      tools: [
        aTool("pass", {
          effect: (_, { send }) =>
            Effect.sync(() => send("bo", "never mind")).pipe(Effect.andThen(Effect.fail("changed my mind")))
        })
      ],
      model: answersAssistants
    })
    life.say("Go.", { to: "ada" })
    life.rest()
    assert.deepStrictEqual(said(life, "bo"), [])
    assert.match(life.answerTo("1.1.0", "ada"), /changed my mind.*not sent/)
  })

  it("I1 an unknown recipient: the sender learns it by a returned message, and the loop ends there", () => {
    const before = countUndeliverable()
    const life = live({ assistants: ["ada"], tools: [pass(() => "nobody")], model: answersAssistants })
    life.say("Go.", { to: "ada" })
    life.rest()
    assert.deepStrictEqual(said(life, "ada"), [
      "person:tester: Go.",
      "relay: Your message to nobody was not delivered: there is no assistant nobody."
    ])
    assert.strictEqual(countUndeliverable(), before + 1)
    assert.strictEqual(life.disk.sends.size, 0)
  })

  it("I1 two sends of one run to no one come back as two messages, also where ids are as long as they can be", () => {
    const twice = aTool("pass", {
      effect: (_, { send }) =>
        Effect.sync(() => {
          send("nobody", "one")
          send("nothing", "two")
        })
    })
    // Both names together leave the key just short enough not to be replaced by its hash.
    const tenant = "t".repeat(112)
    const sender = "s".repeat(128)
    const life = live({ assistants: [sender], tenant, tools: [twice], model: answersAssistants })
    life.say("Go.", { to: sender })
    life.rest()
    assert.isAbove(life.entries(sender).flatMap(({ sends = [] }) => sends)[0]?.id.length ?? 0, 247)
    assert.strictEqual(said(life, sender).length, 3)
  })

  it("I1 what was delivered and not settled before a crash is delivered again, and accepted once", () => {
    let struck = false
    const first: Life = live({
      assistants: ["ada", "bo"],
      tools: [pass(() => "bo")],
      model: answersAssistants,
      faults: {
        at: (point) =>
          Effect.suspend(() => {
            if (point === "after-deliver") first.dead = struck = true
            return first.dead ? Effect.never : Effect.void
          })
      }
    })
    first.say("Go.", { to: "ada" })
    first.until(() => struck)
    assert.strictEqual(first.disk.sends.size, 1)
    const second = live({ disk: first.disk, startAt: first.time.now, assistants: [], model: answersAssistants })
    second.rest()
    assert.deepStrictEqual(said(second, "bo"), ["assistant:ada: a word from ada"])
    assert.strictEqual(second.disk.sends.size, 0)
  })

  it("I2 of the worker: what a worker sent and did not deliver before it died, another one delivers", () => {
    const life = live({ assistants: ["ada", "bo"], tools: [pass(() => "bo")], model: answersAssistants, idle: true })
    // The one that commits never relays; the other one has long looked for sends when it comes to that.
    life.work({ worker: "worker-2", concurrency: 1 })
    life.pass(5_000)
    life.work({ worker: "worker-1" }, (store) => ({
      ...store,
      ledger: { ...store.ledger, openSends: () => Effect.never }
    }))
    life.say("Go.", { to: "ada" })
    life.rest()
    assert.deepStrictEqual(said(life, "bo"), ["assistant:ada: a word from ada"])
  })

  it("I2 two that pass everything on can not talk for ever, and the one who was not heard learns it once", () => {
    const before = countUndeliverable()
    const life = live({
      assistants: ["ada", "bo"],
      tools: [pass((assistant) => (assistant === "ada" ? "bo" : "ada"))],
      settings: { maxIterations: 1 },
      model: calling("pass")
    })
    life.say("Go.", { to: "ada" })
    life.rest()
    const heard = [...said(life, "ada"), ...said(life, "bo")]
    assert.strictEqual(heard.filter((text) => text.startsWith("assistant:")).length, MAX_HOPS)
    assert.deepStrictEqual(
      heard.filter((text) => text.startsWith("relay:")),
      [`relay: Your message to bo was not delivered: it had passed through ${MAX_HOPS + 1} assistants.`]
    )
    assert.strictEqual(countUndeliverable(), before + 2)
    assert.strictEqual(life.disk.sends.size, 0)
  })

  it("I2 a question at the last hop is answered too, and what is written after that answer goes nowhere", () => {
    const life = live({
      assistants: ["ada", "bo"],
      tools: [
        aTool("ask", {
          effect: (_, { send }) => Effect.sync(() => (send("bo", "How many?", { wantsAnswer: true }), "asked"))
        })
      ],
      settings: { maxIterations: 1 },
      model: (prompt) => {
        const last = prompt.messages.at(-1)
        return Effect.succeed(
          last?.role === "user" && last.content !== "How many?" ? calling("ask") : { text: "Two ships." }
        )
      }
    })
    life.say("Go.", { to: "ada", hops: MAX_HOPS - 1 })
    life.rest()
    assert.deepStrictEqual(said(life, "bo"), ["assistant:ada: How many?"])
    assert.deepStrictEqual(said(life, "ada").slice(1), ["assistant:bo: Two ships."])
    assert.strictEqual(life.disk.sends.size, 0)
  })

  it("I2 one that writes to no one again and again comes to an end too", () => {
    const life = live({
      assistants: ["ada"],
      tools: [pass(() => "nobody")],
      settings: { maxIterations: 1 },
      model: inTurn(calling("pass"))
    })
    life.say("Go.", { to: "ada" })
    life.rest()
    assert.isAtMost(life.ends("ada").length, MAX_HOPS + 2)
  })
})
