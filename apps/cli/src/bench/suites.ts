// Suites: the public benchmarks of memory, as their authors give them out.
// Owns reading their files. Leaves living through them to lives.ts. Nothing of them belongs to this project.
// S1  A file of another form is refused with the place in it: the file, the conversation and the field.
// S2  `isUnanswered` is what the conversation does not answer: the right answer is that it is not known.
// S3  A turn without a text, of which published files have some, can not be told: it is left out and counted. Nothing else is left out.

import { readdir, readFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { defined } from "@reverie/protocol"
import { CommandFailed } from "../failure.ts"

export const suites = ["locomo", "longmemeval-s", "beam"] as const

export type Suite = (typeof suites)[number]

export interface Turn {
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly atMillis: number
  readonly from: string
  readonly text: string
  /** The conversation of one sitting that it belongs to, where the suite counts by them. */
  readonly session?: string
}

export interface Question {
  readonly id: string
  readonly text: string
  readonly category: string
  /** Ids of the turns that hold the answer. */
  readonly evidence: ReadonlyArray<string>
  /** Ids of the sessions that hold it. */
  readonly sessions: ReadonlyArray<string>
  /** What the authors hold to be right. */
  readonly answer: string
  /** What has to be in an answer, one by one. */
  readonly rubric: ReadonlyArray<string>
  readonly isUnanswered: boolean
  /** When it is asked, in the words of the suite. */
  readonly date?: string
}

/** A conversation with the questions about it. */
export interface Life {
  readonly name: string
  /** A person and an assistant, whose turns are from `user` and `assistant`; else people among themselves. */
  readonly isChat: boolean
  readonly turns: ReadonlyArray<Turn>
  readonly questions: ReadonlyArray<Question>
  /** Ids of the turns that were left out, for they have no text. */
  readonly emptyTurns?: ReadonlyArray<string>
}

const TURN_MILLIS = 20_000

const unfit = (place: string, what: string): CommandFailed =>
  new CommandFailed("usage", `${place} is not of the form of this suite: ${what}`, {
    code: "suite-invalid",
    hint: "give the files as their authors publish them, and the suite that they belong to"
  })

type Row = Readonly<Record<string, unknown>>

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value)

const rowAt = (value: unknown, place: string): Row => {
  if (!isRow(value)) throw unfit(place, "an object is expected")
  return value
}

const fieldAt = (row: Row, name: string, place: string): Row => {
  const value = row[name]
  if (value === undefined) throw unfit(place, `${name} is missing, an object is expected`)
  if (!isRow(value)) throw unfit(place, `${name} must be an object`)
  return value
}

/** A conversation as people find it in a file: by its place, and by what it is called there. */
const conversationAt = (file: string, index: number, name: string): string =>
  `${file}, conversation ${index + 1}${name === "" ? "" : ` (${name})`}`

const rowsAt = (value: unknown, place: string): ReadonlyArray<Row> => {
  if (!Array.isArray(value)) throw unfit(place, "a list is expected")
  return value.map((each, index) => rowAt(each, `${place}, number ${index + 1}`))
}

const textAt = (row: Row, name: string, place: string): string => {
  const value = row[name]
  if (typeof value !== "string") throw unfit(place, `${name} must be a text`)
  return value
}

const lineOf = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value)

/** Every text and number in lists and objects, however deep, as texts. */
const leavesOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string" || typeof value === "number") return [String(value)]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

/** `text` is `written` in a form that is understood; who reads of it is shown what stands in the file. */
const timeAt = (text: string, whole: Written): number => {
  const at = Date.parse(`${text} UTC`)
  if (Number.isNaN(at)) throw noDate(whole)
  return at
}

const noDate = ({ field, place, written }: Written): CommandFailed =>
  unfit(place, `${field} is no date: ${JSON.stringify(written)}`)

/** A text of a file, and where it stands. */
interface Written {
  readonly written: string
  readonly field: string
  readonly place: string
}

