// Lines: what an ask gives to read.
// Owns taking it apart: ids, indentation, date and speaker. Leaves what the lines say to each task.
// L1  Any text has lines; what is no line of the form `[id] text` has no id, and nothing is thrown.

import { defined } from "@reverie/protocol"
export interface Line {
  readonly id: string
  /** It stands below another one, as a neighbour of it. */
  readonly isNested: boolean
  readonly text: string
}

/** The lines of the form `[id] text`. */
export const linesOf = (data: string): ReadonlyArray<Line> =>
  data.split("\n").flatMap((line) => {
    const [, indent = "", id = "", text = ""] = /^(\s*)\[([^\]\s]{1,200})\]\s+(.*)$/.exec(line) ?? []
    return id === "" || text.trim() === "" ? [] : [{ id, isNested: indent !== "", text: text.trim() }]
  })

export interface Group {
  readonly line: Line
  readonly neighbours: ReadonlyArray<Line>
}

/** Each line that is not indented, with those below it. */
export const groupsOf = (data: string): ReadonlyArray<Group> => {
  const groups: Array<{ line: Line; neighbours: Array<Line> }> = []
  for (const line of linesOf(data)) {
    if (line.isNested) groups.at(-1)?.neighbours.push(line)
    else groups.push({ line, neighbours: [] })
  }
  return groups
}

export interface SaidLine {
  /** In milliseconds since the epoch; undefined when the line has no date. */
  readonly at?: number
  /** Empty when the line names nobody. */
  readonly speaker: string
  readonly text: string
}

const datePattern = /^(undated|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?Z?)\s+/
const speakerPattern = /^([^\s:][^:\n]{0,127}):\s+/

/** `2023-05-08T13:56Z speaker: text`, of which any part but the text may be missing, the date also as `undated`. */
export const saidIn = (line: string): SaidLine => {
  const date = datePattern.exec(line)
  const at = date?.[1] === undefined ? Number.NaN : Date.parse(date[1])
  const rest = Number.isNaN(at) && date?.[1] !== "undated" ? line : line.slice(date?.[0].length)
  const speaker = speakerPattern.exec(rest)
  return {
    ...defined({ at: Number.isNaN(at) ? undefined : at }),
    speaker: speaker?.[1] ?? "",
    text: rest.slice(speaker?.[0].length ?? 0)
  }
}
