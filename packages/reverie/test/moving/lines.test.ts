import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { anAddress, inDataStore } from "@reverie/testkit"
import { Ledger } from "@reverie/ledger"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { checkExport, ExportUnreadable, MAX_LINE_BYTES } from "../../src/index.ts"
import { ExportReader, ExportWriter } from "../../src/moving/export-lines.ts"
import { anEmptyDataStore, aSqliteDataStore, exported, imported, sourceOf, timeless } from "./data-stores.ts"

const golden = readFileSync(fileURLToPath(new URL("fixtures/export-v1.jsonl", import.meta.url)), "utf8")

const refusal = async (text: string | Uint8Array): Promise<string> => {
  try {
    await checkExport(sourceOf(text))
  } catch (error) {
    assert.ok(error instanceof Error)
    return error.message
  }
  return "it was read"
}

/** The same export, sealed again after its lines were changed. */
const resealed = (change: (lines: ReadonlyArray<string>) => ReadonlyArray<string>): string => {
  const lines = change(golden.trimEnd().split("\n").slice(0, -1))
  const writer = new ExportWriter()
  const header = writer.header(0, { all: true })
  const sealed = lines.slice(1).map((line) => writer.part(JSON.parse(line) as never))
  return header + sealed.join("") + writer.manifest()
}

describe("the export of version 1", () => {
  test("X1 is read for ever, into every kind of data store, and comes out as it went in", async () => {
    await timeless(
      Effect.gen(function* () {
        for (const build of [aSqliteDataStore, anEmptyDataStore]) {
          const dataStore = yield* build
          const { moved } = yield* imported(dataStore, golden)
          assert.deepStrictEqual(moved, ["tenant harbor", "harbor/ada", "harbor/bob"])
          const again = yield* exported(dataStore)
          const counted = (text: string) =>
            (JSON.parse(text.trimEnd().split("\n").at(-1) ?? "") as { readonly parts: object }).parts
          assert.deepStrictEqual(counted(again), counted(golden))
          const record = yield* dataStore.ledger.inspect(anAddress("ada", "harbor"))
          assert.strictEqual(record?.version, 5)
          assert.strictEqual(record?.waiting, 14)
          const told = yield* inDataStore(dataStore)(
            Ledger.use((ledger) => ledger.recent(anAddress("ada", "harbor"), 10_000))
          )
          assert.lengthOf(told, 11)
        }
      })
    )
  })

  test("X1 cut off anywhere, or altered anywhere, it is refused", async () => {
    const lines = golden.split("\n")
    for (let count = 0; count < lines.length - 1; count += 7) {
      assert.match(
        await refusal(
          lines
            .slice(0, count)
            .map((line) => `${line}\n`)
            .join("")
        ),
        /cut off|empty/
      )
    }
    for (let at = 60; at < golden.length - 200; at += 997) {
      const altered = `${golden.slice(0, at)}${golden[at] === "x" ? "y" : "x"}${golden.slice(at + 1)}`
      assert.notStrictEqual(await refusal(altered), "it was read", `a change at ${at} was overlooked`)
    }
    assert.match(await refusal(`${golden}{}\n`), /behind the manifest/)
    assert.match(await refusal(golden.trimEnd()), /cut off/)
  })

  test("X4 what is not known is refused, with the line and the place", async () => {
    const swap = (from: string, to: string) => golden.replace(from, to)
    assert.match(await refusal(swap('"version":1', '"version":2')), /line 1: .*newer Reverie \(version 2/)
    assert.match(await refusal("# notes\n"), /line 1: it is no export/)
    assert.match(await refusal(swap('{"kind":"tenant"', '{"kind":"castle"')), /line 2: no part is called "castle"/)
    const wrongRole = resealed((all) => all.map((line) => line.replace('"role":"user"', '"role":"emperor"')))
    assert.match(await refusal(wrongRole), /^line \d+: .*role/)
    const reader = new ExportReader()
    reader.read('{"reverie":"export","version":1,"exportedAt":0,"scope":{"all":true}}')
    assert.throws(
      () => reader.read('{"kind":"record","of":"goal","key":"a","value":1,"colour":"red"}'),
      /line 2: .*colour/
    )
    const stray = resealed((all) => [...all.slice(0, 1), ...all.slice(2)])
    assert.match(await refusal(stray), /^line 2: it belongs to no bundle/)
    const torn = resealed((all) => all.filter((line) => !line.includes('"no":3')))
    assert.match(await refusal(torn), /line \d+: harbor\/ada: entry 3 is missing/)
  })

  test("S1 a line that is too long, nested too deep or no UTF-8 is refused before it is read", async () => {
    const header = golden.slice(0, golden.indexOf("\n") + 1)
    assert.match(await refusal(`${header}{"kind":"${"a".repeat(MAX_LINE_BYTES)}"}\n`), /line 2: it is longer than/)
    assert.match(await refusal(`${header}${"[".repeat(10_000)}\n`), /line 2: nested deeper/)
    const broken = new Uint8Array([...new TextEncoder().encode(header), 0xff, 0x0a])
    assert.match(await refusal(broken), /line 2: it is not UTF-8/)
    assert.strictEqual(Reflect.get({}, "polluted"), undefined)
  })
})

test("X2 what is larger than a line travels in pieces, whatever text it is", () => {
  const texts = [
    "a".repeat(1_000_000),
    '"'.repeat(700_000),
    "\u{1f469}".repeat(400_000),
    "\u0000\ud800".repeat(300_000)
  ]
  for (const text of texts) {
    const writer = new ExportWriter()
    const part = { kind: "record", of: "passage", key: text.slice(0, 10), value: { text } } as const
    const lines = (writer.header(1, { all: true }) + writer.part(part) + writer.manifest()).trimEnd().split("\n")
    assert.isAbove(lines.length, 4)
    for (const line of lines) assert.isAtMost(Buffer.byteLength(line), MAX_LINE_BYTES)
    const reader = new ExportReader()
    const items = lines.flatMap((line) => reader.read(line) ?? [])
    const [, read] = items
    assert.ok(read?.type === "part")
    assert.deepStrictEqual(read.part, part)
    const cut = new ExportReader()
    assert.throws(() => [...lines.slice(0, 2), ...lines.slice(3)].map((line) => cut.read(line)), ExportUnreadable)
  }
})
