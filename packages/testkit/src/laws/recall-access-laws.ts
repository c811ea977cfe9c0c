// Recall laws of access: who finds what (I1), and that nothing is left of who was erased (I5).

import * as assert from "node:assert/strict"
import { mayRead, type MemoryEntry, type Recall, recallScopes, type SearchKind } from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { Law } from "../law.ts"
import { type Fate, fateOf } from "../world/fate.ts"
import {
  ada,
  addressOf,
  aMemory,
  apply,
  ask,
  attaching,
  bob,
  count,
  erase,
  eve,
  found,
  inScope,
  missing,
  namesOf,
  north,
  otherAda,
  position,
  prepare,
  putting,
  putVector,
  remember
} from "./recall-steps.ts"

const searches: ReadonlyArray<SearchKind> = ["fts", "vector", "hybrid"]

const tide = (key: string, readers: MemoryEntry["readers"] = "owner") => aMemory(key, "the tide is high", { readers })

const readers: ReadonlyArray<Law<Recall>> = [
  {
    id: "I1.own",
    says: "what no one else may read is found by its owner only, in every scope",
    check: Effect.gen(function* () {
      yield* remember(ada, tide("a"))
      yield* remember(bob, tide("b"))
      for (const scope of recallScopes) {
        assert.deepEqual(yield* inScope(ada, "tide", scope), ["ada p/a"])
        assert.deepEqual(yield* inScope(eve, "tide", scope), [])
      }
    })
  },
  {
    id: "I1.tenant",
    says: "nothing is found across tenants, neither by a namesake nor what is for the fleet or names the viewer",
    check: Effect.gen(function* () {
      yield* remember(otherAda, tide("own"), tide("fleet", "fleet"), tide("named", [ada.assistant, bob.assistant]))
      for (const scope of recallScopes) {
        assert.deepEqual(yield* inScope(ada, "tide", scope), [])
        assert.deepEqual(yield* inScope(bob, "tide", scope), [])
      }
      assert.equal(yield* count(ada), 0)
      assert.equal((yield* inScope(otherAda, "tide", "own")).length, 3)
    })
  },
  {
    id: "I1.named",
    says: "what names readers is found by them from the scope `shared` on, and by no one who is not named",
    check: Effect.gen(function* () {
      yield* remember(ada, tide("named", [bob.assistant]), tide("own"))
      assert.deepEqual(yield* inScope(bob, "tide", "own"), [])
      assert.deepEqual(yield* inScope(bob, "tide", "shared"), ["ada p/named"])
      assert.deepEqual(yield* inScope(bob, "tide", "fleet"), ["ada p/named"])
      assert.deepEqual(yield* inScope(eve, "tide", "fleet"), [])
      assert.deepEqual(yield* inScope(ada, "tide", "own"), ["ada p/named", "ada p/own"])
    })
  },
  {
    id: "I1.fleet",
    says: "what is for the fleet is found by every assistant of the tenant, in the scope `fleet` only",
    check: Effect.gen(function* () {
      yield* remember(ada, tide("fleet", "fleet"))
      yield* remember(bob, tide("own"))
      assert.deepEqual(yield* inScope(bob, "tide", "own"), ["bob p/own"])
      assert.deepEqual(yield* inScope(bob, "tide", "shared"), ["bob p/own"])
      assert.deepEqual(yield* inScope(bob, "tide", "fleet"), ["ada p/fleet", "bob p/own"])
      assert.deepEqual(yield* inScope(ada, "tide", "fleet"), ["ada p/fleet"])
    })
  },
  {
    id: "I1.changed",
    says: "who may no longer read an entry no longer finds it, and who newly may does, though its text is the same",
    check: Effect.gen(function* () {
      yield* remember(ada, tide("a", [bob.assistant]))
      yield* apply(ada, [putting(tide("a", [eve.assistant]))], 2)
      assert.deepEqual(yield* inScope(bob, "tide", "fleet"), [])
      assert.deepEqual(yield* inScope(eve, "tide", "fleet"), ["ada p/a"])
      yield* apply(ada, [putting(tide("a", "fleet"))], 3)
      assert.deepEqual(yield* inScope(bob, "tide", "fleet"), ["ada p/a"])
      yield* apply(ada, [putting(tide("a"))], 4)
      assert.deepEqual(yield* inScope(bob, "tide", "fleet"), [])
    })
  },
  {
    id: "I1.facts",
    says: "a fact finds its entry for those only who may read the entry",
    check: Effect.gen(function* () {
      yield* apply(ada, [putting(tide("own")), attaching(tide("own"), "f1", "Kim owns a red lantern")])
      yield* apply(bob, [attaching(tide("own"), "f2", "Lee owns a red lantern")])
      assert.deepEqual(yield* inScope(ada, "lantern", "fleet"), ["ada p/own"])
      assert.deepEqual(yield* inScope(bob, "lantern", "fleet"), [])
    })
  },
  {
    id: "I1.vectors",
    says: "the nearest vector is not found by who may not read its entry",
    check: Effect.gen(function* () {
      yield* prepare(north)
      for (const owner of [ada, bob, otherAda]) {
        yield* remember(owner, tide("own"), tide("named", [ada.assistant]), tide("fleet", "fleet"))
        for (const key of ["own", "named", "fleet"]) yield* putVector(north, owner, tide(key), [1, 0, 0])
      }
      const expected = {
        own: ["bob p/fleet", "bob p/named", "bob p/own"],
        shared: ["bob p/fleet", "bob p/named", "bob p/own"],
        fleet: ["ada p/fleet", "bob p/fleet", "bob p/named", "bob p/own"]
      }
      for (const scope of recallScopes) {
        for (const search of searches) {
          const hits = yield* ask(bob, "tide", { scope, search, vector: [1, 0, 0] })
          assert.deepEqual(namesOf(hits).toSorted(), expected[scope], `${search} in ${scope}`)
        }
      }
    })
  }
]