const parsed = async (file: string): Promise<unknown> => {
  const text = await readFile(file, "utf8")
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw unfit(file, error instanceof Error ? error.message : "no JSON")
  }
}

interface Line {
  readonly row: Row
  readonly place: string
}

const linesIn = async (file: string): Promise<ReadonlyArray<Line>> =>
  (await readFile(file, "utf8"))
    .split("\n")
    .map((line, index) => ({ line, place: `${file}, line ${index + 1}` }))
    .filter(({ line }) => line.trim() !== "")
    .map(({ line, place }) => {
      try {
        return { row: rowAt(JSON.parse(line) as unknown, place), place }
      } catch (error) {
        throw error instanceof SyntaxError ? unfit(place, error.message) : error
      }
    })

// Locomo: `locomo10.json` of snap-research/locomo, or one conversation a file with a JSON object a line.

const LOCOMO_KINDS = ["", "multi-hop", "temporal", "open-domain", "single-hop", "adversarial"] as const

/** "1:56 pm on 8 May, 2023" */
const locomoTime = (conversation: Row, field: string, place: string): number => {
  const written = textAt(conversation, field, place)
  const [, hour = "", minute = "", half = "", date = ""] = /^(\d+):(\d+)\s*([ap]m) on (.+)$/i.exec(written.trim()) ?? []
  const hours = (Number(hour) % 12) + (half.toLowerCase() === "pm" ? 12 : 0)
  return timeAt(`${date.replace(",", "")} ${hours}:${minute}`, { field, place, written })
}

const withImage = (text: string, image: unknown): string =>
  typeof image === "string" ? `${text} [image: ${image}]` : text

const locomoTurns = (conversation: Row, place: string): ReadonlyArray<Turn> =>
  Object.keys(conversation)
    .filter((name) => /^session_\d+$/.test(name))
    .toSorted((a, b) => Number(a.slice(8)) - Number(b.slice(8)))
    .flatMap((session) => {
      const start = locomoTime(conversation, `${session}_date_time`, place)
      return rowsAt(conversation[session], `${place}, ${session}`).map((row, index) => {
        const here = `${place}, ${session}, number ${index + 1}`
        return {
          id: textAt(row, "dia_id", here),
          atMillis: start + index * TURN_MILLIS,
          from: textAt(row, "speaker", here),
          text: withImage(textAt(row, "text", here), row["blip_caption"]),
          session
        }
      })
    })

const locomoQuestion = (row: Row, id: string, turns: ReadonlyMap<string, Turn>, place: string): Question => {
  const kind = row["category"]
  const category = typeof kind === "number" ? (LOCOMO_KINDS[kind] ?? String(kind)) : lineOf(kind)
  const evidence = leavesOf(row["evidence"])
    .flatMap((each) => each.split(/[;\s]+/))
    .filter((each) => turns.has(each))
  return {
    id,
    text: textAt(row, "question", place),
    category,
    evidence,
    sessions: sessionsOf(evidence, turns),
    answer: lineOf(row["answer"]),
    rubric: [],
    isUnanswered: category === "adversarial"
  }
}

const sessionsOf = (evidence: ReadonlyArray<string>, turns: ReadonlyMap<string, Turn>): ReadonlyArray<string> => [
  ...new Set(evidence.flatMap((each) => turns.get(each)?.session ?? []))
]

const byId = (turns: ReadonlyArray<Turn>): ReadonlyMap<string, Turn> => new Map(turns.map((turn) => [turn.id, turn]))

const locomoSample = (sample: Row, file: string, number: number): Life => {
  const name = lineOf(sample["sample_id"])
  const place = conversationAt(file, number, name)
  const turns = locomoTurns(fieldAt(sample, "conversation", place), place)
  const known = byId(turns)
  const questions = rowsAt(sample["qa"], `${place}, qa`)
  return {
    name,
    isChat: false,
    turns,
    questions: questions.map((row, index) =>
      locomoQuestion(row, `${name}/q${index}`, known, `${place}, qa, number ${index + 1}`)
    )
  }
}

