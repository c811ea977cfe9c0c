// Definitions: what assistants can be created from, to be read: instructions as text, tools, hours of sleep and limits as tables.
// D1  What this page has no words for stands in the JSON of the definition, which is whole.

import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import type { Answer } from "../../api/contract.ts"
import { Chip } from "../../parts/chip.tsx"
import { count, many } from "../../parts/format.ts"
import { JsonView } from "../../parts/structured/json.tsx"
import { Section } from "../../parts/page.tsx"
import { Empty } from "../../parts/states.tsx"
import { TextView, Visible } from "../../parts/text.tsx"
import { duration } from "../../parts/time.tsx"
import { Kinds } from "./kinds.tsx"

type Definition = Answer<"GET /v1/system">["definitions"][number]

interface ToolShown {
  readonly name: string
  readonly category: string
  readonly description: string
  readonly idempotent: boolean
  readonly timeoutMs: number
}

interface SleepShown {
  readonly enabled: boolean
  readonly sleepStartHour: number
  readonly sleepDurationHours: number
  readonly tickRateSleepSeconds: number
  readonly timeZone: string
}

/** What is read of it here; of a definition of others, or for a token that may only look, less is there. */
interface Shown {
  readonly tags?: ReadonlyArray<string>
  readonly systemPrompt?: string
  readonly persona?: string
  readonly tools?: ReadonlyArray<ToolShown>
  readonly sleep?: SleepShown
  readonly models?: Readonly<Record<string, string>>
  readonly settings?: Readonly<Record<string, unknown>>
  readonly compaction?: Readonly<Record<string, unknown>>
  readonly maxContextTokens?: number
  readonly reservedResponseTokens?: number
  readonly blocks?: ReadonlyArray<string>
  readonly names?: ReadonlyArray<string>
  readonly specialists?: ReadonlyArray<string>
  readonly team?: {
    readonly pattern: string
    readonly members: ReadonlyArray<{ readonly id: string; readonly role: string }>
  }
}

