// Fields: what may be changed of a tick: its instructions, its model, the results of its tools.
// P1  Each field begins with what was recorded, and says when it is not that any more; one press brings the recorded words back.

import type { ReactNode } from "react"
import { Visible } from "../../parts/text.tsx"
import { Section } from "../../parts/page.tsx"
import { type Beginning, callsOf, changedPrompt, type Draft, type TickView } from "./draft.ts"

export interface FieldsProps {
  readonly draft: Draft
  readonly beginning: Beginning
  readonly tick: TickView
  readonly onDraft: (next: Partial<Draft>) => void
}

const MAX_CHARS = 100_000

const Changed = ({ onReset, what }: { readonly what: string; readonly onReset: () => void }) => (
  <span className="flex items-center gap-2 text-warn" data-changed={what}>
    changed
    <button type="button" className="button button-small" onClick={onReset} aria-label={`As recorded: ${what}`}>
      As recorded
    </button>
  </span>
)

const Label = ({
  children,
  side,
  to
}: {
  readonly to: string
  readonly side: ReactNode
  readonly children: ReactNode
}) => (
  <span className="flex min-h-7 flex-wrap items-center justify-between gap-x-3 gap-y-1">
    <label htmlFor={to} className="min-w-0 break-words text-ink-2">
      {children}
    </label>
    {side}
  </span>
)

const PromptField = ({ beginning, draft, onDraft }: FieldsProps) => {
  const { instructions } = beginning
  const isChanged = changedPrompt(draft, beginning) !== undefined
  return (
    <div className="space-y-1">
      <Label
        to="fork-prompt"
        side={isChanged ? <Changed what="prompt" onReset={() => onDraft({ prompt: instructions })} /> : null}
      >
        Instructions
      </Label>
      <textarea
        id="fork-prompt"
        className="field fork-prompt block w-full font-mono text-[0.893rem]"
        rows={12}
        maxLength={MAX_CHARS}
        value={draft.prompt ?? instructions}
        onChange={({ target }) => onDraft({ prompt: target.value })}
        spellCheck={false}
      />
      <p className="label">
        The template around them, persona, memory and conversation stay as they were in this run. An empty text counts
        as unchanged.
      </p>
    </div>
  )
}

const ModelField = ({ draft, onDraft, tick }: FieldsProps) => {
  const then = [...new Set(tick.models.flatMap(({ model }) => (model === undefined ? [] : [model])))]
  const own = then.length === 0 ? "its own" : `its own; then ${then.join(", ")}`
  return (
    <div className="space-y-1">
      <Label to="fork-model" side={null}>
        Model
      </Label>
      <input
        id="fork-model"
        className="field w-full"
        name="model"
        list="fork-models"
        placeholder={own}
        maxLength={200}
        autoComplete="off"
        value={draft.model}
        onChange={({ target }) => onDraft({ model: target.value })}
      />
      <datalist id="fork-models">
        {[...new Set([...then, "offline", "recorded"])].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <p className="label">
        A name asks that model of the server that is configured; offline asks the stand-in, recorded gives the recorded
        replies again.
      </p>
    </div>
  )
}

const EveryCall = ({
  draft: { everyCall },
  onDraft,
  tool
}: Pick<FieldsProps, "draft" | "onDraft"> & { readonly tool: string }) => (
  <label className="label flex items-center gap-1.5" data-every-call={tool}>
    <input
      type="checkbox"
      checked={everyCall.includes(tool)}
      onChange={({ target }) =>
        onDraft({ everyCall: target.checked ? [...everyCall, tool] : everyCall.filter((each) => each !== tool) })
      }
    />
    <span>
      also for calls of <Visible text={tool} /> with other arguments
    </span>
  </label>
)

const ResultFields = ({ draft, onDraft, tick }: FieldsProps) => {
  const { results } = draft
  const calls = callsOf(tick)
  const set = (call: string, content: string) => onDraft({ results: { ...results, [call]: content } })
  return calls.map(({ arguments: args = "", call, result = "", tool }, at) => {
    const text = results[call] ?? result
    return (
      <div key={call} className="space-y-1" data-result-of={call}>
        <Label
          to={`fork-result-${at}`}
          side={text === result ? null : <Changed what={`result ${at + 1}`} onReset={() => set(call, result)} />}
        >
          <span className="font-mono text-[0.893rem] text-ink">
            <Visible text={`${tool}(${args.length > 300 ? `${args.slice(0, 300)}…` : args})`} />
          </span>
        </Label>
        <textarea
          id={`fork-result-${at}`}
          className="field block w-full font-mono text-[0.893rem]"
          rows={Math.min(6, Math.max(2, Math.ceil(text.length / 70)))}
          maxLength={MAX_CHARS}
          value={text}
          onChange={({ target }) => set(call, target.value)}
          spellCheck={false}
        />
        {calls.findIndex((each) => each.tool === tool) === at ? (
          <EveryCall draft={draft} onDraft={onDraft} tool={tool} />
        ) : null}
      </div>
    )
  })
}

const ExtraFields = ({ draft: { extra }, onDraft }: FieldsProps) => {
  const set = (at: number, next: Partial<Draft["extra"][number]>) =>
    onDraft({ extra: extra.map((each, n) => (n === at ? { ...each, ...next } : each)) })
  return (
    <>
      {extra.map(({ answer, tool }, at) => (
        <div key={at} className="grid grid-cols-[minmax(0,10rem)_minmax(0,1fr)_auto] items-start gap-2">
          <input
            className="field font-mono"
            aria-label={`Other tool ${at + 1}`}
            placeholder="tool"
            maxLength={200}
            value={tool}
            onChange={({ target }) => set(at, { tool: target.value })}
          />
          <textarea
            className="field font-mono text-[0.893rem]"
            aria-label={`Result of other tool ${at + 1}`}
            placeholder="its result, for every call"
            rows={2}
            maxLength={MAX_CHARS}
            value={answer}
            onChange={({ target }) => set(at, { answer: target.value })}
          />
          <button
            type="button"
            className="button button-small"
            onClick={() => onDraft({ extra: extra.filter((_, n) => n !== at) })}
            aria-label={`Remove other tool ${at + 1}`}
          >
            ×
          </button>
        </div>
      ))}
      <button
        type="button"
        className="button button-small"
        onClick={() => onDraft({ extra: [...extra, { tool: "", answer: "" }] })}
        data-add-stub=""
      >
        + result of another tool
      </button>
    </>
  )
}

export const Fields = ({ beneath, ...props }: FieldsProps & { readonly beneath: ReactNode }) => {
  const calls = callsOf(props.tick)
  return (
    <div className="min-w-0 space-y-4">
      <Section title="Prompt and model">
        <div className="space-y-3 p-3">
          <PromptField {...props} />
          <ModelField {...props} />
          {beneath}
        </div>
      </Section>
      <Section title="Results of tools" side={<span className="label">No tool runs.</span>}>
        <div className="space-y-3 p-3" data-results={calls.length}>
          <p className="label">
            {calls.length === 0
              ? "No tool was called in this run. A call that is not recorded is refused."
              : "What was recorded. Change a result, and that call is answered with it. A call that is not recorded is refused, unless its tool has a result for every call."}
          </p>
          <ResultFields {...props} />
          <ExtraFields {...props} />
        </div>
      </Section>
    </div>
  )
}
