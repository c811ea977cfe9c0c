// Forked: two ways through one tick, side by side; what differs is marked.

import type { ReactNode } from "react"
import { defined } from "../../api/defined.ts"
import type { Answer } from "../../api/contract.ts"
import { Chip } from "../../parts/chip.tsx"
import { count, money } from "../../parts/format.ts"
import { JsonView } from "../../parts/json.tsx"
import { Section } from "../../parts/page.tsx"
import { TextView, Visible } from "../../parts/text.tsx"

// Digest: what a fork says of the two ways through a tick, read with care.
// D1  What is not as expected is left out; the page shows the JSON besides.

interface Call {
  readonly tool: string
  readonly arguments: string
  readonly result?: string
  readonly answeredBy?: string
}

interface Part {
  readonly key: string
  readonly tokens: number
}

interface Digest {
  readonly outcome: string
  readonly unfinished?: string
  readonly reply: string
  readonly iterations: number
  readonly models: ReadonlyArray<string>
  readonly modelCalls: number
  readonly failures: ReadonlyArray<string>
  readonly calls: ReadonlyArray<Call>
  readonly tokens: { readonly input: number; readonly output: number }
  readonly costMicros: number
  readonly sends: ReadonlyArray<{ readonly to: string; readonly type: string; readonly text: string }>
  readonly contexts: ReadonlyArray<{
    readonly iteration: number
    readonly tokens: number
    readonly parts: ReadonlyArray<Part>
  }>
}

const empty: Digest = {
  outcome: "",
  reply: "",
  iterations: 0,
  models: [],
  modelCalls: 0,
  failures: [],
  calls: [],
  tokens: { input: 0, output: 0 },
  costMicros: 0,
  sends: [],
  contexts: []
}

/** A value of another kind than the empty digest has in its place is not taken. */
const digestOf = (value: unknown): Digest => {
  if (typeof value !== "object" || value === null) return empty
  const known = Object.entries(empty).flatMap(([key, none]) => {
    const found: unknown = Reflect.get(value, key)
    const isAlike = typeof found === typeof none && Array.isArray(found) === Array.isArray(none) && found !== null
    return isAlike ? [[key, found] as const] : []
  })
  const unfinished: unknown = Reflect.get(value, "unfinished")
  return {
    ...empty,
    ...Object.fromEntries(known),
    ...defined({ unfinished: typeof unfinished === "string" ? unfinished : undefined })
  }
}

interface PartPair {
  readonly key: string
  readonly tokens: readonly [number | undefined, number | undefined]
}

/** The parts of two prompts, those of the first in its order, then those that only the second has. */
const partPairs = (one: ReadonlyArray<Part> = [], other: ReadonlyArray<Part> = []): ReadonlyArray<PartPair> => {
  const tokensIn = (parts: ReadonlyArray<Part>, key: string): number | undefined => {
    const same = parts.filter((part) => part.key === key)
    return same.length === 0 ? undefined : same.reduce((sum, { tokens }) => sum + tokens, 0)
  }
  const keys = new Set([...one, ...other].map(({ key }) => key))
  return [...keys].map((key) => ({ key, tokens: [tokensIn(one, key), tokensIn(other, key)] }))
}

export type Fork = Answer<"POST /v1/assistants/:id/forks">

const Calls = ({ calls }: Pick<Digest, "calls">) =>
  calls.length === 0 ? (
    <span className="text-ink-3">none</span>
  ) : (
    <ol className="space-y-1.5">
      {calls.map(({ answeredBy, arguments: args, result, tool }, n) => (
        <li key={n} className="min-w-0 break-words" data-call={tool}>
          <span className="font-mono">
            <Visible text={`${tool}(${args})`} />
          </span>
          {result === undefined ? null : (
            <span className="block text-ink-2">
              → <Visible text={result.slice(0, 2_000)} />
              {answeredBy === undefined ? null : (
                <>
                  {" "}
                  (<Visible text={answeredBy} />)
                </>
              )}
            </span>
          )}
        </li>
      ))}
    </ol>
  )

const Lines = ({ of }: { readonly of: ReadonlyArray<string> }) =>
  of.length === 0 ? (
    <span className="text-ink-3">none</span>
  ) : (
    of.map((line, n) => (
      <p key={n}>
        <Visible text={line} />
      </p>
    ))
  )

