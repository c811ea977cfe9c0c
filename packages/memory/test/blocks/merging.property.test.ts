import { assert, test } from "@effect/vitest"
import * as fc from "fast-check"
import { type BlockOperation, type BlockSchema, StructuredDocument } from "../../src/index.ts"
import * as Result from "effect/Result"
import { act, aDocument, loro } from "./rig.ts"
import { contentJson } from "../../src/blocks/document/content.ts"
import { peerOf } from "../../src/blocks/document/document.ts"

const schema: BlockSchema = {
  kind: "composite",
  sections: [
    { name: "text", schema: { kind: "text" } },
    {
      name: "map",
      schema: {
        kind: "map",
        fields: [
          { name: "a", type: "text" },
          { name: "n", type: "counter" },
          { name: "l", type: "list" }
        ]
      }
    },
    { name: "list", schema: { kind: "list" } },
    {
      name: "log",
      schema: {
        kind: "log",
        displayLimit: 5,
        entrySchema: { timestamp: false, agent: true, fields: [{ name: "m", type: "text" }] }
      }
    }
  ]
}

const word = fc.string({ maxLength: 6, unit: "grapheme" })
const place = fc.nat(4)

const operation: fc.Arbitrary<BlockOperation> = fc.oneof(
  word.map((text): BlockOperation => ({ op: "set_text", text, section: "text" })),
  word.map((text): BlockOperation => ({ op: "append_text", text, section: "text" })),
  fc.tuple(word, word).map(([old, to]): BlockOperation => ({ op: "replace_text", old, new: to, section: "text" })),
  word.map((text): BlockOperation => ({ op: "set_text_field", field: "a", text, section: "map" })),
  fc
    .integer({ min: -9, max: 9 })
    .map((by): BlockOperation => ({ op: "increment_counter", field: "n", by, section: "map" })),
  word.map((value): BlockOperation => ({ op: "append_to_list_field", field: "l", value, section: "map" })),
  fc.jsonValue().map((value): BlockOperation => ({ op: "push_item", value: value as never, section: "list" })),
  fc.tuple(place, word).map(([index, value]): BlockOperation => ({ op: "insert_item", index, value, section: "list" })),
  place.map((index): BlockOperation => ({ op: "delete_item", index, section: "list" })),
  word.map((m): BlockOperation => ({ op: "append_log_entry", entry: { m }, section: "log" }))
)

const actAll = (document: StructuredDocument, operations: ReadonlyArray<BlockOperation>): void => {
  for (const each of operations) act(document, each)
}

test("D2 documents that heard of the same commits hold the same, in whatever order they heard of them", () => {
  fc.assert(
    fc.property(
      fc.array(operation, { maxLength: 6 }),
      fc.array(fc.array(operation, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 4 }),
      fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
      (common, branches, order) => {
        const root = aDocument(schema)
        actAll(root, common)
        const from = root.place
        const patches = branches.map((operations, index) => {
          const branch = root.at(from)
          branch.writeAs(peerOf("branch", String(index)))
          actAll(branch, operations)
          return branch.patchSince(from)
        })
        const merged = (permuted: ReadonlyArray<Uint8Array>): StructuredDocument => {
          const document = root.at(from)
          for (const patch of permuted) document.merge(patch)
          return document
        }
        const one = merged(patches)
        const other = merged(
          patches
            .map((patch, index) => ({ patch, rank: order[index] ?? 0 }))
            .toSorted((a, b) => a.rank - b.rank)
            .map(({ patch }) => patch)
        )
        const twice = merged([...patches.toReversed(), ...patches])
        for (const document of [other, twice]) {
          assert.strictEqual(document.render(), one.render())
          assert.strictEqual(
            JSON.stringify(contentJson(document.content())),
            JSON.stringify(contentJson(one.content()))
          )
        }
      }
    ),
    { numRuns: 150 }
  )
})

test("V1 D2 a document read back from its snapshot, its patches, or both holds the same", () => {
  fc.assert(
    fc.property(fc.array(operation, { minLength: 1, maxLength: 12 }), fc.nat(12), (operations, cut) => {
      const document = aDocument(schema)
      const patches: Array<Uint8Array> = []
      let snapshot: { readonly bytes: Uint8Array; readonly after: number } | undefined
      for (const [index, each] of operations.entries()) {
        const from = document.place
        act(document, each)
        patches.push(document.patchSince(from))
        if (index === cut) snapshot = { bytes: document.snapshot(), after: index + 1 }
      }
      const { place } = document
      const kept = [
        { patches, place },
        { snapshot: document.snapshot(), patches: [], place },
        ...(snapshot === undefined ? [] : [{ snapshot: snapshot.bytes, patches: patches.slice(snapshot.after), place }])
      ]
      for (const each of kept) {
        const read = StructuredDocument.load(loro, "block", schema, each)
        assert.isTrue(Result.isSuccess(read))
        if (Result.isSuccess(read)) assert.strictEqual(read.success.render(), document.render())
      }
    }),
    { numRuns: 100 }
  )
})

test("a document of which something is missing is damaged, and says so", () => {
  const document = aDocument()
  act(document, { op: "set_text", text: "one" })
  const from = document.place
  act(document, { op: "append_text", text: " two" })
  const last = document.patchSince(from)
  const { place } = document
  for (const patches of [[], [last], [document.patchSince([]).slice(0, -3)], [new Uint8Array([1, 2, 3])]]) {
    const read = StructuredDocument.load(loro, "block", { kind: "text" }, { patches, place })
    assert.isTrue(Result.isFailure(read))
    if (Result.isFailure(read)) assert.include(read.failure.message, "is damaged")
  }
})
