import { assert, describe, it } from "@effect/vitest"
import { taskOf } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { folder, small, talk } from "../folder.ts"
import { type Life, live } from "../rig.ts"
import { dyingAt, lives } from "./lives.ts"

const NEIGHBOURS = ["ann", "bob", "cid", "dee", "eve"]

const settledOf = (life: Life, name = "ada") => life.settled(name).map(({ id, outcome }) => `${id} ${outcome}`)

describe("what ends its process besides tools", () => {
  it("B3 a model call is never convicted: after thirty losses it is answered", () => {
    for (const point of ["before-model", "after-model"] as const) {
      const dying = dyingAt(point, 30)
      const { deaths, last } = lives(
        (kill) => ({ model: { text: "Fine." }, ...dying(kill) }),
        (first) => first.slip("A hard one.", { id: "m-1" })
      )
      assert.strictEqual(deaths, 30)
      assert.deepInclude(last.ends()[0], { envelope: "m-1", outcome: "answered", reply: "Fine." })
    }
  })

  it("B1 a message that only waited is not given up: after thirty claims that were lost at once it is handled", () => {
    const dying = dyingAt("after-claim", 30)
    const { last } = lives(
      (kill) => ({ model: { text: "Fine." }, ...dying(kill) }),
      (first) => first.slip("A plain one.", { id: "m-1" })
    )
    assert.deepStrictEqual(settledOf(last), ["m-1 handled"])
  })

  it("B5 a message that ends the process while it is taken up is dead-lettered by the third loss under suspicion", () => {
    const dying = dyingAt("before-commit", 5)
    const { deaths, last } = lives(
      (kill) => ({ model: { text: "Fine." }, ...dying(kill) }),
      (first) => {
        first.slip("A deadly one.", { id: "m-1" })
        first.slip("A plain one.", { id: "m-2" })
      }
    )
    assert.strictEqual(deaths, 5)
    assert.deepStrictEqual(settledOf(last), ["m-1 dead", "m-2 handled"])
    assert.strictEqual(
      last.deadLetters()[0]?.reason,
      "the process ended 5 times while this was taken up; it is not tried again"
    )
  })

  it("B5 one loss less, and it is handled", () => {
    const dying = dyingAt("before-commit", 4)
    const { last } = lives(
      (kill) => ({ model: { text: "Fine." }, ...dying(kill) }),
      (first) => first.slip("A hard one.", { id: "m-1" })
    )
    assert.deepStrictEqual(settledOf(last), ["m-1 handled"])
  })

  it("B5 a reply that ends the process while it is taken in halts the assistant; resumed, it asks again and answers", () => {
    let left = 5
    const { last } = lives(
      (kill) => ({
        model: { text: "Fine." },
        store: (store) => ({
          ...store,
          ledger: {
            ...store.ledger,
            commit: (claim, commit) =>
              commit.entry.cause.kind === "job" && commit.entry.status !== "halted" && left-- > 0
                ? kill
                : store.ledger.commit(claim, commit)
          }
        })
      }),
      (first) => first.slip("A hard one.", { id: "m-1" })
    )
    assert.strictEqual(last.status(), "halted")
    assert.match(JSON.stringify(last.snapshot()), /while the result of infer was taken in/)
    assert.deepStrictEqual(last.deadLetters(), [])
    last.post({ type: "resume" })
    last.rest()
    assert.deepInclude(last.ends()[0], { envelope: "m-1", outcome: "answered", reply: "Fine." })
  })

  it("B4 a step of a compaction that ends the process fails in the end, and the order is over", () => {
    const { script } = folder()
    let left = 30
    const { deaths, last } = lives(
      (kill) => ({
        model: (prompt, asked) =>
          prompt.messages.some(({ content }) => taskOf(content) === "summarize") && left-- > 0
            ? kill
            : script(prompt, asked),
        settings: { compactEnabled: true },
        definition: small
      }),
      (first) => {
        talk(first, 22)
        first.post({ type: "compact" })
      }
    )
    assert.strictEqual(deaths, 6)
    assert.deepStrictEqual([last.status(), last.deadLetters()], ["awake.idle", []])
    assert.isTrue(last.logged.some((line) => line.includes("the process ended 6 times while the step compact ran")))
  })

  it("B5 what breaks its host without ending the process is given up too, and others work meanwhile", () => {
    let breaks = 0
    const life = live({
      assistants: ["ada", "bo"],
      model: { text: "Fine." },
      faults: {
        at: (point, { assistant }) =>
          point === "before-commit" && assistant === "ada" && breaks++ < 5
            ? Effect.die(new Error("a bug"))
            : Effect.void
      }
    })
    life.slip("A poisonous one.", { to: "ada", id: "m-1" })
    life.slip("A plain one.", { to: "ada", id: "m-2" })
    life.slip("Another plain one.", { to: "bo", id: "m-3" })
    life.pass(2_000)
    assert.strictEqual(life.ends("bo").length, 1)
    life.rest()
    assert.deepStrictEqual(settledOf(life), ["m-1 dead", "m-2 handled"])
    assert.strictEqual(life.failures.length, 5)
    assert.match(String(life.failures[0]?.[1]), /the work on harbor\/ada broke: a bug/)
  })
})

describe("a burst of kills from outside", () => {
  it.each([400, 3_000, 9_000])("B1 B3 B6 of thirty, one each %s ms, costs no one's message", (everyMillis) => {
    const { deaths, last } = lives(
      () => ({ assistants: NEIGHBOURS, model: () => Effect.delay(Effect.succeed({ text: "Aye." }), 20_000) }),
      (first) => {
        for (const to of NEIGHBOURS) {
          first.slip("Hello?", { to, id: `m-${to}` })
          first.slip("And then?", { to, id: `n-${to}` })
        }
      },
      { killAfterMillis: (index) => (index < 30 ? everyMillis : undefined) }
    )
    assert.strictEqual(deaths, 30)
    assert.deepStrictEqual(last.deadLetters(), [])
    for (const name of NEIGHBOURS) {
      assert.deepStrictEqual(
        last.ends(name).map(({ outcome }) => outcome),
        ["answered", "answered"]
      )
    }
  })
})