const locomoLines = async (file: string): Promise<Life> => {
  const name = basename(file, ".jsonl")
  const turns = (await linesIn(file)).map(({ place, row }): Turn => {
    const written = textAt(row, "at", place)
    const atMillis = Date.parse(written)
    if (Number.isNaN(atMillis)) throw noDate({ field: "at", place, written })
    return {
      id: textAt(row, "id", place),
      atMillis,
      from: textAt(row, "from", place),
      text: withImage(textAt(row, "text", place), row["image"]),
      session: lineOf(row["session"])
    }
  })
  const asked = file.replace(/\.jsonl$/, ".questions.jsonl")
  const known = byId(turns)
  const rows = await linesIn(asked)
  return {
    name,
    isChat: false,
    turns,
    questions: rows.map(({ place, row }, index) => locomoQuestion(row, `${name}/q${index}`, known, place))
  }
}

const readLocomo = async (folder: string): Promise<ReadonlyArray<Life>> => {
  const files = (await readdir(folder)).toSorted()
  const lined = files.filter(
    (file) => file.endsWith(".jsonl") && files.includes(file.replace(".jsonl", ".questions.jsonl"))
  )
  const lives = await Promise.all(lined.map((file) => locomoLines(join(folder, file))))
  for (const file of files.filter((each) => /^locomo.*\.json$/.test(each))) {
    const place = join(folder, file)
    lives.push(...rowsAt(await parsed(place), place).map((row, index) => locomoSample(row, place, index)))
  }
  return lives
}

// LongMemEval: `longmemeval_s*.json`: every question has a history of its own.

/** "2023/05/20 (Sat) 02:21" */
const longTime = (written: string, place: string): number =>
  timeAt(written.replace(/\s*\([^)]*\)/, ""), { field: "haystack_dates", place, written })

const longLife = (row: Row, file: string, which: number): Life => {
  const place = conversationAt(file, which, lineOf(row["question_id"]))
  const id = textAt(row, "question_id", place)
  const [dates, names, sessions] = ["haystack_dates", "haystack_session_ids", "haystack_sessions"].map((name) => {
    const value = row[name]
    if (!Array.isArray(value)) throw unfit(place, `${name} must be a list`)
    return value as ReadonlyArray<unknown>
  })
  const evidence: Array<string> = []
  const turns = (sessions ?? []).flatMap((said, number) => {
    const session = lineOf(names?.[number])
    const start = longTime(lineOf(dates?.[number]), `${place}, session ${number + 1}`)
    return rowsAt(said, `${place}, session ${number + 1}`).map((turn, index): Turn => {
      const here = `${place}, session ${number + 1}, number ${index + 1}`
      // A session may stand in a history more than once.
      const key = `${number}/${session}/${index}`
      if (turn["has_answer"] === true) evidence.push(key)
      const from = textAt(turn, "role", here)
      return { id: key, atMillis: start + index * TURN_MILLIS, from, text: textAt(turn, "content", here), session }
    })
  })
  const question: Question = {
    id,
    text: textAt(row, "question", place),
    category: textAt(row, "question_type", place),
    evidence,
    sessions: leavesOf(row["answer_session_ids"]),
    answer: lineOf(row["answer"]),
    rubric: [],
    isUnanswered: id.endsWith("_abs"),
    ...defined({ date: typeof row["question_date"] === "string" ? row["question_date"] : undefined })
  }
  return { name: id, isChat: true, turns: turns.toSorted((a, b) => a.atMillis - b.atMillis), questions: [question] }
}

const readLong = async (folder: string): Promise<ReadonlyArray<Life>> => {
  const [file] = (await readdir(folder)).filter((each) => /^longmemeval_s.*\.json$/.test(each)).toSorted()
  if (file === undefined) return []
  const place = join(folder, file)
  return rowsAt(await parsed(place), place).map((row, index) => longLife(row, place, index))
}

// Beam: a folder a chat, with `chat.json` and `probing_questions/probing_questions.json`.

/** "March-15-2024" */
const beamTime = (written: string, place: string): number =>
  timeAt(written.replaceAll("-", " "), { field: "time_anchor", place, written })

