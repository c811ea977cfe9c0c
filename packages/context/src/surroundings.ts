// Surroundings: the texts of who an assistant is, what it is after, and what goes on around it.
// Owns how persona, project, session memory, goals and ambient messages stand in a prompt. Leaves each of their own
// texts to `assistant`, and what is overheard to the message filter.
// S1  Nothing to show is the empty text, which leaves the component out.
// S2  What others said stands on one line each, so that nobody can write a line in another's name.

import {
  type Goals,
  goalsText,
  type Projects,
  projectText,
  type SessionMemory,
  sessionMemoryText
} from "@reverie/assistant"
import { type Content, linesOf } from "./tokens/price-book.ts"

const headed = (heading: string, text: string): ReadonlyArray<string> => (text === "" ? [] : [`# ${heading}`, text, ""])

const linesUnder = (...sections: ReadonlyArray<ReadonlyArray<string>>): Content =>
  linesOf(sections.flat().join("\n").trimEnd())

export interface Character {
  readonly persona?: string
  readonly projects?: Projects
  readonly sessionMemory?: SessionMemory
}

/** `character_context`: persona, active project, session memory. */
export const characterContent = ({ persona = "", projects, sessionMemory }: Character): Content =>
  linesUnder(
    persona === "" ? [] : [persona, ""],
    headed("Projects", projects === undefined ? "" : projectText(projects)),
    headed("Session memory", sessionMemory === undefined ? "" : sessionMemoryText(sessionMemory))
  )

/** `goals`: as a tree, with priority and progress. */
export const goalsContent = (goals: Goals): Content => linesUnder(headed("Goals", goalsText(goals)))

/** One thing that was said nearby. */
export interface AmbientLine {
  readonly from: string
  readonly text: string
  readonly channel?: string
}

const onOneLine = (text: string): string => text.replace(/\s+/g, " ").trim()

/** `context_buffer`: what was said nearby, the oldest first. */
export const bufferContent = (lines: ReadonlyArray<AmbientLine>): Content =>
  linesUnder(
    headed(
      "Ambient messages",
      lines
        .map(({ channel, from, text }) => {
          const where = channel === undefined ? "" : ` (${onOneLine(channel)})`
          return `- ${onOneLine(from)}${where}: ${onOneLine(text)}`
        })
        .join("\n")
    )
  )
