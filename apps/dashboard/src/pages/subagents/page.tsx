// Family: who works for this assistant, what each may spend, and what each may use.
// Leaves the bars to waterfall.tsx.

import { createLazyRoute, getRouteApi, Link } from "@tanstack/react-router"
import { useState } from "react"
import { useAnswer, useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { StateChip } from "../../parts/chip.tsx"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { many } from "../../parts/format.ts"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, Failed, isReady } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { Until } from "../../parts/time.tsx"
import { type Measure, measures } from "../../shell/search.ts"
import { amountText, Legend, type Node, Waterfall } from "./waterfall.tsx"

// Delegate: hands a task to a new sub-agent, as the assistant's own delegate_task would.

const MAX_TASK_CHARS = 20_000

/** Why it can take no task now, and what to do; undefined when it can. */
const whyNone = ({ state, sub_agent_budget: most = 0, sub_agents_enabled: enabled, sub_agents_open: open = 0 }: Node) =>
  state === "retired"
    ? "It has retired: it takes no task."
    : enabled !== true
      ? "Its definition allows it no sub-agents. Set subAgents in defineAssistant, and it can delegate."
      : state === "halted"
        ? "It is halted. Resume it on its page Live, and it can delegate."
        : open >= most
          ? `All of the ${many(most, "sub-agent")} that it may have at once are at work. Wait for one, or cancel one above.`
          : undefined

const Delegate = ({ root }: { readonly root: Node }) => {
  const { id } = root
  const why = whyNone(root)
  return (
    <Section title="Delegate a task">
      {why === undefined ? (
        <DelegateForm id={id} />
      ) : (
        <p className="p-3 text-ink-2" data-no-delegate={root.state}>
          {why}
        </p>
      )}
    </Section>
  )
}

const DelegateForm = ({ id }: { readonly id: string }) => {
  const [task, write] = useState("")
  const { data, error, isPending, mutate } = useChange("POST /v1/assistants/:id/sub-agents")
  return (
    <form
      className="space-y-2 p-3"
      onSubmit={(event) => {
        event.preventDefault()
        mutate((key) => ({ params: { id }, payload: { task, id: key } }), {
          onSuccess: () => write("")
        })
      }}
    >
      <textarea
        className="field min-h-16 w-full"
        name="task"
        aria-label="The task"
        maxLength={MAX_TASK_CHARS}
        value={task}
        onChange={({ target }) => write(target.value)}
      />
      <div className="flex flex-wrap items-center gap-3">
        <Action
          type="submit"
          className="button button-primary"
          disabled={isPending || task.trim() === ""}
          data-delegate=""
        >
          Delegate
        </Action>
        {data === undefined ? null : (
          <span className="text-ink-2" role="status">
            <Visible text={data.child} /> works on it.
          </span>
        )}
      </div>
      {error === null ? null : <Failed trouble={error} />}
    </form>
  )
}

const route = getRouteApi("/a/$id/subagents")

const names: Readonly<Record<Measure, string>> = {
  tokens: "Tokens",
  costMicros: "Money",
  calls: "Model calls"
}

interface Seen {
  readonly node: Node
  readonly depth: number
  readonly above: Node | undefined
}

/** The tree as rows, each below the one who sent it. */
const rowsOf = (node: Node, depth = 0, above?: Node): ReadonlyArray<Seen> => [
  { node, depth, above },
  ...node.subAgents.flatMap((each) => rowsOf(each, depth + 1, node))
]

/** Given to anyone who has a task, and to no one else: nothing taken away and nothing added. */
const ofAssignments = new Set(["finish_task", "noop"])

const Tools = ({ above, node }: Pick<Seen, "node" | "above">) => {
  const removed =
    above === undefined ? [] : above.tools.filter((name) => !node.tools.includes(name) && !ofAssignments.has(name))
  return (
    <details data-tools={node.id}>
      <summary className="whitespace-nowrap">
        {many(node.tools.length, "tool")}
        {removed.length === 0 ? null : <span className="text-warn">, {removed.length} withheld</span>}
      </summary>
      <ul className="mt-1 flex max-w-md flex-wrap gap-1 font-mono text-[0.857rem]">
        {node.tools.map((name) => (
          <li key={name} className="rounded border border-line px-1">
            <Visible text={name} />
          </li>
        ))}
        {removed.map((name) => (
          <li
            key={name}
            className="rounded border border-warn-line bg-warn-soft px-1 text-warn line-through"
            data-removed={name}
          >
            <Visible text={name} />
          </li>
        ))}
      </ul>
    </details>
  )
}

const amounts = ["Limit", "Spent", "Reserved", "Released"] as const

