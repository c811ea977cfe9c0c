import { type Chart, chart } from "reverie"
import { assert, describe, test } from "vitest"
import type { Machine } from "../../src/api/index.ts"
import { layoutOf, pictureFor } from "../../src/layout/layout.ts"
import { asker, openFleet } from "./rig.ts"

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const ROUNDING = 0.01

const overlap = (one: Box, other: Box): boolean =>
  one.x < other.x + other.width - ROUNDING &&
  other.x < one.x + one.width - ROUNDING &&
  one.y < other.y + other.height - ROUNDING &&
  other.y < one.y + one.height - ROUNDING

const isInside = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x - ROUNDING &&
  inner.y >= outer.y - ROUNDING &&
  inner.x + inner.width <= outer.x + outer.width + ROUNDING &&
  inner.y + inner.height <= outer.y + outer.height + ROUNDING

const pairs = <A>(all: ReadonlyArray<A>): ReadonlyArray<readonly [A, A]> =>
  all.flatMap((one, index) => all.slice(index + 1).map((other) => [one, other] as const))

/** What is wrong with a picture of a chart. */
const flawsOf = ({ edges, nodes }: Chart, picture: Machine): ReadonlyArray<string> => {
  const boxes = new Map(picture.nodes.map((node) => [node.id, node]))
  const whole = { x: 0, y: 0, width: picture.width, height: picture.height }
  const labels = picture.edges.flatMap(({ id, label }) => (label === undefined ? [] : [{ id, ...label }]))
  const left = edges.filter(({ isInternal }) => !isInternal)
  const ways = new Map(picture.edges.map((edge) => [edge.id, edge]))
  return [
    ...nodes.filter(({ id }) => !boxes.has(id)).map(({ id }) => `${id} has no place`),
    ...picture.nodes
      .filter((node) => !isInside(node, (node.parent === null ? undefined : boxes.get(node.parent)) ?? whole))
      .map(({ id }) => `${id} is not inside`),
    ...pairs(picture.nodes)
      .filter(([one, other]) => one.parent === other.parent && overlap(one, other))
      .map(([one, other]) => `${one.id} overlaps ${other.id}`),
    ...left.filter(({ id }) => (ways.get(id)?.points.length ?? 0) < 2).map(({ id }) => `${id} has no way`),
    ...left.filter(({ id }) => ways.get(id)?.label === undefined).map(({ id }) => `${id} has no label`),
    ...labels.filter((label) => !isInside(label, whole)).map(({ id }) => `the label of ${id} is outside`),
    ...pairs(labels)
      .filter(([one, other]) => overlap(one, other))
      .map(([one, other]) => `the labels of ${one.id} and ${other.id} overlap`)
  ]
}

describe("machine", () => {
  test("L1 L2 every state stands in its own, every transition has a way and a label, and nothing overlaps", async () => {
    const picture = await pictureFor(chart())
    assert.isAbove(picture.nodes.length, 20)
    assert.isAbove(picture.edges.length, 50)
    assert.deepStrictEqual(flawsOf(chart(), picture), [])
    assert.strictEqual(new Set(picture.edges.map(({ id }) => id)).size, picture.edges.length)
    for (const { label } of picture.edges) assert.isAtLeast(label?.width ?? 0, (label?.text.length ?? 0) * 6)
    const internal = chart().edges.filter(({ isInternal }) => isInternal)
    assert.isNotEmpty(internal)
    for (const { from } of internal) {
      assert.isNotEmpty(picture.nodes.find(({ id }) => id === from)?.inside)
    }
  })

  test("O1 O2 O3 an overview has its regions closed, and every way between them once under each name", async () => {
    const [picture, whole] = await Promise.all([pictureFor(chart(), "overview"), pictureFor(chart())])
    const edges = picture.edges.map((edge) => ({ ...edge, isInternal: false }))
    assert.deepStrictEqual(flawsOf({ ...chart(), nodes: picture.nodes, edges } as never, picture), [])
    const closed = picture.nodes.filter(({ kind }) => kind === "closed")
    assert.sameMembers(
      closed.map(({ path }) => path),
      ["awake.assessing", "awake.thinking", "awake.acting", "dreaming", "compacting"]
    )
    for (const { inside, path } of closed) {
      const held = whole.nodes.filter((node) => node.path.startsWith(`${path}.`)).length
      assert.deepStrictEqual(inside, [held === 1 ? "1 state" : `${held} states`])
    }
    const ids = new Set(picture.nodes.map(({ id }) => id))
    assert.isTrue(picture.edges.every(({ from, to }) => from !== to && ids.has(from) && ids.has(to)))
    const names = picture.edges.map(({ from, label, to }) => `${from} ${to} ${label?.text}`)
    assert.strictEqual(new Set(names).size, names.length)
    // What leads from one region into another in the whole chart does so in the overview.
    const region = (id: string) => picture.nodes.findLast((node) => id === node.id || id.startsWith(`${node.id}.`))?.id
    for (const { from, to } of whole.edges)
      if (region(from) !== region(to))
        assert.isTrue(
          picture.edges.some((edge) => edge.from === region(from) && edge.to === region(to)),
          `${from} ${to}`
        )
    console.log(`overview: ${picture.width} x ${picture.height}; whole: ${whole.width} x ${whole.height}`)
    assert.isBelow(picture.width * picture.height, (whole.width * whole.height) / 4)
  })

  test("the test above finds what is wrong", async () => {
    const picture = await pictureFor(chart())
    const [first, ...others] = picture.edges
    assert.isDefined(first)
    const piled = { ...picture, nodes: picture.nodes.map((node) => ({ ...node, x: 0, y: 0 })) }
    assert.isNotEmpty(flawsOf(chart(), piled))
    assert.isNotEmpty(flawsOf(chart(), { ...picture, edges: others }))
    const { label: _, ...bare } = first
    assert.isNotEmpty(flawsOf(chart(), { ...picture, edges: [bare, ...others] }))
  })

  test("L3 L4 the same chart has the same layout, made once for each of them and beside everything else", async () => {
    const made = pictureFor(chart())
    let turns = 0
    const turn = setInterval(() => turns++, 1)
    const again = await layoutOf(chart())
    clearInterval(turn)
    assert.deepStrictEqual(again, await made)
    assert.strictEqual(pictureFor(chart()), made)
    assert.isAbove(turns, 0)
  })

  test("H1 it is answered with its hash, and not again to anyone who has it", async () => {
    await using fleet = await openFleet()
    const ask = asker(fleet)
    const picture = await ask("default", ({ machine }) => machine.machine({ query: {} }))
    assert.strictEqual(picture.hash, chart().hash)
    const status = (etag: string) =>
      ask("default", ({ machine }) => machine.machine({ query: {}, responseMode: "response-only" }), {
        "if-none-match": etag
      })
    assert.strictEqual((await status(`"${picture.hash}"`)).status, 304)
    assert.strictEqual((await status(`"older", W/"${picture.hash}"`)).status, 304)
    assert.strictEqual((await status('"older"')).status, 200)
  })
})
