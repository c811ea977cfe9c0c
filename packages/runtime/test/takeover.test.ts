import { assert, describe, it } from "@effect/vitest"
import { anAddress, inTurn, type Store } from "@reverie/testkit"
import type { Claim } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { aTool, calling, live } from "./rig.ts"

/** A worker whose renewals hang, as when its process is paused: its lease runs out while it believes in it. */
const neverRenews = (store: Store): Store => ({
  ...store,
  mailbox: { ...store.mailbox, renew: () => Effect.never }
})

describe("two workers", () => {
  it("I1 of the lease session: an assistant is held by one of them, and work is shared", () => {
    const all = Array.from({ length: 8 }, (_, index) => `a-${index}`)
    const busy: Array<string> = []
    const life = live({
      idle: true,
      assistants: all,
      model: (prompt, call) => Effect.delay(Effect.succeed({ text: `${call} ${prompt.callPrefix}` }), 1_000)
    })
    const seen =
      (worker: string) =>
      (store: Store): Store => ({
        ...store,
        mailbox: {
          ...store.mailbox,
          claim: (request) =>
            Effect.tap(store.mailbox.claim(request), ({ claim }) =>
              Effect.sync(() => busy.push(`${worker} ${claim.address.assistant}`))
            )
        }
      })
    life.work({ worker: "worker-1", concurrency: 2 }, seen("worker-1"))
    life.work({ worker: "worker-2", concurrency: 2 }, seen("worker-2"))
    for (const to of all) life.say("Work.", { to })
    life.rest()
    for (const name of all) assert.strictEqual(life.ends(name).length, 1)
    assert.strictEqual(new Set(busy.map((claim) => claim.split(" ")[1])).size, all.length)
    assert.isAbove(busy.filter((claim) => claim.startsWith("worker-1")).length, 0)
    assert.isAbove(busy.filter((claim) => claim.startsWith("worker-2")).length, 0)
    assert.deepStrictEqual(life.failures, [])
  })

  it("I2 of the lease session: a worker that overslept its lease drops everything: its late result is fenced and in no record", () => {
    const claims: Array<Claim> = []
    const fenced: Array<string> = []
    let answer = () => {}
    const life = live({
      idle: true,
      tools: [
        aTool("dig", {
          idempotent: true,
          effect: () =>
            claims.length === 1
              ? Effect.callback<string>((resume) => {
                  answer = () => resume(Effect.succeed("dug by the sleeper"))
                })
              : Effect.succeed("dug by the other")
        })
      ],
      model: inTurn(calling("dig"), { text: "Done." })
    })
    const watched = (store: Store): Store => ({
      mailbox: {
        ...store.mailbox,
        claim: (request) =>
          Effect.tap(store.mailbox.claim(request), ({ claim }) => Effect.sync(() => claims.push(claim)))
      },
      ledger: {
        ...store.ledger,
        commit: (claim, commit) =>
          Effect.tapError(store.ledger.commit(claim, commit), ({ _tag }) =>
            Effect.sync(() => fenced.push(`${_tag} ${claim.epoch}`))
          )
      }
    })
    life.work({ worker: "sleeper", leaseMs: 9_000 }, (store) => neverRenews(watched(store)))
    life.slip("Dig.", { id: "m-1" })
    life.until(() => life.status() === "awake.acting.running")
    life.work({ worker: "other", leaseMs: 9_000 }, watched)
    life.rest()
    assert.deepStrictEqual(
      claims.map(({ epoch, worker }) => `${worker} ${epoch}`),
      ["sleeper 1", "other 2"]
    )
    assert.deepInclude(life.ends()[0], { envelope: "m-1", outcome: "answered", reply: "Done." })
    const before = JSON.stringify(life.entries())
    answer()
    life.pass(30_000)
    assert.deepStrictEqual(fenced, ["CommitFenced 1"])
    assert.strictEqual(JSON.stringify(life.entries()), before)
    assert.strictEqual(life.answerTo("1.1.0"), "dug by the other")
    assert.deepStrictEqual(
      life.failures.map(([, { _tag }]) => _tag),
      ["CommitFenced"]
    )
  })

  it("I2 of the lease session: a lease found lost at its renewal stops the work at once: the tool's signal, the model call, the host", () => {
    const signals: Array<AbortSignal> = []
    const life = live({
      idle: true,
      tools: [
        aTool("dig", {
          idempotent: true,
          effect: (_, { signal }) =>
            Effect.suspend(() => (signals.push(signal) === 1 ? Effect.never : Effect.succeed("dug")))
        })
      ],
      model: inTurn(calling("dig"), { text: "Done." })
    })
    // Its first renewal comes only after the lease has run out, and another one has claimed.
    life.work({ worker: "sleeper", leaseMs: 9_000 }, (store) => ({
      ...store,
      mailbox: {
        ...store.mailbox,
        renew: (claim, leaseMillis) => Effect.delay(store.mailbox.renew(claim, leaseMillis), 20_000)
      }
    }))
    life.slip("Dig.", { id: "m-1" })
    life.until(() => signals.length === 1)
    life.work({ worker: "other", leaseMs: 9_000 })
    life.until(() => life.ends().length === 1)
    assert.isFalse(signals[0]?.aborted)
    life.pass(30_000)
    assert.isTrue(signals[0]?.aborted)
    assert.deepStrictEqual(
      life.failures.map(([name, { _tag }]) => `${name} ${_tag}`),
      ["ada LeaseLost"]
    )
    assert.strictEqual(life.settled().length, 1)
  })

  it("I2 of the lease session: the one that lost it does not release what the other one holds", () => {
    const life = live({ idle: true, model: () => Effect.delay(Effect.succeed({ text: "Slow." }), 60_000) })
    life.work({ worker: "sleeper", leaseMs: 9_000 }, neverRenews)
    life.slip("Think.")
    life.until(() => life.status() === "awake.thinking.inferring")
    life.work({ worker: "other", leaseMs: 9_000 })
    life.pass(61_000)
    // The sleeper's answer has come and was fenced; the other one is still at work.
    assert.strictEqual(life.disk.resident(anAddress())?.lease?.worker, "other")
    life.rest()
    assert.strictEqual(life.ends().length, 1)
  })

  it("I2 of the tool job: a worker that was paused beyond its lease begins no tool, not even a harmless one", () => {
    const runs: Array<string> = []
    let paused = false
    const life = live({
      idle: true,
      tools: [aTool("dig", { idempotent: true, effect: (_, { key }) => Effect.sync(() => String(runs.push(key))) })],
      model: inTurn(calling("dig"), { text: "Done." }),
      faults: {
        at: (point) =>
          Effect.suspend(() => {
            if (point !== "before-tool" || paused) return Effect.void
            paused = true
            return Effect.sleep(60_000)
          })
      }
    })
    life.work({ worker: "sleeper", leaseMs: 9_000 }, neverRenews)
    life.slip("Dig.")
    life.until(() => paused)
    life.work({ worker: "other", leaseMs: 9_000 })
    life.until(() => life.ends().length === 1)
    assert.strictEqual(runs.length, 1)
    life.pass(120_000)
    assert.strictEqual(runs.length, 1)
  })
})
