// Activity: what the chart says of a state, by its path.
// Owns looking it up in machine.json, so that a new state of the chart is shown without a change here.
// A1  A state has the tags of all states around it, and the activity of the nearest that names one; a path of no state is
//     answered for the nearest state around it.

import machine from "@reverie/assistant/machine.json" with { type: "json" }

interface StateConfig {
  readonly description: string
  readonly tags?: ReadonlyArray<string>
  readonly meta?: { readonly activity: string }
  readonly states?: Readonly<Record<string, StateConfig>>
}

/** The states from the outermost to the one that the path names. */
const statesOn = (path: string): ReadonlyArray<StateConfig> => {
  const found: Array<StateConfig> = []
  let inside: StateConfig | undefined = machine
  for (const name of path.split(".")) {
    const { states = {} }: StateConfig = inside
    inside = Object.hasOwn(states, name) ? states[name] : undefined
    if (inside === undefined) break
    found.push(inside)
  }
  return found
}

/** `thinking`, `dreaming`, …; undefined of a state that can do several things. */
export const activityOf = (path: string): string | undefined =>
  statesOn(path).findLast(({ meta }) => meta !== undefined)?.meta?.activity

export const isTagged = (path: string, tag: string): boolean =>
  statesOn(path).some(({ tags = [] }) => tags.includes(tag))

const activePaths = ({ meta, states = {} }: StateConfig, path: string): ReadonlyArray<string> => [
  ...(meta === undefined ? [] : [path]),
  ...Object.entries(states).flatMap(([name, state]) => activePaths(state, path === "" ? name : `${path}.${name}`))
]

/** Paths of the states that have an activity of their own. */
export const activeStates: ReadonlyArray<string> = activePaths(machine, "")