/** Names that a careless key, a stemmer or a compacted index takes for one another. */
const nastyTenants = ["a", "a_1", "a_1_2", "A", "a.1", "runner", "runners", "k1", "0", "00"]
const nastyAssistants = ["run", "runs", "running", "Run", "agent_1", "agent_1_2", "agent-1", "agent", "k1", "1", "01"]

interface Kept {
  readonly owner: Address
  readonly entry: MemoryEntry
}

const aCrowd = (fate: Fate): ReadonlyArray<Kept> => {
  const everyone = Array.from({ length: 8 }, () => addressOf(fate.pick(nastyTenants), fate.pick(nastyAssistants)))
  return Array.from({ length: 60 }, (_, index) => {
    const owner = fate.pick(everyone)
    const named = [fate.pick(everyone).assistant, fate.pick(everyone).assistant]
    const entry = aMemory(String(index), `the tide of ${fate.pick(nastyAssistants)} and ${owner.tenant}`, {
      readers: fate.pick<MemoryEntry["readers"]>(["owner", "owner", "fleet", named])
    })
    return { owner, entry }
  })
}

/** Asserts, for a crowd drawn from a seed and told to an empty index, that everybody finds exactly what he may read, in every scope. */
export const everybodyFindsHisOwn = (seed: number) =>
  Effect.gen(function* () {
    const fate = fateOf(seed)
    const crowd = aCrowd(fate)
    for (const { entry, owner } of crowd) yield* remember(owner, entry)
    const everyone = nastyTenants.flatMap((tenant) => nastyAssistants.map((name) => addressOf(tenant, name)))
    const viewers = [...crowd.map(({ owner }) => owner), ...Array.from({ length: 6 }, () => fate.pick(everyone))]
    for (const viewer of viewers) {
      const scope = fate.pick(recallScopes)
      const text = `tide ${viewer.assistant} ${viewer.tenant}`
      const hits = yield* ask(viewer, text, { scope, limit: 100 })
      const readable = crowd.filter(({ entry, owner }) => mayRead(viewer, owner, entry, scope))
      assert.deepEqual(
        namesOf(hits).toSorted(),
        readable.map(({ entry, owner }) => `${owner.assistant} ${entry.id}`).toSorted(),
        `${viewer.tenant}/${viewer.assistant} in ${scope}, seed ${seed}`
      )
    }
  })

