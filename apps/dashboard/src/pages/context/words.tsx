// Words: the very text behind a piece of the bar, of one call or of two side by side.
// T1  What is not known to be exact says so.

import type { ReactNode } from "react"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { Chip } from "../../parts/chip.tsx"
import { DiffView } from "../../parts/structured/diff-view.tsx"
import { many } from "../../parts/format.ts"
import { JsonView } from "../../parts/structured/json.tsx"
import { Section } from "../../parts/page.tsx"
import { Answered } from "../../parts/states.tsx"
import { TextView, Visible } from "../../parts/text.tsx"
import { nameOf } from "./pieces.tsx"

type Prompt = Answer<"GET /v1/assistants/:id/prompt">
type Part = Prompt["parts"][number]

/** `conversation.2` is the second part of that name. */
const partNamed = ({ parts }: Prompt, open: string): Part | undefined => {
  const [, key = open, nth = "1"] = /^(.*)\.(\d+)$/.exec(open) ?? []
  return parts.find((part) => part.key === open) ?? parts.filter((part) => part.key === key)[Number(nth) - 1]
}

const textOf = (prompt: Prompt, open: string): string =>
  open === "tools"
    ? prompt.tools
        .map((tool) => `${tool.name}: ${tool.description}\n${JSON.stringify(tool.schema, null, 2)}`)
        .join("\n\n")
    : (partNamed(prompt, open)?.messages ?? []).map(({ content, role }) => `[${role}]\n${content}`).join("\n\n")

const Tools = ({ tools }: { readonly tools: Prompt["tools"] }) => (
  <ul className="divide-y divide-line">
    {tools.map((tool) => (
      <li key={tool.name} className="space-y-1 px-3 py-2" data-tool={tool.name}>
        <p className="font-mono font-medium">
          <Visible text={tool.name} />
        </p>
        <p className="text-ink-2">
          <Visible text={tool.description} />
        </p>
        <details>
          <summary>Schema</summary>
          <div className="pt-1.5">
            <JsonView value={tool.schema} label={`Schema of ${tool.name}`} />
          </div>
        </details>
      </li>
    ))}
  </ul>
)

const Messages = ({ part }: { readonly part: Part }) => (
  <ol className="space-y-3 p-3">
    {part.messages.map(({ content, role }, at) => (
      <li key={at} className="space-y-1" data-shown={at}>
        <p className="label">
          <Visible text={role} />, {many(content.length, "character")}
        </p>
        <TextView text={content} label={`Message ${at + 1} of ${part.key}`} />
      </li>
    ))}
  </ol>
)

const Exactness = ({ exact }: { readonly exact: boolean }) =>
  exact ? <Chip tone="good" text="the exact words" /> : <Chip tone="waiting" text="made again, may differ" />

const Shell = ({
  side,
  children,
  onClose,
  open
}: {
  side?: ReactNode
  children: ReactNode
  onClose: () => void
  open: string
}) => (
  <Section
    title="The raw text"
    side={
      <span className="flex items-center gap-2" data-words={open}>
        <span className="font-medium">
          <Visible text={open === "tools" ? "tool schemas" : nameOf(open)} />
        </span>
        {side}
        <button type="button" className="button button-small button-quiet" onClick={onClose} data-close-words="">
          Close
        </button>
      </span>
    }
  >
    {children}
  </Section>
)

interface WordsProps {
  readonly id: string
  readonly tick: number
  readonly iteration: number
  readonly open: string
  readonly onClose: () => void
}

const PROMPT_STALE_MILLIS = 600_000

const usePrompt = (id: string, query: { readonly tick: number; readonly iteration?: number }) =>
  // What was said once is not said otherwise later.
  useAnswer("GET /v1/assistants/:id/prompt", { params: { id }, query }, { staleMillis: PROMPT_STALE_MILLIS })

export const Words = ({ id, iteration, onClose, open, tick }: WordsProps) => {
  const prompt = usePrompt(id, { tick, iteration })
  const part = prompt.data === undefined ? undefined : partNamed(prompt.data, open)
  return (
    <Shell open={open} onClose={onClose} side={part === undefined ? null : <Exactness exact={part.exact} />}>
      <Answered of={prompt} lines={8}>
        {(found) => {
          if (open === "tools") return <Tools tools={found.tools} />
          return part === undefined ? (
            <p className="p-3 text-ink-2">This call had no such part, or its words can not be made again.</p>
          ) : (
            <Messages part={part} />
          )
        }}
      </Answered>
    </Shell>
  )
}

export const WordsOfTwo = ({
  id,
  onClose,
  open,
  tick,
  other
}: Omit<WordsProps, "iteration"> & { readonly other: number }) => {
  const [one, two] = [usePrompt(id, { tick: other }), usePrompt(id, { tick })]
  return (
    <Shell
      open={open}
      onClose={onClose}
      side={
        <span className="label">
          run {other} to run {tick}
        </span>
      }
    >
      <div className="p-3">
        <Answered of={one} lines={8}>
          {(before) => (
            <Answered of={two} lines={8}>
              {(after) => (
                <DiffView before={textOf(before, open)} after={textOf(after, open)} label={`What differs in ${open}`} />
              )}
            </Answered>
          )}
        </Answered>
      </div>
    </Shell>
  )
}
