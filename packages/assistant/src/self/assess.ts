// Assess: how hard a task is, and what a tick needs for it.
// Owns the heuristic, and reading the same assessment out of a model's answer. Leaves narrowing to the execution pattern.
// I1  The same event gives the same assessment; every event gives one.
// I2  A model's answer that does not fit becomes the heuristic's, part by part: no part is ever invented.
// I3  A class that needs one action gets one: observation and movement; a query two; a goal action a loop.
// I4  A long text costs no more than its beginning and its end.

import { isJsonObject, type Json, jsonIn } from "@reverie/protocol"
import type { Assessment, ContextSignals } from "../patterns/select-pattern.ts"

export const eventClasses = [
  "communication",
  "building",
  "observation",
  "movement",
  "query",
  "goal_action",
  "unknown"
] as const
export type EventClass = (typeof eventClasses)[number]

/** Names as on the wire; the layers of the execution pattern can only restrict by it. */
export interface TaskAssessment {
  /** 1 to 5. */
  readonly complexity: number
  readonly event_class: EventClass
  readonly recommended_mode: "single_action" | "react_loop"
  /** 1 to 10; 10 restricts nothing. */
  readonly recommended_iterations: number
  readonly recommend_confirm_dangerous: boolean
}

/** What is assessed: the event's type and the words that came with it. */
export interface Task {
  readonly type: string
  readonly text: string
}

/** The first class whose words stand in the text. Doing comes before asking: "Can you build a pier?" is no query. */
const wordsByClass: ReadonlyArray<readonly [EventClass, RegExp]> = [
  ["goal_action", /\b(?:goals?|subtasks?|milestones?|projects?|your plan)\b/i],
  ["building", /\b(?:build|create|construct|make|repair|write|draw up|install|dig|design|set up|compose)\b/i],
  ["movement", /\b(?:go to|go north|go south|go east|go west|walk|move|travel|follow|return to|enter|leave)\b/i],
  ["observation", /\b(?:look|watch|inspect|examine|observe|listen|check on|survey)\b/i],
  [
    "query",
    /\?|^\s*(?:who|what|when|where|why|how|which|is|are|does|do|did|can|could|will)\b|\b(?:find out|search|tell me|list|explain)\b/i
  ],
  [
    "communication",
    /\b(?:hello|hi|hey|thanks|thank you|good (?:morning|evening|day|night)|say|greet|reply|answer|whisper|welcome|goodbye|bye)\b/i
  ]
]

/** Events that carry no words of a person. */
const classByType: Readonly<Record<string, EventClass>> = { timer: "goal_action", report: "unknown", sleep: "unknown" }

/** Of a longer text the beginning and the end are read: what was pasted stands between them. In UTF-16 units each. */
const READ_CHARS = 4_000

const readPart = (text: string): string =>
  text.length <= 2 * READ_CHARS ? text : `${text.slice(0, READ_CHARS)}\n${text.slice(-READ_CHARS)}`

export const eventClassOf = ({ text, type }: Task): EventClass => {
  const read = readPart(text)
  return classByType[type] ?? wordsByClass.find(([, words]) => words.test(read))?.[0] ?? "unknown"
}

const sequence = /\b(?:then|after that|afterwards|first|second|finally|next|before|once|until)\b/gi
const breadth = /\b(?:all|every|each|whole|entire|several|plan|organi[sz]e|compare|coordinate)\b/gi
const sentences = /[.!?;](?:\s|$)|\n/g

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** 1, and one more each for length, for steps that follow one another, for breadth, and for many sentences. */
export const complexityOf = (text: string): number => {
  const read = readPart(text)
  return Math.min(
    5,
    1 +
      (text.length > 240 ? 1 : 0) +
      Math.min(2, count(read, sequence)) +
      Math.min(1, count(read, breadth)) +
      (count(read, sentences) > 3 ? 1 : 0)
  )
}

type Recommended = Pick<TaskAssessment, "recommended_mode" | "recommended_iterations">

const iterationsByComplexity = [1, 1, 1, 3, 5, 10] as const

const recommended = (complexity: number, event_class: EventClass): Recommended => {
  const iterations = iterationsByComplexity[complexity] ?? 1
  if (event_class === "observation" || event_class === "movement") return single
  if (event_class === "query") return { recommended_mode: "react_loop", recommended_iterations: 2 }
  if (event_class === "goal_action") {
    return { recommended_mode: "react_loop", recommended_iterations: Math.max(3, iterations) }
  }
  return complexity <= 2 ? single : { recommended_mode: "react_loop", recommended_iterations: iterations }
}

const single: Recommended = { recommended_mode: "single_action", recommended_iterations: 1 }

const assessment = (complexity: number, event_class: EventClass): TaskAssessment => ({
  complexity,
  event_class,
  ...recommended(complexity, event_class),
  recommend_confirm_dangerous: event_class === "building"
})

/** The assessment that needs no model. */
export const assessTask = (task: Task): TaskAssessment => assessment(complexityOf(task.text), eventClassOf(task))

/** What a model is asked that shall assess the task. */
export const assessmentText = ({ text, type }: Task): string =>
  [
    "Assess this task. Answer with one JSON object and nothing else:",
    `{"complexity": 1 to 5, "event_class": one of ${eventClasses.join(", ")},`,
    ' "recommended_mode": "single_action" or "react_loop", "recommended_iterations": 1 to 10,',
    ' "recommend_confirm_dangerous": true or false}',
    "",
    `Event: ${type}`,
    `Task: ${text}`
  ].join("\n")

const wholeWithin = (value: Json | undefined, most: number): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most ? value : undefined

const modes = ["single_action", "react_loop"] as const

/** The model's assessment; each part that is missing or out of range is the heuristic's. */
export const readAssessment = (answer: string, task: Task): TaskAssessment => {
  const value = jsonIn(answer)
  if (!isJsonObject(value)) return assessTask(task)
  const complexity = wholeWithin(value["complexity"], 5) ?? complexityOf(task.text)
  const event_class = eventClasses.find((each) => each === value["event_class"]) ?? eventClassOf(task)
  const base = assessment(complexity, event_class)
  const mode = modes.find((each) => each === value["recommended_mode"]) ?? base.recommended_mode
  const iterations = wholeWithin(value["recommended_iterations"], 10) ?? base.recommended_iterations
  const confirm = value["recommend_confirm_dangerous"]
  return {
    ...base,
    recommended_mode: mode,
    recommended_iterations: mode === "single_action" ? 1 : iterations,
    recommend_confirm_dangerous: typeof confirm === "boolean" ? confirm : base.recommend_confirm_dangerous
  }
}

/** The assessment as the third layer of the execution pattern, beside what else is known of the moment. */
export const assessmentLayer = (
  { event_class, recommend_confirm_dangerous, recommended_iterations, recommended_mode }: TaskAssessment,
  by: "model" | "heuristic",
  signals: ContextSignals = {}
): Assessment => ({
  by,
  recommended_iterations,
  recommended_mode,
  recommend_confirm_dangerous,
  context_signals: { ...signals, event_class }
})
