// Draft: what is changed of a tick before it is run again.
// Owns its form, what of it is asked for, and keeping it while one looks at other pages. Leaves asking to runs.ts.
// D1  Only what was changed is asked for: a text that stands as it was recorded is not sent, so the recorded one is used whole.
// D2  Results of single calls are of their tick; a run over other ticks takes prompt and model along, and nothing else.

import { defined } from "../../api/defined.ts"
import type { Answer, Asked } from "../../api/contract.ts"

export type Beginning = Answer<"GET /v1/assistants/:id/forks/:tick">
export type TickView = Answer<"GET /v1/assistants/:id/ticks/:tick">
export type Payload = Asked<"POST /v1/assistants/:id/forks">["payload"]

export interface ExtraStub {
  readonly tool: string
  readonly answer: string
}

export interface Draft {
  /** Absent as long as no one has touched it. */
  readonly prompt?: string
  readonly model: string
  /** Results that were edited, by the id of their call. */
  readonly results: { readonly [call: string]: string }
  /** Tools whose first result answers every call of them, whatever its arguments. */
  readonly everyCall: ReadonlyArray<string>
  /** Results of tools that were not called then. */
  readonly extra: ReadonlyArray<ExtraStub>
}

export const untouched: Draft = { model: "", results: {}, everyCall: [], extra: [] }

/** While the page is open: one looks at the timeline and comes back to one's words. */
const kept = new Map<string, Draft>()
const MOST_KEPT = 50

const keyOf = (id: string, tick: number): string => JSON.stringify([id, tick])

export const draftOf = (id: string, tick: number): Draft => kept.get(keyOf(id, tick)) ?? untouched

export const keepDraft = (id: string, tick: number, draft: Draft): void => {
  kept.delete(keyOf(id, tick))
  kept.set(keyOf(id, tick), draft)
  const [oldest] = kept.keys()
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
}

export const changedPrompt = ({ prompt }: Draft, { instructions }: Pick<Beginning, "instructions">) =>
  prompt === undefined || prompt === instructions || prompt.trim() === "" ? undefined : prompt

/** The recorded runs of tools that a result can take the place of. */
export const callsOf = ({ tools }: Pick<TickView, "tools">) => tools.filter(({ result }) => result !== undefined)

const editedResults = ({ results }: Draft, tick: Pick<TickView, "tools">) =>
  callsOf(tick).flatMap(({ call, result, tool }) => {
    const content = results[call]
    return content === undefined || content === result ? [] : [{ call, tool, content }]
  })

/** Results by the name of their tool: those of tools that were called, and others; what is written last counts. */
const stubsOf = ({ everyCall, extra, results }: Draft, tick: Pick<TickView, "tools">) => {
  const recorded = everyCall.flatMap((name) => {
    const first = callsOf(tick).find(({ tool }) => tool === name)
    return first === undefined ? [] : [[name, results[first.call] ?? first.result ?? ""] as const]
  })
  const others = extra
    .filter(({ tool }) => tool.trim() !== "")
    .map(({ answer, tool }) => [tool.trim(), answer] as const)
  return [...recorded, ...others]
}

/** What of a tick is changed, as the API takes it. */
export const changesOf = (draft: Draft, beginning: Beginning, tick: Pick<TickView, "tools">) => {
  const results = editedResults(draft, tick)
  const stubs = stubsOf(draft, tick)
  return defined({
    prompt: changedPrompt(draft, beginning),
    results: results.length === 0 ? undefined : results,
    stubs: stubs.length === 0 ? undefined : Object.fromEntries(stubs)
  })
}

const modelOf = ({ model }: Draft): string | undefined => (model.trim() === "" ? undefined : model.trim())

export const payloadOf = (draft: Draft, beginning: Beginning, tick: TickView): Payload => ({
  tick: beginning.tick,
  ...changesOf(draft, beginning, tick),
  ...defined({ model: modelOf(draft) })
})

/** The same change for another tick (D2). */
export const payloadFor = (draft: Draft, beginning: Beginning, tick: number): Payload => ({
  tick,
  ...defined({ prompt: changedPrompt(draft, beginning), model: modelOf(draft) })
})

/** A text as a template of the registry: its braces are braces, and no gaps. */
export const asTemplate = (text: string): string => text.replaceAll("{", "{{").replaceAll("}", "}}")

export const fromTemplate = (text: string): string => text.replaceAll("{{", "{").replaceAll("}}", "}")
