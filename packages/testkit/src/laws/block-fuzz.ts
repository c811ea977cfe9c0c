// BlockFuzz: many who do anything to any block, and what each of them is shown.
// Owns the moves and the table of who may see what, kept beside the store. Leaves what is proved with it to the law.
// Z1  The same moves in every run: a die of its own, thrown from the same seed.

import * as assert from "node:assert/strict"
import { type BlockRequest, BlockStore } from "@reverie/memory"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { append, harbor, request, tower } from "./block-steps.ts"

const STEPS = 240
const tenants = [harbor, tower] as const
const people = ["ada", "bob", "cora"] as const

type Roll = <A>(faces: ReadonlyArray<A>) => A

const dice = (seed: number): Roll => {
  let state = seed
  return (faces) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const face = faces[(state >>> 8) % faces.length]
    if (face === undefined) throw new Error("a die without faces")
    return face
  }
}

interface Right {
  readonly tenant: string
  readonly owner: string
  readonly given: Set<string>
}

/** One move of one who may or may not see the block that it is about. */
interface Move {
  readonly roll: Roll
  readonly asked: BlockRequest
  readonly id: string
  readonly right: Right | undefined
  readonly may: boolean
  readonly rights: Map<string, Right>
  readonly step: number
}

const isFor = ({ by, tenant }: BlockRequest, right: Right | undefined): boolean =>
  right?.tenant === tenant && (right.owner === by || right.given.has(by))

const mark = ({ by, tenant }: BlockRequest): string => `<${tenant}/${by}>`

const make = ({ asked, rights, step }: Move) =>
  Effect.gen(function* () {
    const draft = { owner: asked.by, label: `l${step}`, type: "working" as const, permission: "Admin" as const }
    const { block } = yield* (yield* BlockStore).create({ ...draft, content: mark(asked) }, asked)
    rights.set(block, { tenant: asked.tenant, owner: asked.by, given: new Set() })
  })

const give = ({ asked, id, right, roll }: Move) =>
  Effect.gen(function* () {
    const to = roll(people)
    const isShare = roll([true, false])
    const setting = isShare
      ? { set: "share" as const, with: to, permission: "Admin" as const }
      : { set: "unshare" as const, with: to }
    const done = yield* Effect.result((yield* BlockStore).configure(id, asked, setting))
    if (Result.isFailure(done)) return
    assert.ok(right?.owner === asked.by && right.tenant === asked.tenant, "another one than the owner gave it")
    if (isShare) right.given.add(to)
    else right.given.delete(to)
  })

const change = ({ asked, id, may }: Move) =>
  Effect.gen(function* () {
    const done = yield* Effect.result((yield* BlockStore).change(id, asked, append(mark(asked))))
    assert.equal(Result.isSuccess(done), may)
  })

const undo = ({ asked, id, may }: Move) =>
  Effect.gen(function* () {
    const done = yield* Effect.result((yield* BlockStore).undo(id, asked))
    if (Result.isSuccess(done)) assert.ok(may, "a stranger undid a change")
  })

const read = ({ asked, id, may, right }: Move) =>
  Effect.gen(function* () {
    const told = yield* Effect.result((yield* BlockStore).read(asked, id))
    assert.equal(Result.isSuccess(told), may)
    if (Result.isSuccess(told)) assert.ok(told.success.text.startsWith(`<${right?.tenant}/${right?.owner}>`))
  })

const list = ({ asked, rights }: Move) =>
  Effect.gen(function* () {
    const shown = yield* (yield* BlockStore).list(asked)
    const mine = [...rights].filter(([, right]) => isFor(asked, right)).map(([id]) => id)
    assert.deepEqual(shown.map(({ id }) => id).toSorted(), mine.toSorted())
    const others = tenants.filter((tenant) => tenant !== asked.tenant)
    for (const { text } of shown) assert.ok(!others.some((tenant) => text.includes(`<${tenant}/`)))
  })

const remove = ({ asked, id, may, rights, roll }: Move) =>
  Effect.gen(function* () {
    // Seldom, or there is soon nothing left.
    if (roll([true, true, false])) return
    const done = yield* Effect.result((yield* BlockStore).delete(id, asked))
    assert.equal(Result.isSuccess(done), may)
    if (may) rights.delete(id)
  })

/** Asserts at every step that each is shown what is his to see, and nothing else. */
export const whoSeesWhat = Effect.suspend(() => {
  const roll = dice(20_260_111)
  const rights = new Map<string, Right>()
  const moves = [make, give, give, change, undo, read, list, remove]
  return Effect.gen(function* () {
    for (let step = 0; step < STEPS; step++) {
      const asked = yield* request({ tenant: roll(tenants), by: roll(people) })
      const id = roll([...rights.keys(), "blk_none"])
      const right = rights.get(id)
      yield* roll(moves)({ roll, asked, id, right, may: isFor(asked, right), rights, step })
    }
    assert.ok(rights.size > 5, "hardly anything was there to be seen")
  })
})
