import { assert, describe, it } from "@effect/vitest"
import { isJsonObject, type Json } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { readFileSync } from "node:fs"
import { type AnyStateMachine, type AnyStateNode, createMachine, transition } from "xstate"
import { persist } from "../src/index.ts"
import { PATIENT, RUNS } from "./arbitraries.ts"
import { nodes } from "./chart.ts"
import { aLife, live } from "./walk.ts"
import { assistantMachine } from "../src/machine.ts"
import { machineJson } from "./machine-as-json.ts"

const COMMAND = "node packages/assistant/test/write-machine.ts"

const text = readFileSync(new URL("../machine.json", import.meta.url), "utf8")
const committed = JSON.parse(text) as Json
const fromFile = createMachine(committed as never) as AnyStateMachine

const below = (node: AnyStateNode): ReadonlyArray<AnyStateNode> => [node, ...Object.values(node.states).flatMap(below)]

/** Timers are actions of XState itself, which are functions with a type. */
const actionOf = (action: unknown) => {
  const { params, type } = action as { readonly type?: unknown; readonly params?: unknown }
  return typeof action === "string" ? { type: action } : typeof action === "function" ? { type } : { type, params }
}

/** Everything that the definition of a state says, as data. */
const shapeOf = (node: AnyStateNode) => ({
  id: node.id,
  type: node.type,
  initial: node.type === "compound" ? node.initial.target?.map(({ id }) => id) : undefined,
  description: node.description,
  tags: node.tags,
  meta: node.meta as unknown,
  entry: node.entry.map(actionOf),
  exit: node.exit.map(actionOf),
  invoke: node.invoke.map(({ id, input, src }) => ({ id, src, input: input as unknown })),
  transitions: [...[...node.transitions.values()].flat(), ...(node.always ?? [])].map(
    ({ actions, eventType, guard, reenter, target }) => ({
      actions: actions.map(actionOf),
      event: eventType,
      guard: guard as unknown,
      reenter,
      target: target?.map(({ id }) => id)
    })
  )
})

const Named = Schema.Union([
  Schema.String,
  Schema.Struct({ type: Schema.String, params: Schema.optionalKey(Schema.JsonObject) })
])
const OneOrMore = <S extends Schema.Codec<unknown>>(schema: S) => Schema.Union([schema, Schema.Array(schema)])
const Transition = Schema.Union([
  Schema.String,
  Schema.Struct({
    target: Schema.optionalKey(Schema.String),
    guard: Schema.optionalKey(Named),
    actions: Schema.optionalKey(OneOrMore(Named)),
    reenter: Schema.optionalKey(Schema.Boolean)
  })
])
const Transitions = Schema.Record(Schema.String, OneOrMore(Transition))
const Invoke = Schema.Struct({
  src: Schema.String,
  id: Schema.String,
  input: Schema.JsonObject,
  onDone: OneOrMore(Transition),
  onError: OneOrMore(Transition)
})
/** The part of the format of Stately that the chart uses; xstate ships no schema of it. */
const State = Schema.Struct({
  id: Schema.optionalKey(Schema.String),
  type: Schema.optionalKey(Schema.Literals(["atomic", "compound", "final"])),
  description: Schema.String,
  context: Schema.optionalKey(Schema.JsonObject),
  initial: Schema.optionalKey(Schema.String),
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  meta: Schema.optionalKey(Schema.JsonObject),
  entry: Schema.optionalKey(OneOrMore(Named)),
  exit: Schema.optionalKey(OneOrMore(Named)),
  invoke: Schema.optionalKey(Invoke),
  always: Schema.optionalKey(OneOrMore(Transition)),
  on: Schema.optionalKey(Transitions),
  after: Schema.optionalKey(Transitions),
  states: Schema.optionalKey(Schema.JsonObject)
})
const decodeState = Schema.decodeUnknownSync(State, { onExcessProperty: "error" })

describe("machine.json", PATIENT, () => {
  it(`E2: it is the machine that runs; \`${COMMAND}\` writes it anew`, () => {
    const message = `packages/assistant/machine.json is not the machine that runs: \`${COMMAND}\` writes it anew`
    assert.deepStrictEqual(committed, machineJson(), message)
    // The order of states and transitions means something: the first guard that holds decides.
    assert.isTrue(JSON.stringify(committed) === JSON.stringify(machineJson()), message)
  })

  it("E1: the machine is JSON already, but for the function that makes the first context", () => {
    const functions: Array<string> = []
    JSON.stringify(assistantMachine.config, (key, value: unknown) => {
      if (typeof value === "function") functions.push(key)
      return value
    })
    assert.deepStrictEqual(functions, ["context"])
  })

  it("E1: every state has the form that the editor of Stately reads", () => {
    let states = 0
    const check = (state: Json): void => {
      const { states: inner = {} } = decodeState(state)
      states++
      for (const each of Object.values(inner)) check(each)
    }
    check(committed)
    assert.strictEqual(states, nodes.length)
    assert.throws(() => decodeState({ description: "", onn: {} }))
  })

  it("E1: createMachine reads the same states, transitions, guards, actions, jobs, tags and descriptions from it", () => {
    const read = below(fromFile.root)
    assert.deepStrictEqual(
      read.map(({ id }) => id),
      nodes.map(({ id }) => id)
    )
    for (const [index, node] of read.entries()) {
      assert.deepStrictEqual(shapeOf(node), shapeOf(nodes[index] as AnyStateNode), node.id)
      assert.isNotEmpty(node.description, `${node.id} says what it is`)
    }
    assert.isAbove(nodes.length, 25)
  })

  it("E1: with the same implementations it lives the same lives", () => {
    const machine = fromFile.provide(assistantMachine.implementations as never)
    let steps = 0
    fc.assert(
      fc.property(aLife, (life) => {
        for (const { after, before, event } of live(life)) {
          if (before.machine.status !== "active") continue
          const snapshot = machine.restoreSnapshot(persist(before) as never, { self: undefined } as never)
          const [next] = transition(machine, snapshot as never, event as never)
          assert.strictEqual(JSON.stringify(machine.getPersistedSnapshot(next)), JSON.stringify(persist(after)))
          steps++
        }
      }),
      { ...RUNS, numRuns: 30 }
    )
    assert.isAbove(steps, 300)
  })

  it("E1: every name has an implementation, and every implementation is used", () => {
    const { actions, actors, delays, guards } = assistantMachine.implementations
    const used = (key: string) => {
      const found = new Set<string>()
      const look = (value: Json, at: string): void => {
        if (Array.isArray(value)) for (const each of value) look(each, at)
        else if (isJsonObject(value as Json)) {
          const { type } = value as { readonly type?: Json }
          if (at === key && typeof type === "string") found.add(type)
          else for (const [name, each] of Object.entries(value as object)) look(each as Json, name)
        } else if (at === key && typeof value === "string") found.add(value)
      }
      look(committed, "")
      return found
    }
    /** Asked for by other actions, never by the chart itself. */
    const inner = ["refuseCalls", "answerReport", "refuseDelegation", "tellSubAgents", "reportHome"]
    const acting = [...used("actions"), ...used("entry"), ...used("exit"), ...inner]
    assert.sameMembers([...new Set(acting)], Object.keys(actions))
    assert.sameMembers([...used("guard")], Object.keys(guards))
    assert.sameMembers([...used("src"), "tool", "child"], Object.keys(actors))
    const waited = new Set(nodes.flatMap((node) => Object.keys((node.config.after ?? {}) as object)))
    assert.sameMembers([...waited], Object.keys(delays))
  })
})
