// FleetDiary: what a process of the crash lane leaves behind on disk, and reading it.
// Owns the lines. Leaves what they prove to fleet-judge.ts.
// Y1  A line is with the system before what it tells of goes on: no kill of the process loses it.
// Y2  Times are of the machine's own steady clock, the same for every process, whatever clock it is made to believe in.

import { closeSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs"
import { join } from "node:path"

export type Line =
  /** An event was acknowledged. */
  | { readonly is: "ack"; readonly at: number; readonly id: string }
  /** A tool is about to run. */
  | {
      readonly is: "run"
      readonly at: number
      readonly tool: string
      readonly assistant: string
      readonly key: string
    }
  /** A host ended with an error, or the fleet could not be opened. */
  | {
      readonly is: "trouble"
      readonly at: number
      readonly assistant: string
      readonly what: string
      readonly detail: string
    }
  /** It is about to kill itself. */
  | { readonly is: "end"; readonly at: number; readonly point: string }

export interface Diary {
  /** Of one process. */
  readonly name: string
  readonly lines: ReadonlyArray<Line>
}

const NANOS_PER_MILLI = 1e6

export const steadyMillis = (): number => Number(process.hrtime.bigint()) / NANOS_PER_MILLI

type Told = Line extends infer Each ? (Each extends Line ? Omit<Each, "at"> : never) : never

export const openDiary = (directory: string, name: string) => {
  const file = openSync(join(directory, `${name}.diary`), "a")
  return {
    write: (line: Told): void => void writeSync(file, `${JSON.stringify({ at: steadyMillis(), ...line })}\n`),
    close: () => closeSync(file)
  }
}

/** A process that was killed while it wrote leaves at most one line that is not whole. */
const lineIn = (text: string): ReadonlyArray<Line> => {
  try {
    return [JSON.parse(text) as Line]
  } catch {
    return []
  }
}

const ENDING = ".diary"

const readDiary = (directory: string, name: string): Diary => {
  const text = readFileSync(join(directory, `${name}${ENDING}`), "utf8")
  return { name, lines: text.split("\n").flatMap((line) => (line === "" ? [] : lineIn(line))) }
}

export const readDiaries = (directory: string): ReadonlyArray<Diary> =>
  readdirSync(directory)
    .filter((file) => file.endsWith(ENDING))
    .map((file) => readDiary(directory, file.slice(0, -ENDING.length)))
