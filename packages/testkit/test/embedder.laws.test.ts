import { assert, it } from "@effect/vitest"
import { embedderLaws, embedderMutants, hashedEmbedderLayer, hashedVector } from "@reverie/testkit"
import { bite, prove } from "@reverie/testkit/prove"

prove("hashed embedder: embedder laws", embedderLaws, () => hashedEmbedderLayer())
prove("hashed embedder of eight numbers: embedder laws", embedderLaws, () => hashedEmbedderLayer(8))
bite("embedder laws bite", embedderLaws, embedderMutants)

it("H1 H2 a hashed vector depends on words alone, has length one, and lies nearer to what shares them", () => {
  const dot = (a: ReadonlyArray<number>, b: ReadonlyArray<number>) =>
    a.reduce((sum, x, at) => sum + x * (b[at] ?? 0), 0)
  const boat = hashedVector("the red boat", 64)
  assert.deepStrictEqual(hashedVector("Boat, RED: the!", 64), boat)
  assert.approximately(dot(boat, boat), 1, 1e-9)
  assert.isAbove(dot(boat, hashedVector("a red boat", 64)), dot(boat, hashedVector("seven quiet owls", 64)))
})
