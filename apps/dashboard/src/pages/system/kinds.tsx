// Kinds: the kinds of context of a definition, as a table.

import type { Answer } from "../../api/contract.ts"
import { count } from "../../parts/format.ts"
import { Visible } from "../../parts/text.tsx"
import { StackTable } from "../../parts/structured/stack-table.tsx"

type Kind = NonNullable<Answer<"GET /v1/system">["definitions"][number]["contexts"]>[number]

/** Null stands for all. */
const listed = (words: ReadonlyArray<string> | null): string => (words === null ? "all" : words.join(", ") || "none")

const KindRow = ({ kind }: { readonly kind: Kind }) => {
  const { components, description, isOwn, maxSteps, mode, name, overrides = {}, tokenBudget, toolCategories } = kind
  const allowed = [
    kind.multiStep ? "several calls" : "one call",
    ...(kind.subAgents ? ["sub-agents"] : []),
    ...(kind.requireApproval ? ["approval"] : []),
    ...(kind.stopOnFinal ? ["final ends it"] : []),
    ...kind.timers.map((timer) => `timer ${timer}`)
  ]
  return (
    <tr data-kind={name} data-own={isOwn ? "" : undefined}>
      <td>
        <span className="font-mono">
          <Visible text={name} />
        </span>
        {isOwn ? <span className="text-ink-2"> its own</span> : null}
        <span className="block text-ink-2">
          <Visible text={description} />
        </span>
      </td>
      <td className="font-mono">{mode}</td>
      <td data-align="end">{count(maxSteps)}</td>
      <td data-align="end">{tokenBudget === null ? "" : count(tokenBudget)}</td>
      <td>
        <Visible text={allowed.join(", ")} />
      </td>
      <td>
        <Visible text={listed(kind.tools)} />
        {toolCategories === null ? null : <Visible text={` of ${listed(toolCategories)}`} />}
      </td>
      <td>
        <Visible text={listed(components)} />
        {Object.entries(overrides).map(([part, text]) => (
          <details key={part} className="said-more" data-override={part}>
            <summary>
              in place of <code>{part}</code>
            </summary>
            <p className="said-text">
              <Visible text={text} />
            </p>
          </details>
        ))}
      </td>
    </tr>
  )
}

export const Kinds = ({ kinds, of }: { readonly kinds: ReadonlyArray<Kind>; readonly of: string }) => (
  <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={`Kinds of context of ${of}`}>
    <StackTable className="tight-table" data-kinds={kinds.length}>
      <thead>
        <tr>
          {["Context", "Mode", "Steps", "Tokens", "Allows", "Tools", "Parts of the prompt"].map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {kinds.map((kind) => (
          <KindRow key={kind.name} kind={kind} />
        ))}
      </tbody>
    </StackTable>
  </div>
)
