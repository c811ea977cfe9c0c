import { assert, describe, it } from "@effect/vitest"
import { laneOf, type Event } from "@reverie/protocol"
import { type AnyTransitionDefinition, createEmptyActor, getMicrosteps } from "xstate"
import { type AdjacencyMap, getAdjacencyMap, getShortestPaths } from "xstate/graph"
import { creation, decide, receives, type Input, isIgnored, restingStates } from "../src/index.ts"
import { eventTypes, isHandled, nodes, wireTypes } from "./chart.ts"
import { PATIENT } from "./arbitraries.ts"
import { restored, stored } from "./rig.ts"
import { eventsIn, keyOf, leafOf, type Snapshot, worlds } from "./samples.ts"
import { assistantMachine } from "../src/machine.ts"
import { ignored, passingStates, whyIgnored } from "../src/chart/ignored.ts"

type Logic = Parameters<typeof getAdjacencyMap>[0]
type Options = NonNullable<Parameters<typeof getAdjacencyMap>[1]>

const keys = new WeakMap<Snapshot, string>()
/** A snapshot does not change: its key is made once. */
const knownKey = (snapshot: Snapshot): string => {
  const key = keys.get(snapshot) ?? keyOf(snapshot)
  keys.set(snapshot, key)
  return key
}

const walk = ({ settings, subAgentStart }: (typeof worlds)[string]) =>
  ({ input: { settings, subAgentStart }, events: eventsIn, serializeState: knownKey }) as unknown as Options

const machine = assistantMachine as unknown as Logic

/** The machine as its graph knows it: what was stepped once is looked up. */
const steppedIn = (map: AdjacencyMap<Snapshot, Input>): Logic =>
  ({
    getInitialSnapshot: assistantMachine.getInitialSnapshot.bind(assistantMachine),
    transition: (from: Snapshot, event: Input) =>
      map[knownKey(from) as never]?.transitions[JSON.stringify(event) as never]?.state
  }) as unknown as Logic

/** The nodes and edges of the graph, found by XState's own stepping, not by ours. */
const graphs = Object.entries(worlds).map(([name, world]) => {
  const found = getAdjacencyMap(machine, walk(world)) as AdjacencyMap<Snapshot, Input>
  const map = Object.values(found)
  return {
    name,
    world,
    stepped: steppedIn(found),
    states: map.map(({ state }) => state),
    edges: map.flatMap(({ state, transitions }) =>
      (Object.values(transitions) as ReadonlyArray<{ readonly event: Input; readonly state: Snapshot }>).map(
        ({ event, state: to }) => ({ from: state, event, to })
      )
    )
  }
})
const edges = graphs.flatMap((graph) => graph.edges)
const states = graphs.flatMap((graph) => graph.states)

const stateOf = new Map<Snapshot, ReturnType<typeof restored>>()
/** The state as a worker takes it up: from a snapshot that went through JSON, once for each node. */
const takenUp = (machine: Snapshot): ReturnType<typeof restored> => {
  const known = stateOf.get(machine) ?? restored(stored({ machine }))
  stateOf.set(machine, known)
  return known
}

/** Hundreds of thousands are compared: what to say of one is put together only where it differs. */
const same = (one: string, other: string, of: () => string): void => {
  if (one !== other) assert.strictEqual(one, other, of())
}

/** The type under which an event is listed. */
const typeOf = (event: { readonly type: string }): string =>
  event.type.replace(/\.tool\.\d+$/, ".tool.*").replace(/\.child\..+$/, ".child.*")

