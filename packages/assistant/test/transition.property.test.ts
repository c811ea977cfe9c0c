import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { assign, transition as transitionOfXState } from "xstate"
import { type Input, type MachineEvent, persist } from "../src/index.ts"
import { transition } from "../src/decide.ts"
import { PATIENT, RUNS } from "./arbitraries.ts"
import { aLife, live, type Moment } from "./walk.ts"
import { assistantMachine } from "../src/machine.ts"

type Step = typeof transition
type Machine = Moment["before"]["machine"]

interface Assigning {
  resolve: unknown
}

/** Actions that change the context, which have a way of their own to do it. */
const changes = Object.values(assistantMachine.implementations.actions).filter(
  (action): action is Assigning & typeof action => typeof action === "function" && "assignment" in action
)
const { resolve: assigning } = assign({}) as unknown as Assigning

/** A step of XState, every part of it. */
const ofXState: Step = (before, event) => {
  const own = changes.map(({ resolve }) => resolve)
  for (const change of changes) change.resolve = assigning
  try {
    const [machine, actions] = transitionOfXState(assistantMachine, before, event as never)
    return { machine: machine as Machine, actions: actions as ReturnType<Step>["actions"] }
  } finally {
    for (const [index, change] of changes.entries()) change.resolve = own[index]
  }
}

/** All that a step answers with, as text. The child that a job is stopped as is named by its id. */
const answerOf = (step: Step, { machine: before }: Moment["before"], event: Input): string => {
  const { actions, machine } = step(before, event as MachineEvent)
  const asked = actions.map(({ params, type }) => {
    const { id } = (params ?? {}) as { readonly id?: unknown }
    return type === "xstate.stopChild" ? { type, id } : { type, params }
  })
  const { status, tags, value } = machine
  return JSON.stringify([value, status, [...tags], Object.keys(machine.children), persist({ machine }), asked])
}

/** What comes in its time, what comes late, and what was never meant for the state. */
const eventsFor = (moments: ReadonlyArray<Moment>, index: number): ReadonlyArray<Input> => [
  ...moments.slice(Math.max(0, index - 2), index + 1).map(({ event }) => event),
  { type: "halt", reason: "fire drill" },
  { type: "retire" }
]

interface Compared {
  readonly failed: boolean
  readonly steps: number
}

const compared = (step: Step, numRuns: number = RUNS.numRuns): Compared => {
  let steps = 0
  const { failed } = fc.check(
    fc.property(aLife, (life) => {
      const moments = live(life)
      return moments.every(({ before }, index) =>
        before.machine.status !== "active"
          ? true
          : eventsFor(moments, index).every((event) => {
              steps++
              return answerOf(step, before, event) === answerOf(ofXState, before, event)
            })
      )
    }),
    { ...RUNS, numRuns, endOnFailure: true }
  )
  return { failed, steps }
}

const changed =
  (change: (answer: ReturnType<Step>, before: Machine) => ReturnType<Step>): Step =>
  (before, event) =>
    change(transition(before, event), before)

const plants: Readonly<Record<string, Step>> = {
  "an action is lost": changed(({ actions, machine }) => ({ machine, actions: actions.slice(0, -1) })),
  "actions come in another order": changed(({ actions, machine }) => ({ machine, actions: actions.toReversed() })),
  "an emitted event is lost": changed(({ actions, machine }) => ({
    machine,
    actions: actions.filter(({ type }) => type !== "xstate.emit")
  })),
  "a delay is another one": changed(({ actions, machine }) => ({
    machine,
    actions: actions.map(({ params, type }) =>
      type === "xstate.raise" ? { type, params: { ...(params as object), delay: 1 } } : { type, params }
    )
  })),
  "the context stays as it was": changed(({ actions, machine }, before) => ({
    machine: Object.assign(Object.create(Object.getPrototypeOf(machine) as object) as Machine, machine, {
      context: before.context
    }),
    actions
  })),
  "the state stays as it was": changed(({ actions }, before) => ({ machine: before, actions })),
  "a step is taken twice": (before, event) => {
    const { actions, machine } = transition(before, event)
    return machine.status === "active" ? { machine: transition(machine, event).machine, actions } : { machine, actions }
  }
}

describe("transition", PATIENT, () => {
  it("T1: any step of any life is the one that XState takes", () => {
    const { failed, steps } = compared(transition)
    console.log(`${steps} steps compared`)
    assert.isFalse(failed)
    assert.isAbove(steps, 5_000)
    assert.isAbove(changes.filter(({ resolve }) => resolve !== assigning).length, 20)
  })

  it.each(Object.entries(plants))("T1: is found when %s", (_, step) => {
    assert.isTrue(compared(step, 60).failed)
  })

  it("T2: a step leaves its snapshot as it was", () => {
    fc.assert(
      fc.property(aLife, (life) => {
        for (const { before, event } of live(life)) {
          if (before.machine.status !== "active") continue
          const text = JSON.stringify(persist(before))
          transition(before.machine, event as MachineEvent)
          assert.strictEqual(JSON.stringify(persist(before)), text)
        }
      }),
      { ...RUNS, numRuns: 50 }
    )
  })
})