const rows: ReadonlyArray<{
  readonly what: string
  readonly title: string
  readonly show: (digest: Digest) => ReactNode
  readonly said: (digest: Digest) => string
}> = [
  {
    what: "outcome",
    title: "Outcome",
    said: ({ outcome, unfinished = "" }) => `${outcome}${unfinished}`,
    show: ({ outcome, unfinished }) => (
      <Visible text={unfinished === undefined ? outcome : `${outcome}: ${unfinished}`} />
    )
  },
  {
    what: "reply",
    title: "Reply",
    said: ({ reply }) => reply,
    show: ({ reply }) =>
      reply === "" ? <span className="text-ink-3">said nothing</span> : <TextView text={reply} label="Reply" />
  },
  {
    what: "iterations",
    title: "Iterations",
    said: ({ iterations }) => String(iterations),
    show: ({ iterations }) => iterations
  },
  { what: "models", title: "Models", said: ({ models }) => models.join(), show: ({ models }) => <Lines of={models} /> },
  {
    what: "model-calls",
    title: "Model calls",
    said: ({ modelCalls }) => String(modelCalls),
    show: ({ modelCalls }) => modelCalls
  },
  {
    what: "failures",
    title: "Failed calls",
    said: ({ failures }) => failures.join(),
    show: ({ failures }) => <Lines of={failures} />
  },
  {
    what: "calls",
    title: "Tools",
    said: ({ calls }) => JSON.stringify(calls.map(({ arguments: args, result, tool }) => [tool, args, result])),
    show: ({ calls }) => <Calls calls={calls} />
  },
  {
    what: "tokens",
    title: "Tokens",
    said: ({ tokens }) => JSON.stringify(tokens),
    show: ({ tokens }) => `${count(tokens.input)} in, ${count(tokens.output)} out`
  },
  {
    what: "cost",
    title: "Cost",
    said: ({ costMicros }) => String(costMicros),
    show: ({ costMicros }) => money(costMicros)
  },
  {
    what: "sends",
    title: "Written to others",
    said: ({ sends }) => JSON.stringify(sends),
    show: ({ sends }) => <Lines of={sends.map(({ text, to, type }) => `${type} to ${to}: ${text}`)} />
  }
]

const Row = ({
  one,
  other,
  row: { said, show, title, what }
}: {
  row: (typeof rows)[number]
  one: Digest
  other: Digest
}) => {
  const differs = said(one) !== said(other)
  return (
    <tr data-compared={what} {...(differs ? { "data-differs": "" } : {})}>
      <th scope="row">
        {title}
        {differs ? <span className="block font-semibold text-warn">differs</span> : null}
      </th>
      <td>{show(one)}</td>
      <td>{show(other)}</td>
    </tr>
  )
}

const PromptParts = ({ one, other }: { readonly one: Digest; readonly other: Digest }) => {
  const calls = Math.max(one.contexts.length, other.contexts.length)
  return Array.from({ length: calls }, (_, call) => (
    <table key={call} className="plain-table tight-table" data-context-call={call + 1}>
      <thead>
        <tr>
          <th scope="col">Prompt of call {call + 1}</th>
          {["Original", "Fork", "Change"].map((title) => (
            <th key={title} scope="col" data-align="end">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {partPairs(one.contexts[call]?.parts, other.contexts[call]?.parts).map(({ key, tokens: [was, is] }) => (
          <tr key={key} data-part={key} {...(was === is ? {} : { "data-differs": "" })}>
            <td>{key.replaceAll("_", " ")}</td>
            <td data-align="end">{was === undefined ? "–" : count(was)}</td>
            <td data-align="end">{is === undefined ? "–" : count(is)}</td>
            <td data-align="end" className={was === is ? "text-ink-3" : "font-medium text-warn"}>
              {was === is ? "=" : `${(is ?? 0) > (was ?? 0) ? "+" : "−"}${count(Math.abs((is ?? 0) - (was ?? 0)))}`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  ))
}

export const Forked = ({ fork, onExport }: { readonly fork: Fork; readonly onExport: () => void }) => {
  const [one, other] = [digestOf(fork.original), digestOf(fork.forked)]
  // `tokens: 7006 in → 6744 in`: the words stand in the table.
  const differs = fork.differs.map((each) => each.replace(/:.*$/s, ""))
  return (
    <Section
      title="Original vs fork"
      className="overflow-x-auto"
      side={
        <span className="flex flex-wrap items-center gap-2" data-fork-differs={differs.join(" ")}>
          {differs.length === 0 ? (
            <Chip tone="good" text="nothing differs" />
          ) : (
            <Chip tone="waiting" text={`differs in ${differs.join(", ")}`} />
          )}
          <button type="button" className="button button-small" onClick={onExport} data-export-fork="">
            Export as JSON
          </button>
        </span>
      }
    >
      <table className="plain-table fork-table">
        <thead>
          <tr>
            <th scope="col">
              <span className="sr-only">What is compared</span>
            </th>
            <th scope="col">Original</th>
            <th scope="col">Fork</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.what} row={row} one={one} other={other} />
          ))}
        </tbody>
      </table>
      <PromptParts one={one} other={other} />
      <details className="border-t border-line px-3 py-2">
        <summary>Everything that is reported of the two</summary>
        <div className="grid gap-2 pt-2 lg:grid-cols-2">
          <JsonView value={fork.original} label="Original" />
          <JsonView value={fork.forked} label="Fork" />
        </div>
      </details>
    </Section>
  )
}
