// Table: a team without a runtime: members that answer as a test says, in any order, in a time that only the test moves.
// Owns delivery, order and deadlines. Leaves what members say and who is away to the test.

import { createHash } from "node:crypto"
import {
  coordinate,
  NEW_TEAM,
  nextDue,
  type Pattern,
  type Standing,
  type Team,
  type TeamEvent,
  type TeamMember,
  type TeamSend,
  type TeamState
} from "../../src/index.ts"
import { type TeamAnswer } from "../../src/team/coordinate.ts"

export const seats = (ids: ReadonlyArray<string>): ReadonlyArray<TeamMember> =>
  ids.map((id) => ({ id, role: "member" as const }))

export const aTeam = (pattern: Pattern, members: ReadonlyArray<TeamMember>, over: Partial<Team> = {}): Team => ({
  id: "council",
  members,
  pattern,
  answerMs: 60_000,
  maxAsks: 64,
  ...over
})

/** What a member does with what it is asked: a text, `silent`, `failed`, or nothing at all (`never`). */
export type Said = string | { readonly outcome: "silent" | "failed" | "never" }
export type Speak = (member: string, text: string, nth: number) => Said

export interface TableOptions {
  readonly speak?: Speak
  readonly away?: Readonly<Record<string, Standing["availability"]>>
  /** Decides the order of answers. */
  readonly order?: string
}

export class Table {
  now = 1_000
  state: TeamState = NEW_TEAM
  readonly team: Team
  readonly answers: Array<TeamAnswer> = []
  readonly asks: Array<TeamSend> = []
  readonly copies: Array<TeamSend> = []
  /** Open asks of each member, and the most there have ever been. */
  readonly mostOpen = new Map<string, number>()
  steps = 0
  readonly #options: TableOptions
  #waiting: Array<TeamSend> = []

  constructor(team: Team, options: TableOptions = {}) {
    this.team = team
    this.#options = options
  }

  away: Record<string, Standing["availability"]> = {}

  #standings(): ReadonlyMap<string, Standing> {
    const away = { ...this.#options.away, ...this.away }
    return new Map(this.team.members.map(({ id }) => [id, { availability: away[id] ?? "available", waiting: 0 }]))
  }

  take(event: TeamEvent): void {
    const step = this.steps++
    const around = { standings: this.#standings(), nameSend: (index: number) => `t${step}.${index}` }
    const made = coordinate(this.team, this.state, event, around)
    // C1: made again it is the same step, and the state survives being stored.
    const again = coordinate(this.team, stored(this.state), event, around)
    if (JSON.stringify([...made.state.questions]) !== JSON.stringify([...again.state.questions])) {
      throw new Error("a step made twice is two steps")
    }
    this.state = made.state
    this.answers.push(...made.answers)
    for (const send of made.sends) (send.kind === "ask" ? this.asks : this.copies).push(send)
    this.#waiting.push(...made.sends.filter(({ kind }) => kind === "ask"))
    for (const { id } of this.team.members) {
      this.mostOpen.set(id, Math.max(this.mostOpen.get(id) ?? 0, this.openOf(id)))
    }
  }

  openOf(member: string): number {
    return [...this.state.questions.values()].flatMap(({ asks }) =>
      Object.values(asks).filter((ask) => ask.member === member)
    ).length
  }

  say(text: string, id: string = `q${this.steps}`): string {
    this.take({ type: "asked", id, text, from: "user", hops: 0, wantsAnswer: false, at: this.now })
    return id
  }

  /** One member answers; false when no one has anything to say. */
  answerOne(): boolean {
    const { order = "", speak = (_, text) => `re: ${text}` } = this.#options
    const seed = createHash("sha256").update(`${order}${this.steps}`).digest().readUInt32BE(0)
    const [ask] = this.#waiting.splice(seed % Math.max(1, this.#waiting.length), 1)
    if (ask === undefined) return false
    const said = speak(ask.to, ask.text, this.asks.filter(({ to }) => to === ask.to).length)
    if (typeof said === "object" && said.outcome === "never") return true
    const { outcome, text } =
      typeof said === "string"
        ? { outcome: "answered" as const, text: said }
        : { outcome: said.outcome as "silent", text: "" }
    this.take({ type: "answered", ask: ask.id, from: ask.to, outcome, text, at: this.now })
    return true
  }

  /** Time goes on to what is due next; false when nothing is. */
  pass(): boolean {
    const due = nextDue(this.state)
    if (due === undefined) return false
    this.now = Math.max(this.now, due)
    this.take({ type: "due", id: `due${this.steps}`, at: this.now })
    return true
  }

  /** Until nothing happens any more. */
  rest(): void {
    for (let steps = 0; this.answerOne() || this.pass(); steps++) {
      if (steps > 10_000) throw new Error("the team never comes to rest")
    }
  }

  /** The text that a question was answered with; undefined when it has no answer. */
  answerTo(id: string): string | undefined {
    return this.answers.find(({ question }) => question.id === id)?.text
  }
}

/** As the records of a team give it back. */
const stored = (state: TeamState): TeamState => {
  const { questions, ...general } = JSON.parse(JSON.stringify({ ...state, questions: [...state.questions] })) as Omit<
    TeamState,
    "questions"
  > & { readonly questions: ReadonlyArray<[string, never]> }
  return { ...general, questions: new Map(questions) }
}
