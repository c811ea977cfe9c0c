// Sentence: the line of a notice.

import { assert, describe, test } from "vitest"
import type { Notice } from "@reverie/protocol"
import { type Sentence, Sentences } from "../src/index.ts"

type Step = Extract<Notice, { readonly type: "step-finished" }>

const told = (step: Partial<Step>): Sentence | undefined =>
  new Sentences().of({ type: "step-finished", step: "dream consolidating", ok: true, ...step } as Step)

const berths = (count: number) => Array.from({ length: count }, (_, at) => `Berth ${at} is free.`)

describe("the line of a dream", () => {
  test("says what it learns, the first two and how many more", () => {
    assert.deepInclude(told({ learnt: berths(1) }), { lead: "learns a fact:", text: "Berth 0 is free." })
    assert.deepInclude(told({ learnt: berths(8), learntCount: 12 }), {
      lead: "learns 12 facts:",
      text: "Berth 0 is free.; Berth 1 is free.; and 10 more"
    })
  })

  test("says of what waits for a person that it waits, and does not call it learnt", () => {
    assert.deepInclude(told({ waiting: berths(1) }), {
      tone: "note",
      lead: "has a fact that waits for a person:",
      text: "Berth 0 is free."
    })
    assert.deepInclude(told({ waiting: berths(8), waitingCount: 12 }), {
      lead: "has 12 facts that wait for a person:",
      text: "Berth 0 is free.; Berth 1 is free.; and 10 more"
    })
    assert.deepInclude(told({ learnt: berths(1), waiting: berths(8), waitingCount: 12 }), {
      lead: "learns a fact, and 12 wait for a person:",
      text: "Berth 0 is free."
    })
  })

  test("says of what is held back that it is, and does not call it learnt", () => {
    const [lead, text] = ["holds back a fact:", "Berth 0 is free."]
    assert.deepInclude(told({ heldBack: berths(1) }), { tone: "note", lead, text })
    assert.deepInclude(told({ heldBack: berths(8), heldBackCount: 12 }), { lead: "holds back 12 facts:" })
    const leads = [
      told({ learnt: berths(1), heldBack: berths(2) }),
      told({ heldBack: berths(2), waiting: berths(1) }),
      told({ learnt: berths(3), heldBack: berths(1), waiting: berths(2) })
    ].map((sentence) => sentence?.lead)
    assert.deepStrictEqual(leads, [
      "learns a fact, and holds back 2:",
      "holds back 2 facts, and 1 waits for a person:",
      "learns 3 facts, holds back 1, and 2 wait for a person:"
    ])
  })
})
