import { describe, it } from "@effect/vitest"
import { assert } from "vitest"
import { creation, chartOf, restingStates, statusOf } from "../src/index.ts"
import { descriptors, nodes } from "./chart.ts"
import { assistantMachine } from "../src/machine.ts"
import { passingStates } from "../src/chart/ignored.ts"

const chart = chartOf()
const ids = new Set(chart.nodes.map(({ id }) => id))
const paths = new Set(chart.nodes.map(({ path }) => path))

describe("the chart as data", () => {
  it("C1 every state is a node, and its parent and beginning are nodes", () => {
    assert.strictEqual(chart.nodes.length, nodes.length)
    assert.strictEqual(ids.size, nodes.length)
    for (const { initial, kind, parent, path } of chart.nodes) {
      if (parent === null) assert.strictEqual(path, "")
      else assert.isTrue(ids.has(parent), `${path} stands in ${parent}`)
      assert.strictEqual(initial !== undefined, kind === "compound", path)
      if (initial !== undefined) assert.isTrue(ids.has(initial), `${path} begins in ${initial}`)
    }
    const leaves = chart.nodes.filter(({ kind }) => kind !== "compound").map(({ path }) => path)
    assert.sameMembers(leaves, [...restingStates, ...passingStates])
  })

  it("C1 every transition is an edge with both ends", () => {
    const transitions = nodes.flatMap((node) => [...[...node.transitions.values()].flat(), ...(node.always ?? [])])
    assert.isAbove(transitions.length, 50)
    assert.strictEqual(chart.edges.length, transitions.length)
    assert.strictEqual(new Set(chart.edges.map(({ id }) => id)).size, chart.edges.length)
    for (const { from, id, isInternal, to } of chart.edges) {
      assert.isTrue(ids.has(from) && ids.has(to), `${id}: ${from} to ${to}`)
      if (isInternal) assert.strictEqual(to, from)
    }
    const events = new Set(chart.edges.map(({ event }) => event))
    assert.sameMembers(
      [...events].filter((event) => event !== ""),
      [...descriptors]
    )
  })

  it("C1 what is done and asked is named", () => {
    const inferring = chart.nodes.find(({ path }) => path === "awake.thinking.inferring")
    assert.deepStrictEqual([inferring?.invokes, inferring?.exit], [["infer"], ["settleBudget"]])
    const parked = chart.edges.find(({ delayed }) => delayed === "park")
    assert.deepInclude(parked, { kind: "after", from: "assistant.awake.thinking.parked" })
    const mail = chart.edges.find(({ event, from }) => event === "message" && from === "assistant.awake.idle")
    assert.deepInclude(mail, { kind: "event", to: "assistant.awake.assessing", isInternal: false })
    assert.isTrue(chart.edges.some(({ event, guard }) => event === "" && guard === "isWindowNearlyFull"))
  })

  it("C3 every guard and every action has a name of the vocabulary, and none is called after its kind", () => {
    const { actions, guards } = assistantMachine.implementations
    const guarded = chart.edges.flatMap(({ guard }) => (guard === undefined ? [] : [guard]))
    const done = [...chart.edges, ...chart.nodes.map(({ entry, exit }) => ({ actions: [...entry, ...exit] }))].flatMap(
      (each) => each.actions
    )
    assert.deepStrictEqual(
      guarded.filter((name) => !Object.hasOwn(guards, name)),
      []
    )
    assert.deepStrictEqual(
      done.filter((name) => !Object.hasOwn(actions, name)),
      []
    )
    for (const name of ["guard", "remember", "assign", "enqueueActions", "(anonymous)"]) {
      assert.notInclude([...guarded, ...done], name)
    }
    assert.isAbove(guarded.length, 50)
    assert.isAbove(done.length, 100)
  })

  it("C2 it is JSON, the same each time, with the hash of its content", () => {
    assert.deepStrictEqual(JSON.parse(JSON.stringify(chart)), chart)
    assert.strictEqual(chartOf(), chart)
    assert.match(chart.hash, /^[0-9a-f]{64}$/)
  })

  it("C4 statuses are paths of nodes", () => {
    assert.isTrue(paths.has(statusOf(creation({}).next)))
    for (const status of [...restingStates, ...passingStates]) assert.isTrue(paths.has(status), status)
  })
})