const Row = ({ measure, onCancel, seen }: { seen: Seen; measure: Measure; onCancel: () => void }) => {
  const { above, depth, node } = seen
  const { granted, id, phase, reserved, returned, spent, state, task, until } = node
  const isOver = state === "retired" || state === "planned"
  return (
    <tr data-node={id} data-state={state} data-depth={depth}>
      <td style={{ paddingInlineStart: `${0.75 + depth * 1.5}rem` }} className="max-w-md">
        <span className="flex items-baseline gap-2">
          {depth === 0 ? null : <span className="text-ink-3">└</span>}
          <Link to="/a/$id" params={{ id }} className="truncate font-medium">
            <Visible text={id} />
          </Link>
        </span>
        {task === undefined ? null : (
          <span className="line-clamp-4 text-ink-2 wrap-anywhere" title={task}>
            <Visible text={task} />
          </span>
        )}
      </td>
      <td>
        <StateChip path={state} />
        {phase === undefined ? null : (
          <span className="block text-ink-2">
            <Visible text={phase} />
            {until === undefined || isOver ? null : (
              <>
                , <Until at={until} /> left
              </>
            )}
          </span>
        )}
      </td>
      <td className="min-w-44">
        <Waterfall node={node} measure={measure} />
      </td>
      {[granted[measure], spent[measure], reserved[measure], returned?.[measure]].map((value, at) => (
        <td key={at} data-align="end" data-title={amounts[at]}>
          {amountText(value, measure)}
        </td>
      ))}
      <td>
        <Tools node={node} above={above} />
      </td>
      <td data-align="end">
        {depth === 0 || isOver ? null : (
          <Action className="button button-small" data-cancel={id} onClick={onCancel}>
            Cancel
          </Action>
        )}
      </td>
    </tr>
  )
}

const Tree = ({ measure, onCancel, root }: { root: Node; measure: Measure; onCancel: (id: string) => void }) => (
  <table className="plain-table stack-table" data-subAgentTree={root.id}>
    <thead>
      <tr>
        <th scope="col">Assistant and task</th>
        <th scope="col">State</th>
        <th scope="col">Budget</th>
        {amounts.map((title) => (
          <th key={title} scope="col" data-align="end">
            {title}
          </th>
        ))}
        <th scope="col">Tools</th>
        <th scope="col">
          <span className="sr-only">Actions</span>
        </th>
      </tr>
    </thead>
    <tbody>
      {rowsOf(root).map((seen) => (
        <Row key={seen.node.id} seen={seen} measure={measure} onCancel={() => onCancel(seen.node.id)} />
      ))}
    </tbody>
  </table>
)

/** How many it may have at once, and how many it has, under the name of the sources. */
const Slots = ({ root }: { root: Node }) => {
  const { sub_agent_budget: budget, sub_agents_enabled: enabled, sub_agents_open: open } = root
  if (budget === undefined) return null
  return (
    <p className="px-3 pt-2 text-ink-2" data-slots={budget}>
      <code>sub_agent_budget</code> {budget}: {enabled === true ? `${open ?? 0} open now` : "it may have none"}
    </p>
  )
}

const Counted = ({ measure, onPick }: { measure: Measure; onPick: (measure: Measure) => void }) => (
  <label className="flex items-center gap-2 text-ink-2">
    counted in
    <select className="field" value={measure} onChange={({ target }) => onPick(target.value as Measure)}>
      {measures.map((each) => (
        <option key={each} value={each}>
          {names[each]}
        </option>
      ))}
    </select>
  </label>
)

const CallBack = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const { mutateAsync } = useChange("POST /v1/assistants/:id/cancel")
  return (
    <ConfirmLater
      title={`Cancel ${id}?`}
      verb="Cancel it"
      danger
      asksReason
      onClose={onClose}
      onConfirm={(reason) => mutateAsync({ params: { id }, payload: reason === undefined ? {} : { reason } })}
    >
      It ends at once, with all its sub-agents. What it has not spent goes back to the one who sent it.
    </ConfirmLater>
  )
}

const SubAgentsPage = () => {
  const { id } = route.useParams()
  const { in: measure = "tokens" } = route.useSearch()
  const navigate = route.useNavigate()
  const tree = useAnswer("GET /v1/assistants/:id/subagents", { params: { id } })
  const [leaving, cancel] = useState<string>()
  return (
    <Page
      name="subagents"
      title="Sub-agents & budget"
      ready={isReady(tree)}
      side={<Counted measure={measure} onPick={(picked) => void navigate({ search: { in: picked } })} />}
    >
      <Answered of={tree}>
        {(root) => (
          <>
            <Section title="Tree" className="overflow-x-auto" side={<Legend />}>
              <Slots root={root} />
              <Tree root={root} measure={measure} onCancel={cancel} />
              {root.subAgents.length > 0 ? null : (
                <Empty title="No sub-agents">
                  It delegates tasks with delegate_task where its definition allows it, within its budget.
                </Empty>
              )}
            </Section>
            <Delegate root={root} />
          </>
        )}
      </Answered>
      {leaving === undefined ? null : <CallBack id={leaving} onClose={() => cancel(undefined)} />}
    </Page>
  )
}

export const page = createLazyRoute("/a/$id/subagents")({ component: SubAgentsPage })