describe("the graph of the chart", PATIENT, () => {
  it.each(graphs)(
    "$name: all shortest paths end where the graph says, decided step by step",
    ({ name, stepped, world }) => {
      const paths = getShortestPaths(stepped, walk(world))
      // Paths share their beginnings: each of those is decided once.
      const decided = new Map<string, ReturnType<typeof decide>["next"]>()
      let steps = 0
      for (const path of paths) {
        let now = creation(world.settings, world.subAgentStart).next
        let way = ""
        // The first step of a path is the creation itself.
        for (const step of path.steps.slice(1)) {
          way += `${JSON.stringify(step.event)}\n`
          now = decided.get(way) ?? decide(restored(stored(now)), step.event).next
          decided.set(way, now)
          same(knownKey(now.machine), knownKey(step.state as Snapshot), () => JSON.stringify(step.event))
          steps++
        }
        assert.strictEqual(leafOf(now.machine), leafOf(path.state as Snapshot))
      }
      console.log(`${name}: ${paths.length} shortest paths, ${steps} steps`)
      assert.isAbove(paths.length, 10)
      assert.isAbove(steps, paths.length)
    }
  )

  it("every edge is decided as the graph says, from a snapshot that went through JSON", () => {
    for (const { event, from, to } of edges) {
      const { next } = decide(takenUp(from), event)
      same(keyOf(next.machine), knownKey(to), () => `${leafOf(from)} on ${JSON.stringify(event)}`)
    }
    console.log(`${states.length} nodes, ${edges.length} edges`)
    assert.isAbove(edges.length, 1_000)
  })

  it("every state is reached: at rest or in passing", () => {
    assert.sameMembers([...new Set(states.map(leafOf))], [...restingStates])
    const unseen = new Set<string>(passingStates)
    for (const { event, from } of edges) {
      if (unseen.size === 0) break
      for (const [snapshot] of getMicrosteps(assistantMachine, from, event as never))
        unseen.delete(leafOf(snapshot as Snapshot))
    }
    assert.isNotEmpty(passingStates)
    assert.deepStrictEqual([...unseen], [])
  })

  it("every transition of the chart is taken", () => {
    const all = nodes.flatMap((node) => [...[...node.transitions.values()].flat(), ...(node.always ?? [])])
    const taken = new Set<AnyTransitionDefinition>()
    const self = createEmptyActor()
    const system = Object.create(self.system, {
      _sendInspectionEvent: {
        value: ({ _transitions }: { readonly _transitions?: ReadonlyArray<AnyTransitionDefinition> }) => {
          for (const transition of _transitions ?? []) taken.add(transition)
        }
      }
    }) as typeof self.system
    const none = () => {}
    const scope = {
      id: "",
      sessionId: "",
      logger: none,
      defer: none,
      emit: none,
      stopChild: none,
      actionExecutor: none
    }
    // The net for late failures is cast in ignored pairs only, which the graph does not hold.
    const sought = all.filter(({ eventType }) => eventType !== "xstate.error.actor.*")
    const missing = () => sought.filter((transition) => !taken.has(transition))
    let known = -1
    for (const { event, from } of edges) {
      if (taken.size !== known && missing().length === 0) break
      known = taken.size
      assistantMachine.transition(from, event as never, { ...scope, self, system } as never)
    }
    assert.deepStrictEqual(
      missing().map(
        ({ eventType, source, target }) => `${source.id} on ${eventType} to ${target?.[0]?.id ?? "itself"}`
      ),
      []
    )
    assert.isAbove(taken.size, 60)
  })
})

describe("ignored, on every node of the graph", PATIENT, () => {
  const sampleOf = (type: string): Input => {
    const edge = edges.find(({ event }) => typeOf(event) === type)
    if (edge === undefined) throw new Error(`no edge is a ${type}`)
    return edge.event
  }
  const samples = new Map(eventTypes.map((type) => [type, sampleOf(type)]))

  it("G2: what is listed changes nothing and asks for nothing", () => {
    let count = 0
    for (const state of states) {
      for (const [type, event] of samples) {
        if (whyIgnored(leafOf(state), type) === undefined) continue
        const before = takenUp(state)
        if (!isIgnored(before, decide(before, event))) assert.fail(`${leafOf(state)} on ${type}`)
        count++
      }
    }
    console.log(`${count} ignored decisions on ${states.length} nodes`)
    assert.isAbove(count, states.length)
  })

  it("G1: what is handled is taken somewhere", () => {
    const handled = restingStates.flatMap((state) =>
      eventTypes.flatMap((type) => (isHandled(state, type) ? [`${state} on ${type}`] : []))
    )
    const taken = new Set<string>()
    for (const { event, from } of edges) {
      const pair = `${leafOf(from)} on ${typeOf(event)}`
      if (!taken.has(pair) && !isIgnored({ machine: from }, decide({ machine: from }, event))) taken.add(pair)
    }
    assert.deepStrictEqual(
      handled.filter((pair) => !taken.has(pair)),
      []
    )
    assert.isAbove(handled.length, 50)
  })

  it("G3: what waits is exactly what the state does not hear", () => {
    const types = wireTypes
    for (const state of states) {
      const leaf = leafOf(state)
      if (leaf === "retired") continue
      const lanes = receives({ machine: state })
      for (const type of types) {
        const waits = ignored.some(
          ({ events, kind, states: listed }) =>
            kind === "waits" && events.includes(type) && listed.some((each) => each === leaf)
        )
        if (waits === lanes.includes(laneOf({ type } as Event))) assert.fail(`${leaf} on ${type}`)
      }
    }
    assert.isNotEmpty(types)
  })
})
