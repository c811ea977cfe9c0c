// ChatRig: runs of AG-UI over a real server, read as a client reads them.
// Owns reading a stream of events and holding each against the schemas of the protocol. Leaves what is asserted to the test.

import { EventSchema } from "@ag-ui/core/schemas"
import { assert } from "vitest"
import { openServer, type RunningServer, type Token } from "../../src/index.ts"
import type { Fleet } from "reverie"

export interface Told {
  readonly type: string
  readonly [key: string]: unknown
}

const tokens: ReadonlyArray<Token> = ["north", "south"].map((tenant) => ({
  name: `token of ${tenant}`,
  tenant,
  secret: `${tenant}-secret-secret`,
  readOnly: false
}))

export const serve = (fleet: Fleet, trouble: Array<string> = []): Promise<RunningServer> =>
  openServer({ fleet, role: "all", tokens, onTrouble: (line) => trouble.push(line) })

export const headersOf = (tenant: string): Record<string, string> => ({
  authorization: `Bearer ${tenant}-secret-secret`,
  "content-type": "application/json"
})

/** The events of a stream, as they come. */
export async function* eventsIn(response: Response): AsyncGenerator<Told> {
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/)
  let text = ""
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    const frames = text.split("\n\n")
    text = frames.pop() ?? ""
    for (const frame of frames) {
      if (frame.startsWith(":")) continue
      assert.match(frame, /^data: [^\n]*$/)
      const event: unknown = JSON.parse(frame.slice("data: ".length))
      const parsed = EventSchema.safeParse(event)
      assert.isTrue(parsed.success, `${JSON.stringify(event)}: ${String(parsed.error)}`)
      yield event as Told
    }
  }
  assert.strictEqual(text, "")
}

/** What is wrong with the order of the events of a run that has ended. */
export const flawsOf = (events: ReadonlyArray<Told>): ReadonlyArray<string> => {
  const flaws: Array<string> = []
  const open = { message: new Set<unknown>(), call: new Set<unknown>(), step: new Set<unknown>() }
  const known = new Set<unknown>()
  const opens = (kind: keyof typeof open, id: unknown) => {
    if (open[kind].has(id)) flaws.push(`${kind} ${String(id)} is opened twice`)
    open[kind].add(id)
    known.add(id)
  }
  const closes = (kind: keyof typeof open, id: unknown) => {
    if (!open[kind].delete(id)) flaws.push(`${kind} ${String(id)} is closed and was not open`)
  }
  const needs = (kind: keyof typeof open, id: unknown) => {
    if (!open[kind].has(id)) flaws.push(`${kind} ${String(id)} goes on and was not open`)
  }
  for (const [index, { messageId, stepName, toolCallId, type }] of events.entries()) {
    const isEnd = type === "RUN_FINISHED" || type === "RUN_ERROR"
    if ((type === "RUN_STARTED") !== (index === 0)) flaws.push(`${type} at ${index}`)
    if (isEnd !== (index === events.length - 1)) flaws.push(`${type} at ${index} of ${events.length}`)
    if (isEnd) for (const [kind, ids] of Object.entries(open)) if (ids.size > 0) flaws.push(`a ${kind} is left open`)
    if (type === "TEXT_MESSAGE_START") opens("message", messageId)
    if (type === "TEXT_MESSAGE_CONTENT") needs("message", messageId)
    if (type === "TEXT_MESSAGE_END") closes("message", messageId)
    if (type === "TOOL_CALL_START") opens("call", toolCallId)
    if (type === "TOOL_CALL_ARGS") needs("call", toolCallId)
    if (type === "TOOL_CALL_END") closes("call", toolCallId)
    if (type === "TOOL_CALL_RESULT" && !known.has(toolCallId)) flaws.push(`a result of no call ${String(toolCallId)}`)
    if (type === "STEP_STARTED") opens("step", stepName)
    if (type === "STEP_FINISHED") closes("step", stepName)
  }
  return flaws
}

export const allIn = async (response: Response): Promise<ReadonlyArray<Told>> => {
  const events = await Array.fromAsync(eventsIn(response))
  assert.deepStrictEqual(flawsOf(events), [])
  return events
}

/** The texts of its messages, in their order. */
export const textsIn = (events: ReadonlyArray<Told>): ReadonlyArray<string> => {
  const texts = new Map<unknown, string>()
  for (const { delta, messageId, type } of events) {
    if (type === "TEXT_MESSAGE_START") texts.set(messageId, "")
    if (type === "TEXT_MESSAGE_CONTENT") texts.set(messageId, `${texts.get(messageId) ?? ""}${String(delta)}`)
  }
  return [...texts.values()]
}

export const chatOf = (url: string, tenant = "north") => ({
  run: (
    assistant: string,
    runId: string,
    text: unknown,
    signal?: AbortSignal,
    more: Readonly<Record<string, unknown>> = {}
  ): Promise<Response> =>
    fetch(`${url}/v1/agui/${assistant}`, {
      method: "POST",
      headers: headersOf(tenant),
      body: JSON.stringify({
        threadId: "thread",
        runId,
        state: {},
        tools: [],
        context: [],
        forwardedProps: {},
        messages: [
          { id: "m0", role: "user", content: "An older one." },
          { id: "m1", role: "assistant", content: "Yes." },
          { id: "m2", role: "user", content: text }
        ],
        ...more
      }),
      ...(signal === undefined ? {} : { signal })
    }),
  answers: (assistant: string, envelope: string, signal?: AbortSignal): Promise<Response> =>
    fetch(`${url}/v1/assistants/${assistant}/answers/${encodeURIComponent(envelope)}`, {
      headers: headersOf(tenant),
      ...(signal === undefined ? {} : { signal })
    })
})