const beamTurns = (batches: ReadonlyArray<Row>, place: string): ReadonlyArray<Turn> => {
  let atMillis = 0
  const turns: Array<Turn> = []
  for (const batch of batches) {
    const said = batch["turns"]
    if (!Array.isArray(said)) throw unfit(place, "turns must be a list")
    for (const each of said.flat()) {
      const here = `${place}, turn ${turns.length + 1}`
      const row = rowAt(each, here)
      const anchor = row["time_anchor"] ?? (turns.length === 0 ? batch["time_anchor"] : undefined)
      const at = typeof anchor === "string" ? beamTime(anchor, here) : atMillis
      atMillis = Math.max(at, atMillis + TURN_MILLIS)
      const id = lineOf(row["id"])
      turns.push({ id, atMillis, from: textAt(row, "role", here), text: textAt(row, "content", here) })
    }
  }
  return turns
}

const ANSWERS = ["answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance"] as const

const beamLife = async (folder: string): Promise<Life> => {
  const name = basename(folder)
  const [chat, asked] = [join(folder, "chat.json"), join(folder, "probing_questions", "probing_questions.json")]
  const turns = beamTurns(rowsAt(await parsed(chat), chat), chat)
  const known = byId(turns)
  const questions = Object.entries(rowAt(await parsed(asked), asked)).flatMap(([category, rows]) =>
    rowsAt(rows, `${asked}, ${category}`).map((row, index): Question => {
      const evidence = [...new Set(leavesOf(row["source_chat_ids"]))].filter((each) => known.has(each))
      return {
        id: `${name}/${category}/${index + 1}`,
        text: textAt(row, "question", `${asked}, ${category}, number ${index + 1}`),
        category,
        evidence,
        sessions: [],
        answer: lineOf(row[ANSWERS.find((each) => row[each] !== undefined) ?? ""]),
        rubric: leavesOf(row["rubric"]),
        isUnanswered: category === "abstention"
      }
    })
  )
  return { name, isChat: true, turns, questions }
}

const readBeam = async (folder: string): Promise<ReadonlyArray<Life>> => {
  const entries = await readdir(folder, { recursive: true })
  const chats = entries.filter((each) => basename(each) === "chat.json").toSorted()
  return Promise.all(chats.map((each) => beamLife(join(folder, each, ".."))))
}

const readers: Readonly<Record<Suite, (folder: string) => Promise<ReadonlyArray<Life>>>> = {
  locomo: readLocomo,
  "longmemeval-s": readLong,
  beam: readBeam
}

const FILES: Readonly<Record<Suite, string>> = {
  locomo: "locomo10.json, or conv-*.jsonl with conv-*.questions.jsonl",
  "longmemeval-s": "longmemeval_s.json or longmemeval_s_cleaned.json",
  beam: "a folder a chat, with chat.json and probing_questions/probing_questions.json"
}

/** S3. What is not told is no evidence either: no memory could find it. */
const withoutEmpty = (life: Life): Life => {
  const emptyTurns = life.turns.filter(({ text }) => text.trim() === "").map(({ id }) => id)
  if (emptyTurns.length === 0) return life
  const turns = life.turns.filter(({ text }) => text.trim() !== "")
  const known = byId(turns)
  const questions = life.questions.map((question) => ({
    ...question,
    evidence: question.evidence.filter((id) => known.has(id))
  }))
  return { ...life, turns, questions, emptyTurns }
}

/** The conversations of a suite that lie in a directory. */
export const readSuite = async (suite: Suite, folder: string): Promise<ReadonlyArray<Life>> => {
  const lives = await readers[suite](folder).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")))
      throw error
    throw new CommandFailed("no-such-file", `${folder} can not be read: ${error.message}`)
  })
  const asked = lives.filter(({ questions }) => questions.length > 0)
  if (asked.length === 0) throw unfit(folder, `nothing of ${suite} is there; it has ${FILES[suite]}`)
  return asked.map(withoutEmpty)
}
