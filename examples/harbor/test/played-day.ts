// PlayedDay: the written day on a store in memory, and everything the fleet told of it.
// Owns playing it and finding what was told. Leaves what should have happened to the tests.

import { readFile } from "node:fs/promises"
import {
  Fleet,
  type Notice,
  type NoticeType,
  play,
  type Played,
  readScript,
  type RecordKind,
  type ScriptLine
} from "reverie"
import { assert } from "vitest"
import harbor from "../fleet.ts"

/** How long to wait for what happens by itself: an approval that runs out, a short sleep. */
const PATIENCE_MILLIS = 5_000

/** Calls as a broken model makes them, in the place of what people said: a tool that is not there, and text that is no JSON. */
const faults: Readonly<Record<string, string>> = {
  "day/34": '/ring_bell {"times": 3}',
  "day/35": '/tide_table {"day": "tomorrow"}\n/tide_table {"day": '
}

const withFaults = (script: string): string =>
  script
    .split("\n")
    .map((line) => {
      const [id, text] = Object.entries(faults).find(([each]) => line.includes(`"id": "${each}"`)) ?? []
      return id === undefined ? line : JSON.stringify({ ...(JSON.parse(line) as object), text })
    })
    .join("\n")

type Told<Type extends NoticeType> = Extract<Notice, { readonly type: Type }>

export class PlayedDay {
  readonly letters: ReadonlyArray<ScriptLine>
  readonly fleet: Fleet
  readonly first: Played
  readonly #notices: ReadonlyArray<Notice>

  private constructor(letters: ReadonlyArray<ScriptLine>, fleet: Fleet, first: Played, notices: ReadonlyArray<Notice>) {
    this.letters = letters
    this.fleet = fleet
    this.first = first
    this.#notices = notices
  }

  static async play(): Promise<PlayedDay> {
    const script = await readFile(new URL("../day.jsonl", import.meta.url), "utf8")
    const { letters, problems } = readScript(withFaults(script), harbor)
    assert.deepStrictEqual(problems, [])
    const notices: Array<Notice> = []
    const fleet = await Fleet.open({
      fleet: harbor,
      data: ":memory:",
      model: "offline",
      onNotice: (notice) => notices.push(notice)
    })
    const first = await play(fleet, letters)
    await fleet.idle({ patienceMs: PATIENCE_MILLIS })
    return new PlayedDay(letters, fleet, first, notices)
  }

  async again(): Promise<Played> {
    const second = await play(this.fleet, this.letters)
    await this.fleet.idle({ patienceMs: PATIENCE_MILLIS })
    return second
  }

  /** How much was told so far. */
  get length(): number {
    return this.#notices.length
  }

  told<Type extends NoticeType>(type: Type, assistant?: string): ReadonlyArray<Told<Type>> {
    return this.#notices.filter(
      (notice): notice is Told<Type> =>
        notice.type === type && (assistant === undefined || notice.address.assistant === assistant)
    )
  }

  replies(outcome: string, assistant?: string): ReadonlyArray<string> {
    return this.told("tick-ended", assistant)
      .filter((notice) => notice.outcome === outcome)
      .map(({ reply }) => reply)
  }

  results(tool: string, ok: boolean): ReadonlyArray<string> {
    return this.told("tool-finished")
      .filter((notice) => notice.tool === tool && notice.ok === ok)
      .map(({ content }) => content)
  }

  /** The results of a tool that answers in JSON. */
  answers(tool: string): ReadonlyArray<{ readonly [key: string]: unknown }> {
    return this.results(tool, true).map((content) => JSON.parse(content) as { readonly [key: string]: unknown })
  }

  /** The tick whose message has these words. */
  tickOf(assistant: string, words: string): number {
    const started = this.told("tick-started", assistant).filter(({ text = "" }) => text.includes(words))
    assert.strictEqual(started.length, 1, `ticks of ${assistant} about: ${words}`)
    return started[0]?.tick ?? 0
  }

  /** The records of one kind, by key. */
  async records(assistant: string, kind: RecordKind): Promise<ReadonlyMap<string, unknown>> {
    return new Map((await this.fleet.memory.records(assistant, [kind])).map(({ key, value }) => [key, value]))
  }

  /** The keys of what the model was shown. */
  async parts(assistant: string, tick: number, iteration: number = 1): Promise<ReadonlyArray<string>> {
    const report = await this.fleet.history.contextReport(assistant, { tick, iteration })
    return report?.parts.map(({ key }) => key) ?? []
  }
}

export const includesOne = (texts: ReadonlyArray<string>, part: string): void =>
  assert.strictEqual(
    texts.filter((text) => text.includes(part)).length,
    1,
    `one of\n${texts.join("\n")}\nwith: ${part}`
  )
