// Blocks: breaks of memory blocks and of searching (F88-F102, F107, F108).
// Owns these breaks. Leaves making and judging them to mutate.ts.

import type { Mutant } from "./mutant.ts"

const collect = "packages/context/src/collect.ts"
const parts = "packages/memory/src/blocks/document/parts.ts"
const document = "packages/memory/src/blocks/document/document.ts"
const render = "packages/memory/src/blocks/render.ts"

export const blockMutants: ReadonlyArray<Mutant> = [
  {
    row: "F88",
    file: collect,
    find: '...(includeDescriptions && description !== "" ? [inside(description), ""] : []),',
    put: '...(includeDescriptions && description !== "" ? [inside(description)] : []),'
  },
  { row: "F89", file: collect, find: `type === "working" && (pinned ||`, put: `type !== "core" && (pinned ||` },
  {
    row: "F90",
    file: "packages/memory/src/blocks/operation.ts",
    find: `Append: row("allowed", "refused", "refused"),`,
    put: `Append: row("allowed", "allowed", "refused"),`
  },
  {
    row: "F91",
    file: document,
    find: "const objection = author.isSystem ? undefined : this.#objection(",
    put: "const objection = this.#objection("
  },
  {
    row: "F92",
    file: "packages/memory/src/blocks/changing.ts",
    find: "    rows.remove(request.tenant, id)\n",
    put: ""
  },
  {
    row: "F93",
    file: "packages/memory/src/blocks/document/documents.ts",
    find: "if (this.#held.size <= this.#capacity) return",
    put: "if (this.#held.size > 0) return"
  },
  {
    row: "F94",
    file: parts,
    find: `    if (part.kind !== "list" || part.maxItems === undefined) continue\n`,
    put: "    continue\n"
  },
  { row: "F95", file: parts, find: "const at = present.indexOf(old)", put: "const at = present.lastIndexOf(old)" },
  {
    row: "F96",
    file: parts,
    find: "containers.counterOf(field.name).increment(operation.by)",
    put: "containers.counterOf(field.name).increment(1)"
  },
  {
    row: "F97",
    file: parts,
    find: "items.delete(index, 1)\n      return DONE",
    put: "items.delete(0, 1)\n      return DONE"
  },
  {
    row: "F98",
    file: render,
    find: "of entries.slice(-displayLimit).toReversed())",
    put: "of entries.slice(-displayLimit))"
  },
  {
    row: "F99",
    file: document,
    find: "const found = schema.sections.find(({ name }) => name === section)",
    put: "const found = schema.sections[0]"
  },
  {
    row: "F100",
    file: render,
    find: "return content.items.map((item, index) => `${index + 1}. ${itemText(item)}`)",
    put: "return content.items.map((item) => `- ${itemText(item)}`)"
  },
  {
    row: "F101",
    file: document,
    find: "if (spot.readOnly) return this.#refused(",
    put: "if (spot.readOnly && operation.section === undefined) return this.#refused("
  },
  {
    row: "F102",
    file: "packages/memory/src/blocks/keeper.ts",
    find: "if (isNew && change.changed) {",
    put: "if (!isNew && change.changed) {"
  },
  {
    row: "F107",
    file: "packages/memory/src/recall.ts",
    find: `hasEmbedder ? (mode === "auto" ? "hybrid" : mode) : "fts"`,
    put: `hasEmbedder ? (mode === "auto" ? "vector" : mode) : "fts"`
  },
  {
    row: "F108",
    file: "packages/runtime/src/prompt/blocks.ts",
    find: 'window.messages.findLast(({ role }) => role === "user")?.blocks ?? []',
    put: "window.messages.flatMap(({ blocks = [] }) => blocks)"
  }
]
