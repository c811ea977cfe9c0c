// Fork: lives a tick again with something changed. No tool runs, and no one learns of it.

import { defined } from "../../api/defined.ts"
import { useQueryClient } from "@tanstack/react-query"
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react"
import { troubleOf } from "../../api/client.ts"
import type { Answer, Asked } from "../../api/contract.ts"
import { question, useAnswer, useChange } from "../../api/questions.ts"
import { Section } from "../../parts/page.tsx"
import { Failed } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { Forked } from "./forked.tsx"
import { fileName, saveJson } from "../../parts/export/save.ts"

interface Stub {
  readonly tool: string
  readonly answer: string
}

interface Request {
  readonly prompt: string
  readonly model: string
  readonly stubs: ReadonlyArray<Stub>
}

const asIs: Request = { prompt: "", model: "", stubs: [] }

type Payload = Asked<"POST /v1/assistants/:id/forks">["payload"]

const payloadOf = (tick: number, { model, prompt, stubs }: Request): Payload => {
  const named = stubs.filter(({ tool }) => tool.trim() !== "")
  return {
    tick,
    ...defined({
      prompt: prompt.trim() === "" ? undefined : prompt,
      model: model.trim() === "" ? undefined : model.trim(),
      stubs: named.length === 0 ? undefined : Object.fromEntries(named.map(({ answer, tool }) => [tool.trim(), answer]))
    })
  }
}

interface PartProps {
  readonly id: string
  readonly tick: number
  readonly request: Request
  readonly onRequest: (next: Partial<Request>) => void
}

const PromptField = ({ id, onRequest, tick, request }: PartProps) => {
  const client = useQueryClient()
  const [trouble, setTrouble] = useState<unknown>()
  const fill = ({ parts }: Answer<"GET /v1/assistants/:id/prompt">): void => {
    const first = parts.find(({ key }) => key === "system_prompt") ?? parts[0]
    onRequest({ prompt: first?.messages.map(({ content }) => content).join("\n\n") ?? "" })
  }
  const take = () => {
    setTrouble(undefined)
    const asked = question("GET /v1/assistants/:id/prompt", {
      params: { id },
      query: { tick, iteration: 1 }
    })
    void client.fetchQuery(asked).then(fill, setTrouble)
  }
  return (
    <div className="space-y-1">
      <span className="flex items-baseline justify-between gap-2">
        <label htmlFor="fork-prompt" className="text-ink-2">
          System prompt
        </label>
        <button type="button" className="button button-small button-quiet" onClick={take} data-take-prompt="">
          Load the recorded prompt
        </button>
      </span>
      <textarea
        id="fork-prompt"
        className="field block w-full font-mono text-[0.893rem]"
        rows={7}
        maxLength={100_000}
        placeholder="unchanged"
        value={request.prompt}
        onChange={({ target }) => onRequest({ prompt: target.value })}
      />
      {trouble === undefined ? null : <Failed trouble={troubleOf(trouble)} onRetry={take} />}
    </div>
  )
}