const crowds: ReadonlyArray<Law<Recall>> = [
  {
    id: "I1.names",
    says: "names that begin alike, are stemmed alike or differ in case, point or underline only are different names",
    check: Effect.gen(function* () {
      for (const tenant of ["a", "A", "a_1", "runner"]) {
        for (const name of nastyAssistants) yield* remember(addressOf(tenant, name), tide(`${tenant}-${name}`))
      }
      for (const tenant of ["a", "A", "a_1", "runner"]) {
        for (const name of nastyAssistants) {
          const viewer = addressOf(tenant, name)
          assert.deepEqual(yield* inScope(viewer, `tide ${name} ${tenant}`, "fleet"), [`${name} p/${tenant}-${name}`])
          assert.equal(yield* count(viewer), 1)
        }
      }
    })
  },
  {
    id: "I1.crowd",
    says: "in a random crowd with such names everybody finds exactly what he may read",
    check: everybodyFindsHisOwn(1)
  }
]

const erasure: ReadonlyArray<Law<Recall>> = [
  {
    id: "I5.gone",
    says: "of an erased assistant nothing is found, by no one, and nothing is counted; its position is 0",
    check: Effect.gen(function* () {
      yield* prepare(north)
      yield* apply(
        ada,
        [
          putting(tide("own")),
          putting(tide("fleet", "fleet")),
          putting(tide("named", [bob.assistant])),
          attaching(tide("fleet"), "f1", "Kim owns a red lantern")
        ],
        7
      )
      yield* putVector(north, ada, tide("fleet"), [1, 0, 0])
      yield* erase(ada)
      assert.deepEqual([yield* position(ada), yield* count(ada)], [0, 0])
      for (const viewer of [ada, bob]) {
        assert.deepEqual(yield* inScope(viewer, "tide lantern", "fleet"), [])
        assert.deepEqual(yield* found(viewer, "", { scope: "fleet", search: "vector", vector: [1, 0, 0] }), [])
      }
      assert.deepEqual(yield* missing(north), [])
    })
  },
  {
    id: "I5.others",
    says: "erasing one assistant leaves its namesake, its fleet and what they share with it",
    check: Effect.gen(function* () {
      yield* remember(ada, tide("own"))
      yield* apply(bob, [putting(tide("named", [ada.assistant]))], 5)
      yield* apply(otherAda, [putting(tide("own"))], 6)
      yield* erase(ada)
      assert.deepEqual([yield* position(bob), yield* position(otherAda)], [5, 6])
      assert.deepEqual(yield* inScope(otherAda, "tide", "fleet"), ["ada p/own"])
      assert.deepEqual(yield* inScope(ada, "tide", "fleet"), ["bob p/named"])
    })
  },
  {
    id: "I5.anew",
    says: "an erased assistant can be indexed anew from the beginning, and has no facts and vectors from before",
    check: Effect.gen(function* () {
      yield* prepare(north)
      yield* apply(ada, [putting(tide("a")), attaching(tide("a"), "f1", "Kim owns a red lantern")], 9)
      yield* putVector(north, ada, tide("a"), [1, 0, 0])
      yield* erase(ada)
      yield* apply(ada, [putting(tide("a"))], 2)
      assert.equal(yield* position(ada), 2)
      assert.deepEqual(yield* found(ada, "tide"), ["p/a"])
      assert.deepEqual(yield* found(ada, "lantern"), [])
      assert.deepEqual(yield* missing(north), ["harbor/ada p/a"])
    })
  }
]

export const recallAccessLaws: ReadonlyArray<Law<Recall>> = [...readers, ...crowds, ...erasure]
