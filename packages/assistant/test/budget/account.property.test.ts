import { assert, describe, it } from "@effect/vitest"
import type { Amount } from "@reverie/protocol"
import * as fc from "fast-check"
import { type Bound, flawsOf, remaining, used, windowOf } from "../../src/index.ts"
import { PATIENT, RUNS } from "../arbitraries.ts"
import {
  type Account,
  callRoom,
  dimensions,
  grant,
  grantable,
  openAccount,
  regranted,
  reserve,
  settle,
  settleGrant
} from "../../src/budget/account.ts"

/** The operations as one thing, so that wrong ones can stand in their place. */
const right = { reserve, settle, grant, grantable, settleGrant }
type Operations = typeof right

const aBound: fc.Arbitrary<Bound> = fc.record({
  tokens: fc.option(fc.nat(10_000), { freq: 4 }),
  costMicros: fc.option(fc.nat(500)),
  calls: fc.option(fc.nat(12), { freq: 4 })
})

/** What may be said of an amount; nonsense among it, for it comes from outside. */
const hostile = fc.oneof(
  { weight: 6, arbitrary: fc.nat(12_000) },
  { weight: 1, arbitrary: fc.constantFrom(-5, 0.5, NaN, Infinity, -Infinity) }
)
const anAmount: fc.Arbitrary<Amount> = fc.record({ tokens: hostile, costMicros: hostile, calls: hostile })

const aMove = fc.record({
  node: fc.nat(40),
  verb: fc.constantFrom("reserve", "settle", "grant", "report", "crash", "lose", "repeat"),
  amount: anAmount,
  bound: aBound,
  isKnown: fc.boolean()
})
type Move = typeof aMove extends fc.Arbitrary<infer T> ? T : never

interface Node {
  account: Account
  readonly parent: Node | undefined
  readonly key: string
  readonly depth: number
  /** It has said what it spent, or no one waits for that any more. */
  isOver: boolean
  children: number
}

/** A tree of accounts in which everything happens in any order, as its nodes commit one by one. */
class Tree {
  readonly nodes: Array<Node>
  /** Reports that were sent, which may arrive late, twice, or in another order. */
  readonly sent: Array<{ readonly to: Node; readonly key: string; readonly spent: Amount }> = []
  granted = 0
  private readonly does: Operations

  constructor(root: Bound, does: Operations) {
    this.does = does
    this.nodes = [{ account: openAccount(root), parent: undefined, key: "", depth: 0, isOver: false, children: 0 }]
  }

  move({ amount, bound, isKnown, node: pick, verb }: Move): void {
    const node = this.nodes[pick % this.nodes.length]
    if (node === undefined) return
    switch (verb) {
      case "reserve":
        if (!node.isOver) node.account = this.does.reserve(node.account, amount) ?? node.account
        return
      case "settle":
        if (!node.isOver) node.account = this.does.settle(node.account, isKnown ? amount : undefined)
        return
      case "grant":
        return this.grant(node, bound)
      case "report":
        if (node.parent === undefined || node.isOver) return
        node.isOver = true
        this.sent.push({ to: node.parent, key: node.key, spent: used(node.account) })
        return
      case "lose":
        // The parent waits no longer; the child may still report.
        if (node.parent !== undefined) node.parent.account = this.does.settleGrant(node.parent.account, node.key)
        return
      case "crash":
        // What was committed is all there is: a call that was under way counts whole.
        node.account = JSON.parse(JSON.stringify(this.does.settle(node.account))) as Account
        return
      case "repeat": {
        const report = this.sent[pick % Math.max(1, this.sent.length)]
        if (report !== undefined) {
          // Not everything that is reported is true.
          const { calls, costMicros, tokens } = report.spent
          const said = isKnown ? report.spent : { tokens: 99 * tokens, costMicros: 99 * costMicros, calls: 99 * calls }
          report.to.account = this.does.settleGrant(report.to.account, report.key, said)
        }
      }
    }
  }