const HOURS = 24
const clock = (hour: number): string => {
  const minutes = Math.round((hour % HOURS) * 60)
  return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`
}

const sleepText = (sleep: SleepShown | undefined): string => {
  if (sleep === undefined) return "when it is asked to"
  const { enabled, sleepDurationHours, sleepStartHour, tickRateSleepSeconds, timeZone } = sleep
  const hours = `${clock(sleepStartHour)} to ${clock(sleepStartHour + sleepDurationHours)} ${timeZone}`
  const pause = tickRateSleepSeconds === 0 ? "" : `, ${duration(tickRateSleepSeconds * 1_000)} between two steps`
  return enabled ? `${hours}${pause}` : `switched off (${hours})`
}

const Facts = ({ of }: { readonly of: Shown }) => {
  const {
    blocks = [],
    maxContextTokens,
    models = {},
    names = [],
    reservedResponseTokens,
    specialists = [],
    tags = [],
    team
  } = of
  const lists = [
    ["Tags", tags],
    ["Memory blocks", blocks],
    ["Also called", names],
    ["Specialists", specialists],
    [`Team (${team?.pattern ?? ""})`, (team?.members ?? []).map(({ id, role }) => `${id}: ${role}`)]
  ] as const
  const asked = Object.entries(models).map(([purpose, model]) => (purpose === "model" ? model : `${purpose}: ${model}`))
  const facts: ReadonlyArray<readonly [string, string]> = [
    ["Model", asked.join(", ") || "that of the deployment"],
    ["Context window", maxContextTokens === undefined ? "not reported" : `${count(maxContextTokens)} tokens`],
    [
      "Reserved for output",
      reservedResponseTokens === undefined ? "not reported" : `${count(reservedResponseTokens)} tokens`
    ],
    ["Dreams", sleepText(of.sleep)],
    ...lists.flatMap(([title, each]) => (each.length === 0 ? [] : [[title, each.join(", ")] as const]))
  ]
  return (
    <dl className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
      {facts.map(([title, value]) => (
        <div key={title} className="flex gap-3 py-0.5" data-fact={title}>
          <dt className="w-36 flex-none text-ink-2">{title}</dt>
          <dd className="min-w-0 break-words">
            <Visible text={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

const Part = ({ children, title }: { readonly title: string; readonly children: ReactNode }) => (
  <section aria-label={title} className="space-y-1">
    <h3 className="label">{title}</h3>
    {children}
  </section>
)

const Tools = ({ tools }: { readonly tools: ReadonlyArray<ToolShown> }) => (
  <table className="plain-table stack-table" data-tools-of={tools.length}>
    <thead>
      <tr>
        {["Tool", "Category", "What it does", "Timeout", "May run twice"].map((title) => (
          <th key={title} scope="col">
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {tools.map(({ category, description, idempotent, name, timeoutMs }) => (
        <tr key={name} data-tool={name}>
          <td className="font-mono">
            <Visible text={name} />
          </td>
          <td data-title="Category">
            <Chip tone="idle" text={category} />
          </td>
          <td data-title="What it does">
            <Visible text={description} />
          </td>
          <td data-title="Timeout">{duration(timeoutMs)}</td>
          <td data-title="May run twice">{idempotent ? "yes" : "no"}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

/** Settings and limits, of which those alone are said that are not the default. */
const Changed = ({ of }: { readonly of: Readonly<Record<string, unknown>> }) => (
  <table className="plain-table" data-settings={Object.keys(of).length}>
    <tbody>
      {Object.entries(of).map(([name, value]) => (
        <tr key={name} data-setting={name}>
          <th scope="row" className="w-72 font-mono font-normal max-md:w-auto">
            <Visible text={name} />
          </th>
          <td className="font-mono break-all">
            <Visible text={typeof value === "string" ? value : JSON.stringify(value)} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

const Body = ({ definition }: { readonly definition: Definition }) => {
  const of = definition as unknown as Shown
  const { compaction, persona, settings, systemPrompt, tools = [] } = of
  const changed = { ...settings, ...compaction }
  return (
    <div className="space-y-3 py-2">
      <Facts of={of} />
      <Link to="/fleet" search={{ definition: definition.name }} className="button button-small">
        Show its assistants
      </Link>
      {systemPrompt === undefined ? null : (
        <Part title="Instructions">
          <TextView text={systemPrompt} label={`Instructions of ${definition.name}`} />
        </Part>
      )}
      {persona === undefined ? null : (
        <Part title="Persona">
          <TextView text={persona} label={`Persona of ${definition.name}`} />
        </Part>
      )}
      {tools.length === 0 ? null : (
        <Part title={many(tools.length, "tool")}>
          <Tools tools={tools} />
        </Part>
      )}
      {Object.keys(changed).length === 0 ? null : (
        <Part title="Settings and limits that are not the default">
          <Changed of={changed} />
        </Part>
      )}
      {definition.contexts === undefined ? null : (
        <details className="said-more" data-contexts={definition.contexts.length}>
          <summary>{many(definition.contexts.length, "kind of context", "kinds of context")}</summary>
          <Kinds kinds={definition.contexts} of={definition.name} />
        </details>
      )}
      <details className="said-more" data-as-json="">
        <summary>as JSON</summary>
        <JsonView value={definition} label={definition.name} />
      </details>
    </div>
  )
}

const summaryOf = ({ isTeam, tools }: Shown & { readonly isTeam: boolean }): string =>
  [isTeam ? "team" : undefined, tools === undefined ? undefined : many(tools.length, "tool")]
    .filter((word) => word !== undefined)
    .join(", ")

export const Definitions = ({ definitions }: { readonly definitions: ReadonlyArray<Definition> }) => (
  <Section title="Definitions" side={<span className="label tabular">{count(definitions.length)}</span>}>
    {definitions.length === 0 ? (
      <Empty title="No definitions">This process can create no assistant: it knows no definition.</Empty>
    ) : (
      <ul>
        {definitions.map((definition) => (
          <li key={definition.name} className="border-b border-line px-3 py-1.5 last:border-b-0">
            <details className="said-more" data-definition={definition.name}>
              <summary className="text-ink">
                <span className="font-mono">
                  <Visible text={definition.name} />
                </span>{" "}
                <span className="text-ink-2">
                  {summaryOf(definition as unknown as Shown & { readonly isTeam: boolean })}
                </span>
              </summary>
              <Body definition={definition} />
            </details>
          </li>
        ))}
      </ul>
    )}
  </Section>
)
