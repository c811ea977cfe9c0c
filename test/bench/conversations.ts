// Conversations: real ones with questions, as files of a directory.
// Owns their form: `conv-*.jsonl` with id, at, from, text and image, `conv-*.questions.jsonl` with question, evidence and
// category. Leaves living through them to the benchmark. Nothing of them belongs to the project.

import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"

export interface Turn {
  readonly id: string
  readonly at: string
  readonly from: string
  readonly text: string
  /** What a picture shows that was sent along. */
  readonly image?: string
}

export interface Question {
  readonly question: string
  readonly category: string
  /** Ids of the turns that hold the answer. */
  readonly evidence: ReadonlyArray<string>
}

export interface Conversation {
  readonly name: string
  readonly turns: ReadonlyArray<Turn>
  readonly questions: ReadonlyArray<Question>
}

const QUESTIONS = ".questions.jsonl"

const isRow = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null
const isText = (value: unknown): value is string => typeof value === "string"

const isTurn = (value: unknown): value is Turn =>
  isRow(value) &&
  [value["id"], value["at"], value["from"], value["text"]].every(isText) &&
  !Number.isNaN(Date.parse(String(value["at"]))) &&
  (value["image"] === undefined || isText(value["image"]))

const isQuestion = (value: unknown): value is Question => {
  if (!isRow(value)) return false
  const { category, evidence, question } = value
  return isText(question) && isText(category) && Array.isArray(evidence) && evidence.every(isText)
}

const readLines = async <A>(file: string, isLine: (value: unknown) => value is A): Promise<ReadonlyArray<A>> =>
  (await readFile(file, "utf8"))
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line, index) => {
      const value: unknown = JSON.parse(line)
      if (!isLine(value)) throw new Error(`${file}, line ${index + 1}: not of the form that is expected`)
      return value
    })

/** The conversations of a directory, in the order of their names; questions without evidence are left out. */
export const readConversations = async (directory: string): Promise<ReadonlyArray<Conversation>> => {
  const files = (await readdir(directory)).filter((file) => /^conv-.*\.jsonl$/.test(file) && !file.endsWith(QUESTIONS))
  return Promise.all(
    files.toSorted().map(async (file) => {
      const name = file.slice(0, -".jsonl".length)
      const questions = await readLines(join(directory, `${name}${QUESTIONS}`), isQuestion)
      return {
        name,
        turns: await readLines(join(directory, file), isTurn),
        questions: questions.filter(({ evidence }) => evidence.length > 0)
      }
    })
  )
}
