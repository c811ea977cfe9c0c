// Insights: what several entries of a journal have in common.
// Owns counting names over entries. Leaves keeping an insight to whoever asked.
// I1  An insight is a count: a name that stands in at least MIN_ENTRIES entries, and the word they share most.
// I2  Its evidence are those entries, and nothing else.

import { stemOf, stemsOf } from "../words.ts"
import { type Line, linesOf } from "./lines.ts"
import { namesIn } from "./names.ts"

const MIN_ENTRIES = 3
const MAX_INSIGHTS = 5
const MAX_EVIDENCE = 10

const plain = ({ id, text }: Line) => ({ id, text: text.replace(/^\(importance \d+\)\s*/, "") })

/** The word that most of the texts have besides the name; undefined when fewer than two share one. */
const topicOf = (texts: ReadonlyArray<string>, name: string): string | undefined => {
  const ownStems = stemsOf(name)
  const counts = new Map<string, { readonly word: string; count: number }>()
  for (const text of texts) {
    const words = new Map((text.match(/\p{L}{4,}/gu) ?? []).map((word) => [stemOf(word), word.toLowerCase()]))
    for (const stem of stemsOf(text)) {
      const word = words.get(stem)
      if (word === undefined || ownStems.has(stem)) continue
      const known = counts.get(stem)
      if (known === undefined) counts.set(stem, { word, count: 1 })
      else known.count++
    }
  }
  const [most] = [...counts.values()].toSorted((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1))
  return most !== undefined && most.count >= 2 ? most.word : undefined
}

const insightOf = (name: string, entries: ReadonlyArray<{ readonly id: string; readonly text: string }>) => {
  const topic = topicOf(
    entries.map(({ text }) => text),
    name
  )
  const about = topic === undefined ? "" : `, mostly about ${topic}`
  return {
    insight: `${name} came up in ${entries.length} entries${about}.`,
    evidence: entries.slice(0, MAX_EVIDENCE).map(({ id }) => id)
  }
}

export const insightsIn = (data: string): string => {
  const entries = [...new Map(linesOf(data).map((line) => [line.id, plain(line)])).values()]
  const inside = new Set(entries.flatMap(({ text }) => namesIn(text)))
  const found = [...inside].map((name) => ({
    name,
    entries: entries.filter(({ text }) => namesIn(text, [name]).includes(name))
  }))
  return JSON.stringify(
    found
      .filter(({ entries }) => entries.length >= MIN_ENTRIES)
      .toSorted((a, b) => b.entries.length - a.entries.length || (a.name < b.name ? -1 : 1))
      .slice(0, MAX_INSIGHTS)
      .map(({ entries, name }) => insightOf(name, entries))
  )
}
