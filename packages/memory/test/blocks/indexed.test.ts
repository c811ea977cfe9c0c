import { assert, test } from "@effect/vitest"
import { AssistantId } from "@reverie/protocol"
import { blockChanges, type BlockView } from "../../src/index.ts"

const block = (over: Partial<BlockView>): BlockView => ({
  id: "blk_1",
  owner: "ada",
  label: "ships",
  type: "archival",
  permission: "ReadWrite",
  access: { append: "allowed", overwrite: "allowed", delete: "refused" },
  schema: { kind: "text" },
  description: "What was seen.",
  pinned: false,
  charLimit: 5_000,
  shares: [],
  createdAt: 1,
  updatedAt: 7,
  version: 3,
  text: "Ann, Bea",
  chars: 8,
  ...over
})

const readers = (over: Partial<BlockView>) => {
  const [change] = blockChanges(block(over), "Ann")
  return change?.type === "put" ? change.entry.readers : change?.type
}

test("F89 F92 an archival block is found by what it holds, and so are working ones and logs", () => {
  const [change] = blockChanges(block({}), "Ann, Bea, Cora")
  assert.deepStrictEqual(change, {
    type: "put",
    entry: {
      id: "b/blk_1",
      kind: "block",
      at: 7,
      text: "Ann, Bea, Cora",
      context: "ships: What was seen.",
      entities: [],
      tags: ["archival", "ships"],
      thread: "",
      trust: 0.6,
      importance: 5,
      readers: "owner"
    }
  })
  for (const type of ["working", "log"] as const) assert.strictEqual(blockChanges(block({ type }), "x")[0]?.type, "put")
})

test("X1 a core block, an empty one and one that is gone are in no index", () => {
  const gone = [{ type: "remove" as const, id: "b/blk_1" }]
  assert.deepStrictEqual(blockChanges(block({ type: "core" }), "x"), gone)
  assert.deepStrictEqual(blockChanges(block({}), ""), gone)
  assert.deepStrictEqual(blockChanges(block({}), null), gone)
})

test("X2 anyone a block is shared with finds it, and no one else", () => {
  assert.strictEqual(readers({}), "owner")
  assert.deepStrictEqual(readers({ shares: [{ with: "bob", permission: "ReadOnly" }] }), [AssistantId.make("bob")])
  assert.strictEqual(
    readers({
      shares: [
        { with: "bob", permission: "Append" },
        { with: "*", permission: "ReadOnly" }
      ]
    }),
    "fleet"
  )
})
