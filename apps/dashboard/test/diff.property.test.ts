// Diff: two texts, whatever they are, can be made again of their difference.

import * as fc from "fast-check"
import { expect, test } from "vitest"
import { diffLines, diffWords, compacted } from "../src/parts/structured/diff-view.tsx"

const text = fc
  .array(fc.constantFrom("a", "b", "c", "", "<script>"), { maxLength: 14 })
  .map((lines) => lines.join("\n"))

const side = (before: string, after: string, other: "gone" | "new"): string =>
  diffLines(before, after)
    .filter(({ kind }) => kind === "same" || kind === other)
    .map((line) => line.text)
    .join("\n")

test("what stayed and went is the one text, what stayed and came is the other (D1)", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(side(before, after, "gone")).toBe(before)
      expect(side(before, after, "new")).toBe(after)
    })
  )
})

test("D1 the words that stayed and went are the one text, those that stayed and came the other, whatever stands between", () => {
  const words = fc.array(fc.constantFrom("a", "b ", "c\n", "  ", "\t", "<b>", "long-word "), { maxLength: 14 })
  const said = words.map((each) => each.join(""))
  fc.assert(
    fc.property(said, said, (before, after) => {
      const pieces = diffWords(before, after)
      const of = (other: "gone" | "new") =>
        pieces
          .filter(({ kind }) => kind === "same" || kind === other)
          .map(({ text }) => text)
          .join("")
      expect([of("gone"), of("new")]).toEqual([before, after])
      expect(pieces.some(({ kind }, at) => kind === pieces[at + 1]?.kind)).toBe(false)
    })
  )
})

test("D1 a word that is another one is marked, and its neighbours are not", () => {
  expect(diffWords("Berth four is free.", "Berth four is taken. Sorry.")).toEqual([
    { kind: "same", text: "Berth four is" },
    { kind: "gone", text: " free." },
    { kind: "new", text: " taken. Sorry." }
  ])
})

test("what is left out are lines that stayed and nothing else", () => {
  fc.assert(
    fc.property(text, text, fc.integer({ min: 0, max: 3 }), (before, after, around) => {
      const lines = diffLines(before, after)
      const shown = compacted(lines, around)
      const told = shown.reduce((sum, line) => sum + (line.kind === "gap" ? line.lines : 1), 0)
      expect(told).toBe(lines.length)
      const changed = lines.filter(({ kind }) => kind !== "same")
      expect(shown.filter(({ kind }) => kind === "gone" || kind === "new")).toEqual(changed)
    })
  )
})

test("very long texts that differ everywhere are reported at once, beginning and end apart (D2)", () => {
  const lines = (name: string) => Array.from({ length: 4_000 }, (_, n) => `${name} ${n}`)
  const [before, after] = [["head", ...lines("one"), "tail"].join("\n"), ["head", ...lines("two"), "tail"].join("\n")]
  const found = diffLines(before, after)
  expect(found[0]).toEqual({ kind: "same", text: "head" })
  expect(found.at(-1)).toEqual({ kind: "same", text: "tail" })
  expect(found.filter(({ kind }) => kind === "gone")).toHaveLength(4_000)
  expect(found.filter(({ kind }) => kind === "new")).toHaveLength(4_000)
})