  private grant(node: Node, bound: Bound): void {
    if (node.isOver || node.depth > 3) return
    const key = `${node.children++}`
    const most = this.does.grantable(node.account, bound)
    const account = this.does.grant(node.account, key, most)
    if (account === undefined) return
    node.account = account
    this.granted++
    this.nodes.push({
      account: openAccount(most),
      parent: node,
      key,
      depth: node.depth + 1,
      isOver: false,
      children: 0
    })
  }

  flaws(): ReadonlyArray<string> {
    return this.nodes.flatMap((node) => {
      const { account, key, parent } = node
      const promise = parent?.account.out[key]
      const own = flawsOf(account)
      // The promise of the parent is what the child has, as long as it stands.
      const isKept = promise === undefined || JSON.stringify(promise) === JSON.stringify(account.granted)
      return isKept ? own : [...own, `${key} was promised something else than it has`]
    })
  }

  /** What all nodes have spent of their own may not be more than the root was granted. */
  total(): Amount {
    const sum = { tokens: 0, costMicros: 0, calls: 0 }
    for (const { account } of this.nodes) for (const dimension of dimensions) sum[dimension] += account.spent[dimension]
    return sum
  }
}

const aStory = fc.record({ root: aBound, moves: fc.array(aMove, { maxLength: 120, size: "max" }) })

/** The first flaw of a story, or undefined. */
const flawIn = ({ moves, root }: { readonly root: Bound; readonly moves: ReadonlyArray<Move> }, does: Operations) => {
  const tree = new Tree(root, does)
  for (const move of moves) {
    const before = tree.nodes.map(({ account }) => account)
    tree.move(move)
    const [flaw] = tree.flaws()
    if (flaw !== undefined) return flaw
    // What is gone does not come back.
    const isBack = before.some((account, index) =>
      dimensions.some((dimension) => (tree.nodes[index]?.account.spent[dimension] ?? 0) < account.spent[dimension])
    )
    if (isBack) return "something spent came back"
  }
  return undefined
}

/** What a child used and did not say may never be spent a second time by its parent. */
const doubleSpent = (story: { readonly root: Bound; readonly moves: ReadonlyArray<Move> }, does: Operations) => {
  const tree = new Tree(story.root, does)
  for (const move of story.moves) tree.move(move)
  return tree.nodes.flatMap(({ key, parent }) => {
    if (parent === undefined || Object.hasOwn(parent.account.out, key)) return []
    const below = tree.nodes.filter((node) => node.parent === parent && !Object.hasOwn(parent.account.out, node.key))
    return dimensions.flatMap((dimension) => {
      if (below.some((child) => child.account.granted[dimension] === null)) return []
      const reported = below.reduce((sum, child) => {
        const said = tree.sent.find((report) => report.to === parent && report.key === child.key)
        return sum + (said === undefined ? (child.account.granted[dimension] ?? 0) : said.spent[dimension])
      }, 0)
      const counted = parent.account.spent[dimension]
      return counted < reported ? [`${counted} ${dimension} are counted where ${reported} were spent`] : []
    })
  })
}

