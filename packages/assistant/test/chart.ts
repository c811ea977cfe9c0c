// Chart: what the definition of the statechart itself says, read off its nodes.
// Owns the lists of leaf states and of event types, and which pairs the definition handles.

import { Event } from "@reverie/protocol"
import type { AnyStateNode } from "xstate"
import { assistantMachine } from "../src/machine.ts"

const below = (node: AnyStateNode): ReadonlyArray<AnyStateNode> => [node, ...Object.values(node.states).flatMap(below)]

export const nodes: ReadonlyArray<AnyStateNode> = below(assistantMachine.root)

const isLeaf = ({ type }: AnyStateNode): boolean => type === "atomic" || type === "final"

const leaves = new Map(nodes.filter(isLeaf).map((node) => [node.path.join("."), node]))

/** Paths of all leaf states. */
export const leafStates: ReadonlyArray<string> = [...leaves.keys()]

/** Types of what comes in from outside. */
export const wireTypes: ReadonlyArray<string> = Event.members.map((member) => member.fields.type.literal)

const jobTypes = Object.keys(assistantMachine.implementations.actors)
  .map((job) => (job === "tool" || job === "child" ? `${job}.*` : job))
  .flatMap((job) => [`xstate.done.actor.${job}`, `xstate.error.actor.${job}`])

const timerTypes = [...new Set(nodes.flatMap((node) => node.after.map(({ eventType }) => eventType)))]

/** Types of everything that can be decided upon; `tool.*` for the tool jobs of every index, `child.*` for every creation. */
export const eventTypes: ReadonlyArray<string> = [...wireTypes, "news", ...jobTypes, ...timerTypes]

/** Event descriptors that the definition names anywhere. */
export const descriptors: ReadonlyArray<string> = [
  ...new Set(nodes.flatMap((node) => [...node.transitions.keys()].map(String)))
]

/** True when some transition of the leaf or of a state around it may be taken on an event of this type. */
export const isHandled = (leaf: string, type: string): boolean => {
  let node = leaves.get(leaf)
  if (node === undefined) throw new Error(`no leaf state is called ${leaf}`)
  if (node.type === "final") return false
  while (node !== undefined) {
    const candidates = node.transitions.get(type) ?? []
    if (candidates.some(({ actions, target }) => target !== undefined || actions.length > 0)) return true
    // A transition that does nothing forbids the event for the states around this one.
    if (candidates.some(({ guard }) => guard === undefined)) return false
    node = node.parent
  }
  return false
}
