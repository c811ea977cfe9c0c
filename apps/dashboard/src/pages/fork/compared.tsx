// Compared: two ways through one tick, side by side; what differs is marked.

import { type ReactNode, useMemo } from "react"
import { Chip } from "../../parts/chip.tsx"
import { diffWords } from "../../parts/structured/diff-view.tsx"
import { count, spentText } from "../../parts/format.ts"
import { JsonView } from "../../parts/structured/json.tsx"
import { Section } from "../../parts/page.tsx"
import { Visible } from "../../parts/text.tsx"
import { outcomeText } from "../timeline/search.ts"
import { type Call, callsText, type Difference, differenceOf, type Digest, type Fork, type Part } from "./digest.ts"

// Answers: the old and the new one beside each other, with the words that went and those that came.

type Side = "gone" | "new"

const marks = { gone: "del", new: "ins" } as const

/** The blanks before a word are not part of what one sees of it, unless there is nothing else. */
const Marked = ({ side, text }: { readonly side: Side; readonly text: string }) => {
  const Mark = marks[side]
  const word = text.trimStart()
  const blanks = word === "" ? "" : text.slice(0, text.length - word.length)
  return (
    <>
      {blanks}
      <Mark className="word-mark" data-word={side}>
        <Visible text={word === "" ? text : word} />
      </Mark>
    </>
  )
}

const Answer = ({
  before,
  after,
  side,
  title
}: {
  readonly title: string
  readonly side: Side
  readonly before: string
  readonly after: string
}) => {
  const words = useMemo(() => diffWords(before, after), [before, after])
  const own = side === "gone" ? before : after
  return (
    <div className="min-w-0" data-answer={side}>
      <h3 className="pb-1 text-ink-2">{title}</h3>
      {own === "" ? (
        <p className="text-ink-3">said nothing</p>
      ) : (
        <pre className="viewer max-h-[32rem]" tabIndex={0} role="region" aria-label={title}>
          {words.map((word, at) =>
            word.kind === "same" ? (
              <Visible key={at} text={word.text} />
            ) : word.kind === side ? (
              <Marked key={at} side={side} text={word.text} />
            ) : null
          )}
        </pre>
      )}
    </div>
  )
}

const Calls = ({ calls }: { readonly calls: ReadonlyArray<Call> }) =>
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
      <Visible text={unfinished === undefined ? outcomeText(outcome) : `${outcomeText(outcome)}: ${unfinished}`} />
    )
  },
  {
    what: "calls",
    title: "Tools",
    said: callsText,
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
    said: (digest) => costOf(digest),
    show: (digest) => costOf(digest)
  },
  {
    what: "iterations",
    title: "Steps",
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
    what: "sends",
    title: "Written to others",
    said: ({ sends }) => JSON.stringify(sends),
    show: ({ sends }) => <Lines of={sends.map(({ text, to, type }) => `${type} to ${to}: ${text}`)} />
  }
]

/** In the words of every other page: a call that failed costs nothing. */
export const costOf = ({ costMicros, failures, modelCalls, unpricedCalls }: Digest): string =>
  spentText({ calls: modelCalls - failures.length, costMicros, unpricedCalls })

const Row = ({
  one,
  other,
  row: { said, show, title, what }
}: {
  readonly one: Digest
  readonly other: Digest
  readonly row: (typeof rows)[number]
}) => {
  const differs = said(one) !== said(other)
  return (
    <tr data-compared={what} data-differs={differs ? "" : undefined}>
      <th scope="row">
        {title}
        {differs ? <span className="block text-warn">differs</span> : null}
      </th>
      <td>{show(one)}</td>
      <td>{show(other)}</td>
    </tr>
  )
}

// Parts: what the prompts of both consisted of.

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

const PromptParts = ({ one, other }: { readonly one: Digest; readonly other: Digest }) => {
  const calls = Math.max(one.contexts.length, other.contexts.length)
  return Array.from({ length: calls }, (_, call) => (
    <table key={call} className="plain-table tight-table border-t border-line" data-context-call={call + 1}>
      <thead>
        <tr>
          <th scope="col">Tokens in the prompt of call {call + 1}</th>
          {["Then", "Now", "Change"].map((title) => (
            <th key={title} scope="col" data-align="end">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {partPairs(one.contexts[call]?.parts, other.contexts[call]?.parts).map(({ key, tokens: [was, is] }) => (
          <tr key={key} data-part={key} data-differs={was === is ? undefined : ""}>
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

interface ComparedProps {
  readonly fork: Fork
  readonly title: string
  readonly side: ReactNode
}

const FEW = 3

/** As far as there is room: the table marks all of them. */
const inShort = (names: ReadonlyArray<string>): string =>
  names.length <= FEW ? names.join(", ") : `${names.slice(0, FEW - 1).join(", ")} and ${names.length - FEW + 1} more`

const Verdict = ({ differs }: Pick<Difference, "differs">) => (
  <span data-fork-differs={differs.join(" ")} title={differs.join(", ")}>
    {differs.length === 0 ? (
      <Chip tone="good" text="nothing differs" />
    ) : (
      <Chip tone="waiting" text={`differs in ${inShort(differs)}`} />
    )}
  </span>
)

export const Compared = ({ fork, side, title }: ComparedProps) => {
  const { differs, one, other } = differenceOf(fork)
  const answers = { before: one.reply, after: other.reply }
  return (
    <Section
      title={title}
      className="overflow-x-auto"
      side={
        <span className="flex flex-wrap items-center gap-2">
          <Verdict differs={differs} />
          {side}
        </span>
      }
    >
      <div
        className="grid gap-3 p-3 md:grid-cols-2"
        data-compared="reply"
        data-differs={one.reply === other.reply ? undefined : ""}
      >
        <Answer title="Answer then" side="gone" {...answers} />
        <Answer title="Answer now" side="new" {...answers} />
      </div>
      <table className="plain-table fork-table border-t border-line">
        <thead>
          <tr>
            <th scope="col">
              <span className="sr-only">What is compared</span>
            </th>
            <th scope="col">Then</th>
            <th scope="col">Now</th>
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
          <JsonView value={fork.original} label="Then" />
          <JsonView value={fork.forked} label="Now" />
        </div>
      </details>
    </Section>
  )
}
