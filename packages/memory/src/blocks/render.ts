// Render: what a block holds, as a prompt shows it.
// Owns the form of each kind (F100, F101). Leaves the frame around it to `context`.
// R1  A value stays in its place: its further lines are set in, so that none can pose as another field, item or entry,
//     and no line of a section as the heading of the next one; what no one can see is taken out before that is judged.
// R2  The same content under the same schema gives the same text, whatever way it came about.
// R3  Only what the system alone may change is marked as such.

import { isJsonObject, type Json } from "@reverie/protocol"
import { cleanText } from "../integrity/clean-text.ts"
import type { BlockContent, PartContent } from "./document/content.ts"
import type { BlockField, BlockSchema, PartSchema, Viewport } from "./document/schema.ts"

const READ_ONLY = " [read-only]"

const mark = (readOnly: boolean | undefined): string => (readOnly === true ? READ_ONLY : "")

const setIn = (text: string): string => cleanText(text).replace(/\r\n?|\n/g, "\n  ")

const shown = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ""
  if (typeof value === "string") return setIn(value)
  if (Array.isArray(value)) return value.map(shown).join(", ")
  return isJsonObject(value)
    ? Object.entries(value)
        .map(([name, member]) => `${setIn(name)}: ${shown(member)}`)
        .join(", ")
    : JSON.stringify(value)
}

const windowed = (text: string, { displayLines, startLine }: Viewport): string => {
  const lines = text.split("\n")
  if (startLine > lines.length) {
    return `[Line ${startLine} is past the end: there are ${lines.length} lines. Move the viewport to see them.]`
  }
  const end = Math.min(lines.length, startLine + displayLines - 1)
  return [`[Showing lines ${startLine}-${end} of ${lines.length}]`, ...lines.slice(startLine - 1, end)].join("\n")
}

const fieldLine = ({ name, readOnly }: BlockField, value: Json): string => `${name}${mark(readOnly)}: ${shown(value)}`

/** A member that says whether something is done makes a box of the item. */
const DONE = "done"

const itemText = (item: Json): string => {
  if (!isJsonObject(item)) return shown(item)
  const { [DONE]: done, ...rest } = item
  const isBox = typeof done === "boolean"
  const members = Object.entries(isBox ? rest : item)
  const [only] = members
  const text =
    members.length === 1 && only !== undefined && isBox
      ? shown(only[1])
      : members.map(([name, value]) => `${setIn(name)}: ${shown(value)}`).join(", ")
  return isBox ? `[${done ? "x" : " "}] ${text}` : text
}

type LogSchema = Extract<PartSchema, { readonly kind: "log" }>

/** Members that the log itself fills in. */
export const LOG_TIME = "timestamp"
export const LOG_AGENT = "agent"

const entryLine = ({ agent, fields, timestamp }: LogSchema["entrySchema"], entry: Json): string => {
  const members = isJsonObject(entry) ? entry : {}
  const said = fields.filter(({ name }) => members[name] !== undefined)
  const text =
    fields.length === 1
      ? said.map(({ name }) => shown(members[name]))
      : [said.map(({ name }) => `${name}: ${shown(members[name])}`).join(", ")]
  return [
    ...(timestamp ? [`[${shown(members[LOG_TIME])}]`] : []),
    ...(agent ? [`(${shown(members[LOG_AGENT])})`] : []),
    ...text
  ].join(" ")
}

/** Newest first, at most as many as the schema shows, and no more than fit; the newest always. */
const logText = ({ displayLimit, entrySchema }: LogSchema, entries: ReadonlyArray<Json>, maxChars: number): string => {
  const lines: Array<string> = []
  let chars = 0
  for (const entry of entries.slice(-displayLimit).toReversed()) {
    const line = entryLine(entrySchema, entry)
    chars += line.length + 1
    if (chars > maxChars && lines.length > 0) break
    lines.push(line)
  }
  return lines.join("\n")
}

const renderPart = (schema: PartSchema, content: PartContent, maxChars: number): string => {
  switch (content.kind) {
    case "text":
      return schema.kind === "text" && schema.viewport !== undefined
        ? windowed(content.text, schema.viewport)
        : content.text
    case "map":
      return (schema.kind === "map" ? schema.fields : [])
        .flatMap((field) => {
          const value = content.values.get(field.name)
          return value === undefined ? [] : [fieldLine(field, value)]
        })
        .join("\n")
    case "list":
      return content.items.map((item, index) => `${index + 1}. ${itemText(item)}`).join("\n")
    case "log":
      return schema.kind === "log" ? logText(schema, content.entries, maxChars) : ""
  }
}

const withoutHeadings = (text: string): string => cleanText(text).replace(/^===/gm, "\\===")

/** `maxChars` bounds what is shown of logs; other kinds are shown whole. */
export const renderContent = (schema: BlockSchema, content: BlockContent, maxChars: number = Infinity): string => {
  if (schema.kind !== "composite") return content.kind === "composite" ? "" : renderPart(schema, content, maxChars)
  if (content.kind !== "composite") return ""
  return schema.sections
    .map(({ name, readOnly, schema: part }) => {
      const held = content.sections.get(name)
      const text = held === undefined ? "" : withoutHeadings(renderPart(part, held, maxChars))
      return [`=== ${name}${mark(readOnly)} ===`, ...(text === "" ? [] : [text])].join("\n")
    })
    .join("\n")
}
