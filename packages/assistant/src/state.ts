// State: what the chart says of a state, by its path.
// Owns looking it up. Leaves what is said to the tags and the meta of machine.ts.
// Q1  A state has the tags of all states around it, and the activity of the nearest that names one.
// Q2  A path of no state gets the answer of the nearest state around it: what another version has stored can be shown.

import type { AnyStateNode } from "xstate"
import { assistantMachine } from "./machine.ts"
import { type Activity, type Mode, modes, type StateMeta, type StateTag } from "./state-tag.ts"

const below = (node: AnyStateNode): ReadonlyArray<AnyStateNode> => [node, ...Object.values(node.states).flatMap(below)]

/** All states in their order, the root first. */
export const stateNodes: ReadonlyArray<AnyStateNode> = below(assistantMachine.root)

export interface StateFacts {
  /** What an assistant in this state is shown as doing; undefined of a state that can do several things. */
  readonly activity: Activity | undefined
  readonly tags: ReadonlySet<StateTag>
}

export const factsIn = ({ meta, parent, tags }: AnyStateNode): StateFacts => {
  const around = parent === undefined ? undefined : factsIn(parent)
  return {
    activity: (meta as StateMeta | undefined)?.activity ?? around?.activity,
    tags: new Set([...(around?.tags ?? []), ...(tags as ReadonlyArray<StateTag>)])
  }
}

const facts = new Map(stateNodes.map((node) => [node.path.join("."), factsIn(node)]))

const NOWHERE: StateFacts = { activity: undefined, tags: new Set() }

const factsOf = (path: string): StateFacts =>
  facts.get(path) ?? (path === "" ? NOWHERE : factsOf(path.slice(0, Math.max(0, path.lastIndexOf(".")))))

/** What an assistant in this state is shown as doing. */
export const activityOf = (path: string): Activity => factsOf(path).activity ?? "idle"

export const isTagged = (path: string, tag: StateTag): boolean => factsOf(path).tags.has(tag)

/** Those of the state and of all states around it. */
export const tagsOf = (path: string): ReadonlyArray<StateTag> => [...factsOf(path).tags]

/** The outermost state. */
export const modeOf = (path: string): Mode => modes.find((mode) => path.split(".")[0] === mode) ?? "awake"
