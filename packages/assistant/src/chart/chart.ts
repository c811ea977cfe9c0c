// Chart: the statechart as data, for drawing it.
// Owns reading nodes and edges off the machine's own definition. Leaves their places on a page to the drawer.
// C1  Every state is a node and every transition an edge, once; both ends of an edge are nodes.
// C2  It is JSON, in an order that is always the same, and `hash` changes with its content only.
// C3  Every guard and every action has a name of the vocabulary.
// C4  The status of an assistant (`statusOf`) is the path of one of its nodes.

import { defined } from "@reverie/protocol"
import { createHash } from "node:crypto"
import type { AnyStateNode } from "xstate"
import { factsIn, stateNodes } from "../decide.ts"
import type { Activity, StateTag } from "../state-tag.ts"

/** Of the form of a chart, not of the machine. */
const CHART_VERSION = 2

/** One state. */
export interface ChartNode {
  /** Its own name within the chart. */
  readonly id: string
  /** As statuses name it, e.g. `awake.idle`; empty for the root. */
  readonly path: string
  /** The id of the node around it; null for the root. */
  readonly parent: string | null
  /** `compound` holds states of which one is active, `parallel` states that are all active. */
  readonly kind: "atomic" | "compound" | "parallel" | "final" | "history"
  /** Where it begins: the id of a node inside. */
  readonly initial?: string
  /** Names of what is done on the way in and out. */
  readonly entry: ReadonlyArray<string>
  /** Names of what is done on the way out. */
  readonly exit: ReadonlyArray<string>
  /** The jobs that run while it is active. */
  readonly invokes: ReadonlyArray<string>
  /** Its own and those of all states around it. */
  readonly tags: ReadonlyArray<StateTag>
  /** What an assistant in this state is shown as doing; absent of a state that can do several things. */
  readonly activity?: Activity
  /** What it is for, in a sentence. */
  readonly description?: string
}

/** One way from a state to another. */
export interface ChartEdge {
  /** Its own name within the chart. */
  readonly id: string
  /** The id of the node that it leaves. */
  readonly from: string
  /** The same node as `from` where nothing is left. */
  readonly to: string
  /** The event as the machine names it; empty for one that is taken at once. */
  readonly event: string
  /** always: taken at once. after: when a time has passed. done, error: a job has ended. event: anything else. */
  readonly kind: "event" | "always" | "after" | "done" | "error"
  /** The name of the condition under which it is taken. */
  readonly guard?: string
  /** Names of what is done on the way, in their order. */
  readonly actions: ReadonlyArray<string>
  /** The name of the time that has to pass. */
  readonly delayed?: string
  /** No state is left or entered. */
  readonly isInternal: boolean
}

/** The statechart as data: its states and the ways between them. */
export interface Chart {
  /** SHA-256 of the chart: two charts with one hash are the same. */
  readonly hash: string
  /** The version of the stored state that this chart writes. */
  readonly version: number
  /** All states, the root first. */
  readonly nodes: ReadonlyArray<ChartNode>
  /** All ways between them. */
  readonly edges: ReadonlyArray<ChartEdge>
}

/** The name of an action or a guard; what has none is a fault of the chart. */
const nameOf = (named: unknown): string => {
  const name = typeof named === "string" ? named : (named as { readonly type?: unknown }).type
  if (typeof name !== "string") throw new Error("an action or a guard of the chart has no name")
  return name
}

/** Without those by which XState sets a timer on the way in and cancels it on the way out: an edge says as much. */
const namesOf = (actions: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  actions.map(nameOf).filter((name) => !name.startsWith("xstate."))

const listed = <A>(one: A | ReadonlyArray<A> | undefined): ReadonlyArray<A> =>
  one === undefined ? [] : Array.isArray(one) ? (one as ReadonlyArray<A>) : [one as A]

const jobsOf = (node: AnyStateNode): ReadonlyArray<string> =>
  listed(node.config.invoke as unknown).map((job) => nameOf((job as { readonly src: unknown }).src))

const nodeOf = (node: AnyStateNode): ChartNode => {
  const initial = node.type === "compound" ? node.initial.target?.[0]?.id : undefined
  const { activity, tags } = factsIn(node)
  return {
    id: node.id,
    path: node.path.join("."),
    parent: node.parent?.id ?? null,
    kind: node.type,
    ...defined({ initial }),
    entry: namesOf(node.entry),
    exit: namesOf(node.exit),
    invokes: jobsOf(node),
    tags: [...tags],
    ...defined({ activity, description: node.description })
  }
}

const AFTER = /^xstate\.after\.([^.]+)\./

const kindOf = (event: string): ChartEdge["kind"] => {
  if (event === "") return "always"
  if (AFTER.test(event)) return "after"
  if (event.startsWith("xstate.done.")) return "done"
  return event.startsWith("xstate.error.") ? "error" : "event"
}

const edgesOf = (node: AnyStateNode): ReadonlyArray<ChartEdge> =>
  [...[...node.transitions.values()].flat(), ...(node.always ?? [])].flatMap(
    ({ actions, eventType, guard, target }, index) => {
      const event = String(eventType ?? "")
      const delayed = AFTER.exec(event)?.[1]
      return (target?.map(({ id }) => id) ?? [node.id]).map((to, at) => ({
        id: `${node.id}/${index}${at === 0 ? "" : `.${at}`}`,
        from: node.id,
        to,
        event,
        kind: kindOf(event),
        ...defined({ guard: guard === undefined ? undefined : nameOf(guard) }),
        actions: namesOf(actions),
        ...defined({ delayed }),
        isInternal: target === undefined
      }))
    }
  )

const read = (): Chart => {
  const content = { version: CHART_VERSION, nodes: stateNodes.map(nodeOf), edges: stateNodes.flatMap(edgesOf) }
  return { hash: createHash("sha256").update(JSON.stringify(content)).digest("hex"), ...content }
}

let known: Chart | undefined

/** The chart of every assistant: they all live by the same one. */
export const chartOf = (): Chart => (known ??= read())