describe("account", PATIENT, () => {
  it("A35 B1-B4 B6 any tree, any interleaving, any crash: used ≤ granted at every node, and nothing comes back", () => {
    let granted = 0
    fc.assert(
      fc.property(aStory, (story) => {
        const tree = new Tree(story.root, right)
        for (const move of story.moves) tree.move(move)
        granted += tree.granted
        assert.isUndefined(flawIn(story, right))
      }),
      { ...RUNS, numRuns: 1_000 }
    )
    assert.isAbove(granted, 2_000)
  })

  it("B5 what was never said counts whole: a parent has counted at least what its ended children used", () => {
    fc.assert(
      fc.property(aStory, (story) => assert.deepStrictEqual(doubleSpent(story, right), [])),
      { ...RUNS, numRuns: 500 }
    )
  })

  const wrong: { readonly [name: string]: Partial<Operations> } = {
    "grants what is left without looking at other grants": {
      grantable: (account, request) => grantable({ ...account, out: {} }, request),
      grant: (account, key, bound) => ({ ...account, out: { ...account.out, [key]: bound } })
    },
    "releases twice": {
      settleGrant: (account, key, took) => {
        const bound = account.out[key]
        if (bound !== undefined) return settleGrant(account, key, took)
        const { spent } = account
        return { ...account, spent: { ...spent, tokens: spent.tokens - (took?.tokens ?? 0) } }
      }
    },
    "checks and then acts": {
      reserve: (account, amount) => ({
        ...account,
        reserved: settle({ ...openAccount(account.granted) }, amount).spent
      })
    },
    "believes whatever is reported": {
      settleGrant: (account, key, took) => {
        const next = settleGrant(account, key, took)
        return took === undefined || next === account
          ? next
          : { ...next, spent: { ...next.spent, calls: account.spent.calls + took.calls } }
      }
    },
    "an unbounded child of a bounded parent": {
      grantable: (_, request) => request,
      grant: (account, key, bound) => ({ ...account, out: { ...account.out, [key]: bound } })
    },
    "charges more than was reserved, whatever is left": {
      settle: (account, took) => ({
        ...settle(account, took),
        ...(took === undefined ? {} : { spent: { ...account.spent, calls: account.spent.calls + took.calls } })
      })
    }
  }

  it.each(Object.keys(wrong))("a wrong account is found: %s", (name) => {
    const does = { ...right, ...wrong[name] }
    const { failed } = fc.check(
      fc.property(aStory, (story) => flawIn(story, does) === undefined),
      { ...RUNS, numRuns: 1_000 }
    )
    assert.isTrue(failed)
  })

  it("a wrong account is found: what a crash cut off costs nothing", () => {
    const does = {
      ...right,
      settleGrant: (account: Account, key: string, took?: Amount) =>
        settleGrant(account, key, took ?? { tokens: 0, costMicros: 0, calls: 0 })
    }
    const { failed } = fc.check(
      fc.property(aStory, (story) => doubleSpent(story, does).length === 0),
      { ...RUNS, numRuns: 1_000 }
    )
    assert.isTrue(failed)
  })

  it("B1 another bound never falls below what is used, and is none while a child has none", () => {
    fc.assert(
      fc.property(aStory, aBound, ({ moves, root }, bound) => {
        const tree = new Tree(root, right)
        for (const move of moves) tree.move(move)
        const first = tree.nodes[0]
        if (first !== undefined) assert.deepStrictEqual(flawsOf(regranted(first.account, bound)), [])
      }),
      RUNS
    )
  })
})

describe("model call", () => {
  it("C1-C3 what is reserved fits into what is left, and never more than the window of the grant", () => {
    let refused = 0
    let room = 0
    fc.assert(
      fc.property(
        aStory,
        fc.record({ inputPriceMicros: fc.nat(5_000_000), outputPriceMicros: fc.nat(20_000_000) }),
        ({ moves, root }, prices) => {
          const tree = new Tree({ ...root, tokens: (root.tokens ?? 0) * 10, calls: null }, right)
          for (const move of moves) tree.move(move)
          for (const { account } of tree.nodes) {
            const free = { ...account, reserved: { tokens: 0, costMicros: 0, calls: 0 } }
            const found = callRoom(free, prices)
            if ("short" in found) {
              refused++
              continue
            }
            room++
            assert.isDefined(reserve(free, found.amount))
            assert.isAtMost(found.amount.tokens, windowOf(account, prices))
            assert.isAtMost(found.amount.tokens, remaining(free).tokens ?? Infinity)
          }
        }
      ),
      RUNS
    )
    assert.isAbove(Math.min(refused, room), 10)
  })
})