const StubFields = ({ id, onRequest, tick, request: { stubs } }: PartProps) => {
  const then = useAnswer("GET /v1/assistants/:id/ticks/:tick", { params: { id, tick } }, { enabled: tick > 0 })
  const names = [...new Set(then.data?.tools.map(({ tool }) => tool))].filter(
    (name) => !stubs.some(({ tool }) => tool === name)
  )
  const set = (at: number, next: Partial<Stub>) =>
    onRequest({ stubs: stubs.map((stub, n) => (n === at ? { ...stub, ...next } : stub)) })
  const resultOf = (name: string) => then.data?.tools.find(({ tool }) => tool === name)?.result ?? ""
  const add = (tool: string) => onRequest({ stubs: [...stubs, { tool, answer: resultOf(tool) }] })
  return (
    <div className="space-y-1.5" data-stubs={stubs.length}>
      <span className="flex flex-wrap items-baseline gap-2">
        <span className="text-ink-2">Stubbed tool results, in place of the recorded ones</span>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            className="button button-small"
            onClick={() => add(name)}
            data-add-stub={name}
          >
            + <Visible text={name} />
          </button>
        ))}
        <button type="button" className="button button-small button-quiet" onClick={() => add("")} data-add-stub="">
          + another
        </button>
      </span>
      {stubs.map(({ answer, tool }, at) => (
        <div key={at} className="grid grid-cols-[minmax(0,12rem)_minmax(0,1fr)_auto] items-start gap-2">
          <input
            className="field font-mono"
            aria-label={`Tool ${at + 1}`}
            placeholder="tool"
            maxLength={200}
            value={tool}
            onChange={({ target }) => set(at, { tool: target.value })}
          />
          <textarea
            className="field font-mono text-[0.893rem]"
            aria-label={`Answer of tool ${at + 1}`}
            rows={2}
            maxLength={100_000}
            value={answer}
            onChange={({ target }) => set(at, { answer: target.value })}
          />
          <button
            type="button"
            className="button button-small"
            onClick={() => onRequest({ stubs: stubs.filter((_, n) => n !== at) })}
            aria-label={`Leave tool ${at + 1} as it was`}
          >
            ×
          </button>
        </div>
      ))}
    </div>
  )
}

const Head = ({
  onTick,
  tick,
  request,
  onRequest
}: Omit<PartProps, "id"> & { readonly onTick: (tick: number) => void }) => (
  <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
    <label className="flex items-center gap-2 text-ink-2">
      tick
      <input
        className="field w-24"
        name="tick"
        type="number"
        min={1}
        value={tick === 0 ? "" : tick}
        onChange={({ target }) => onTick(Math.max(0, Math.trunc(Number(target.value) || 0)))}
      />
    </label>
    <label className="flex items-center gap-2 text-ink-2">
      model
      <input
        className="field w-56"
        name="model"
        list="fork-models"
        placeholder="default model"
        maxLength={200}
        value={request.model}
        onChange={({ target }) => onRequest({ model: target.value })}
      />
      <datalist id="fork-models">
        <option value="offline" />
      </datalist>
    </label>
    <p className="text-ink-2">No tool runs, and no one learns of it.</p>
  </div>
)

interface ForkProps {
  readonly id: string
  readonly tick: number
  readonly onTick: (tick: number) => void
}

/** Comes into view where it first appears. */
const InView = ({ children }: { readonly children: ReactNode }) => {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Nothing is returned: some browsers answer with a promise, which an effect would take for its end.
    place.current?.scrollIntoView({ block: "start" })
  }, [])
  return (
    <div ref={place} className="min-w-0 scroll-my-4 space-y-4">
      {children}
    </div>
  )
}

/** The result stands beside the form, or below it where there is no room: either way it comes into view. */
export const ForkForm = ({ id, onTick, tick }: ForkProps) => {
  const [request, setRequest] = useState(asIs)
  const { data, error, isPending, mutate, submittedAt, variables } = useChange("POST /v1/assistants/:id/forks")
  const onRequest = (next: Partial<Request>) => setRequest((before) => ({ ...before, ...next }))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (tick > 0) mutate({ params: { id }, payload: payloadOf(tick, request) })
  }
  const part = { id, tick, request, onRequest }
  const isBusy = isPending || tick === 0
  return (
    <div className={`grid min-w-0 grid-cols-1 items-start gap-4 ${data === undefined ? "" : "xl:grid-cols-2"}`}>
      <Section title="Fork a run">
        <form className="space-y-3 p-3" onSubmit={submit} data-fork-form={tick}>
          <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
            <Head {...part} onTick={onTick} />
            <button type="submit" className="button button-primary" disabled={isBusy} data-fork={tick}>
              {isPending ? "Running it again…" : "Run it again"}
            </button>
          </div>
          {error === null ? null : <Failed trouble={troubleOf(error)} />}
          <PromptField {...part} />
          <StubFields {...part} />
        </form>
      </Section>
      {data === undefined ? null : (
        <InView key={submittedAt}>
          <Forked
            fork={data}
            onExport={() => saveJson(fileName("fork", id, tick), { assistant: id, asked: variables, ...data })}
          />
        </InView>
      )}
    </div>
  )
}
