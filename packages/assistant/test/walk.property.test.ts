import { assert, describe, it } from "@effect/vitest"
import type { Json } from "@reverie/protocol"
import * as fc from "fast-check"
import {
  type Call,
  contextOf,
  decide,
  type Decision,
  type Decoded,
  receives,
  type InferFailure,
  isIgnored,
  isOpen,
  patternNow,
  persist,
  restingStates,
  settingsNow,
  statusOf
} from "../src/index.ts"
import { PATIENT, RUNS } from "./arbitraries.ts"
import { ANSWER, CALM, DONE, restored, stored } from "./rig.ts"
import { aLife, endOf, live, type Moment } from "./walk.ts"
import { creationJob } from "../src/sub-agents/sub-agent.ts"

/** Checks every moment of many lives. */
const always = (check: (moment: Moment, index: number, life: ReadonlyArray<Moment>) => void) =>
  fc.assert(
    fc.property(aLife, (life) => live(life).forEach(check)),
    RUNS
  )

const bytesOf = ({ commands, next }: Decision): string => JSON.stringify([persist(next), commands])

const actionNames = ["endTick", "refuseCalls", "answerReport", "refuseDelegation", "tellSubAgents", "reportHome"]

const actionsOf = ({ commands }: Moment, type: string): ReadonlyArray<Json> =>
  commands.flatMap((command) => (command._tag === "Action" && command.type === type ? [command.params] : []))

/** The calls whose jobs a moment started, with their index. */
const startedCalls = ({ after, commands }: Moment): ReadonlyArray<readonly [number, Call | undefined]> =>
  commands.flatMap((command) => {
    if (command._tag !== "StartJob" || command.src !== "tool") return []
    const { index } = command.input as { readonly index: number }
    return [[index, contextOf(after).calls[index]] as const]
  })

describe("any life", PATIENT, () => {
  it("the walks visit every state, and every kind of event", () => {
    const moments = fc.sample(aLife, { ...RUNS, numRuns: 600 }).flatMap(live)
    const seen = new Set(moments.map(({ after }) => statusOf(after)))
    console.log(`${moments.length} moments in 600 lives, ${seen.size} states`)
    assert.sameMembers([...seen], [...restingStates])
    assert.isAbove(moments.filter(({ ignored }) => !ignored).length, moments.length / 2)
  })

  it("decide I2: the same snapshot and event give the same bytes, hot or from the store", () => {
    always(({ after, before, commands, event }) => {
      const bytes = bytesOf({ next: after, commands })
      assert.strictEqual(bytesOf(decide(before, event)), bytes)
      assert.strictEqual(bytesOf(decide(restored(stored(before)), event)), bytes)
      assert.strictEqual(JSON.stringify(stored(restored(stored(after)))), JSON.stringify(stored(after)))
    })
  })

  it("decide I1: every command is JSON and one of those the runtime knows", () => {
    always(({ commands }) => {
      assert.deepStrictEqual(JSON.parse(JSON.stringify(commands)), commands)
      for (const command of commands) {
        assert.include(["StartJob", "StopJob", "SetTimer", "CancelTimer", "Emit", "Action"], command._tag)
        if (command._tag === "Action") assert.include(actionNames, command.type)
        if (command._tag === "SetTimer") assert.isTrue(Number.isFinite(command.delayMillis) && command.delayMillis > 0)
      }
    })
  })

  it("context I1: a snapshot stays under 8 KB", () => {
    always(({ after }) => assert.isBelow(Buffer.byteLength(JSON.stringify(stored(after))), 8_192))
  })

  it("machine A2: a tick makes at most maxIterations model calls", () => {
    always((moment, index, life) => {
      const context = contextOf(moment.after)
      if (context.envelope === null) return
      assert.isAtMost(context.iteration, patternNow(context).maxIterations)
      // Counted from the outside: replies within the tick, not what the context says of them.
      const replies = life
        .slice(0, index + 1)
        .filter((past) => past.event.type === "xstate.done.actor.infer" && contextOf(past.before).tick === context.tick)
      assert.isAtMost(replies.length, patternNow(context).maxIterations)
    })
  })

  it("calls I1, I3: one dangerous call a tick, and none that no one approved when approval is asked for", () => {
    fc.assert(
      fc.property(aLife, (life) => {
        const perTick = new Map<number, number>()
        for (const moment of live(life)) {
          const context = contextOf(moment.after)
          for (const [, call] of startedCalls(moment)) {
            if (call?.category !== "dangerous") continue
            perTick.set(context.tick, (perTick.get(context.tick) ?? 0) + 1)
            if (!patternNow(context).confirmDangerous) continue
            const { approval = call.approval, decision, type } = moment.event as Partial<Record<string, unknown>>
            assert.deepStrictEqual({ type, decision, approval }, {
              type: "approval",
              decision: "approved",
              approval: call.approval
            } as object)
          }
        }
        for (const count of perTick.values()) assert.strictEqual(count, 1)
      }),
      RUNS
    )
  })

  it("calls I2, I4: only allowed calls are started, and each once", () => {
    fc.assert(
      fc.property(aLife, (life) => {
        const started = new Set<string>()
        for (const moment of live(life)) {
          const { iteration, tick } = contextOf(moment.after)
          const { categories } = patternNow(contextOf(moment.after))
          for (const [index, call] of startedCalls(moment)) {
            assert.isDefined(call)
            assert.include(categories, call?.category)
            const id = `${tick}.${iteration}.${index}`
            assert.isFalse(started.has(id), `${id} was started twice`)
            started.add(id)
          }
        }
      }),
      RUNS
    )
  })

  it("machine I4: every tick that began ends once, or is in hand; a retired assistant has none", () => {
    fc.assert(
      fc.property(aLife, (life) => {
        let begun = 0
        let ended = 0
        for (const moment of live(life)) {
          const { envelope, tick } = contextOf(moment.after)
          if (!moment.ignored && "envelope" in moment.event) begun++
          const ends = actionsOf(moment, "endTick").length
          assert.isAtMost(ends, 1)
          ended += ends
          assert.strictEqual(tick, begun)
          assert.strictEqual(begun - ended, envelope === null ? 0 : 1)
          const status = statusOf(moment.after)
          if (status === "retired" || status === "awake.idle" || status.startsWith("dreaming")) {
            assert.strictEqual(envelope, null)
          } else if (status.startsWith("awake")) assert.notStrictEqual(envelope, null)
        }
      }),
      RUNS
    )
  })

  it("machine I3: open jobs and set timers are those of the present state, and no others", () => {
    always(({ after, jobs, timers }) => {
      const nodes = after.machine._nodes
      const running = contextOf(after).calls.flatMap(({ phase }, index) =>
        phase === "running" ? [`tool.${index}`] : []
      )
      assert.sameMembers([...jobs], Object.keys(after.machine.children))
      const open = contextOf(after).subAgents.filter(isOpen)
      const creations = open.flatMap(({ call, phase }) => (phase === "spawning" ? [creationJob(call)] : []))
      assert.sameMembers(
        [...jobs],
        [...nodes.flatMap((node) => node.invoke.map(({ id }) => id)), ...running, ...creations]
      )
      const waits = open.map(({ call, phase }) => `${phase === "retiring" ? "lost" : "due"}.${call}`)
      assert.sameMembers(
        // A timer that has just been heard in vain is gone as well.
        [...timers].filter((name) => waits.includes(name) || !/^(due|lost)\./.test(name)),
        [...new Set([...nodes.flatMap((node) => node.after.map(({ eventType }): string => eventType)), ...waits])]
      )
      assert.isEmpty([...timers].filter((name) => /^(due|lost)\./.test(name) && !waits.includes(name)))
    })
  })

  it("calls: every call of a tick is answered before the next model call, and once", () => {
    fc.assert(
      fc.property(aLife, (life) => {
        const open = new Set<number>()
        const answer = (index: number) => assert.isTrue(open.delete(index), `${index} was answered twice`)
        for (const moment of live(life)) {
          const { event } = moment
          const output = (event as { readonly output?: unknown }).output
          const tool = /^xstate\.done\.actor\.tool\.(\d+)$/.exec(event.type)
          if (event.type === "xstate.done.actor.infer") {
            ;(output as typeof ANSWER).calls.forEach((_, index) => open.add(index))
          }
          if (tool !== null && !(output as typeof DONE).pending) answer(Number(tool[1]))
          for (const type of ["answerReport", "refuseDelegation"]) {
            for (const params of actionsOf(moment, type)) {
              const { index } = params as { readonly index: number }
              if (index >= 0) answer(index)
            }
          }
          for (const params of actionsOf(moment, "refuseCalls")) {
            const { refusals } = params as { readonly refusals: ReadonlyArray<{ readonly index: number }> }
            for (const { index } of refusals) answer(index)
          }
          const ends = actionsOf(moment, "endTick").length > 0
          if (ends || moment.commands.some((command) => command._tag === "StartJob" && command.src === "infer")) {
            assert.deepStrictEqual([...open], [])
          }
        }
      }),
      RUNS
    )
  })

  it("machine A3: ticks that failed in a row halt, a success starts the counts anew, resume goes on with the same tick", () => {
    always((moment) => {
      const before = contextOf(moment.before)
      const after = contextOf(moment.after)
      const status = statusOf(moment.after)
      if (moment.event.type === "xstate.done.actor.infer") {
        assert.deepStrictEqual([after.errors, after.tries, after.outage], [0, 0, null])
      }
      if (moment.event.type === "xstate.error.actor.infer") {
        const { outage, recovery } = (moment.event as unknown as { readonly error: InferFailure }).error
        const { maxErrors } = settingsNow(before)
        const isOwn = outage === undefined
        const fails = isOwn && recovery !== "stop" && (recovery === "tell-owner" || before.tries + 1 >= maxErrors)
        assert.strictEqual(after.errors, before.errors + (fails ? 1 : 0))
        assert.strictEqual(actionsOf(moment, "endTick").length, fails ? 1 : 0)
        assert.strictEqual(status === "halted", isOwn && (recovery === "stop" || (fails && after.errors >= maxErrors)))
        if (!fails) assert.strictEqual(after.envelope, before.envelope)
        assert.strictEqual(after.tries, fails ? 0 : before.tries + (isOwn && recovery !== "stop" ? 1 : 0))
      }
      if (statusOf(moment.before) === "halted" && moment.event.type === "resume") {
        assert.deepStrictEqual([after.errors, after.haltReason], [0, null])
        const [end] = actionsOf(moment, "endTick")
        assert.strictEqual(after.tick, before.tick)
        // A halt may have cut off the last calls of the loop: then the tick ends with the resume.
        if (end === undefined) assert.strictEqual(after.envelope, before.envelope)
        else assert.include(["terminal", "max-iterations", "cut"], (end as { readonly outcome: string }).outcome)
        if (before.envelope === null) assert.strictEqual(status, "awake.idle")
      }
    })
  })

  it("outage O1-O4: an outage waits and does nothing else, for as long as its pause and the server's word say", () => {
    let met = 0
    always((moment) => {
      const before = contextOf(moment.before)
      const after = contextOf(moment.after)
      const [from, to] = [statusOf(moment.before), statusOf(moment.after)]
      const { outage: seen, retryAfterMs = 0 } = {
        ...(moment.event as unknown as { readonly error?: Partial<InferFailure> }).error
      }
      const isMet = moment.event.type.startsWith("xstate.error.actor.") && seen !== undefined && !moment.ignored
      if (after.outage !== null && !isMet) assert.deepStrictEqual(after.outage, before.outage, "nothing else brings it")
      if (["awake.idle", "dreaming.resting"].includes(to)) assert.isNull(after.outage)
      if (!isMet) return
      met++
      assert.strictEqual(actionsOf(moment, "endTick").length, 0)
      assert.deepStrictEqual([after.tick, after.envelope, after.errors], [before.tick, before.envelope, before.errors])
      if (to === "awake.idle") {
        const { sleepUntil, signals, wakeWanted } = before
        assert.isTrue(wakeWanted || signals.mailWaiting || (sleepUntil > 0 && seen.at >= sleepUntil))
        return
      }
      const place = from.split(".")[0]
      assert.strictEqual(to, `${place}.${{ awake: "thinking.parked", dreaming: "pausing" }[place ?? ""] ?? "parked"}`)
      const { parkMaxMs, parkMinMs } = settingsNow(before)
      const tries = before.outage?.tries ?? 0
      const whole = Math.min(parkMaxMs, parkMinMs * 2 ** Math.min(40, tries))
      assert.isAtLeast(after.parkMs, Math.max(1, Math.floor(whole / 2), retryAfterMs))
      assert.isAtMost(after.parkMs, Math.max(1, whole, Math.ceil(retryAfterMs + whole / 2)))
      assert.deepInclude(after.outage, { server: seen.server, at: seen.at, tries: tries + 1 })
      assert.strictEqual(after.outage?.since, before.outage?.since ?? seen.at)
      if (seen.named !== undefined) assert.notStrictEqual(after.outage?.sooner, "try")
      const told = moment.commands.filter((command) => command._tag === "Emit")
      assert.strictEqual(told.length, tries === 0 ? 1 : 0)
    })
    assert.isAbove(met, 40)
  })

  it("machine I2: halt is heard everywhere but by the retired, and a second one changes nothing", () => {
    always(({ after }) => {
      const status = statusOf(after)
      const halt = { type: "halt", reason: "fire drill" }
      const decision = decide(after, halt)
      assert.strictEqual(statusOf(decision.next), status === "retired" ? "retired" : "halted")
      if (status === "halted" || status === "retired") assert.isTrue(isIgnored(after, decision))
      else {
        assert.strictEqual(contextOf(decision.next).envelope, contextOf(after).envelope)
        assert.isTrue(isIgnored(decision.next, decide(decision.next, halt)))
      }
    })
  })

  it("machine I4: a stop ends the tick that it names, once and wherever it is, and no other", () => {
    always(({ after }) => {
      const { envelope, tick } = contextOf(after)
      const status = statusOf(after)
      const stopped = decide(after, { type: "stop", tick })
      const isInTick = envelope !== null && status !== "retired"
      assert.strictEqual(isIgnored(after, stopped), !isInTick)
      assert.isTrue(isIgnored(after, decide(after, { type: "stop", tick: tick + 1 })))
      if (!isInTick) return
      const ends = stopped.commands.filter((command) => command._tag === "Action" && command.type === "endTick")
      assert.deepStrictEqual(
        ends.map((end) => (end as unknown as { readonly params: { readonly outcome: string } }).params.outcome),
        ["stopped"]
      )
      assert.isNull(contextOf(stopped.next).envelope)
      assert.isTrue(isIgnored(stopped.next, decide(stopped.next, { type: "stop", tick })))
      if (status === "halted") assert.strictEqual(statusOf(stopped.next), "halted")
      else assert.include(["awake.idle", "retired"], statusOf(stopped.next))
    })
  })

  it("machine I2: mail is heard only at rest, replies where nothing can be missed, control by all but the retired", () => {
    always(({ after }) => {
      const status = statusOf(after)
      const lanes = receives(after)
      assert.strictEqual(
        lanes.includes("mail"),
        ["awake.idle", "dreaming.pausing", "dreaming.resting"].includes(status)
      )
      assert.strictEqual(lanes.includes("reply"), !["awake.acting.running", "halted", "retired"].includes(status))
      assert.strictEqual(lanes.includes("control"), status !== "retired")
    })
  })

  it("machine I5: on a full window compaction comes first, and it goes back to where it came from", () => {
    always((moment) => {
      const { after, before, event } = moment
      const wasCut = actionsOf(moment, "endTick").some((end) => (end as { readonly outcome: string }).outcome === "cut")
      const context = contextOf(after)
      const { assessTask, compactEmergencyRatio, compactEnabled, compactSleepRatio } = settingsNow(context)
      const [from, to] = [statusOf(before), statusOf(after)]
      const begins = context.tick > contextOf(before).tick && event.type !== "sleep"
      if (begins) {
        const full = compactEnabled && context.signals.tokenRatio >= compactEmergencyRatio
        assert.strictEqual(to === "compacting.extracting", full)
        if (full) assert.strictEqual(context.compactingFrom, "awake")
      }
      if (from === "dreaming.pruning" && ["compacting.extracting", "dreaming.resting"].includes(to)) {
        const full = compactEnabled && context.signals.tokenRatio >= compactSleepRatio
        assert.strictEqual(to === "compacting.extracting", full)
        if (full) assert.strictEqual(context.compactingFrom, "dreaming")
      }
      if (event.type === "compact") {
        const began = compactEnabled && receives(before).includes("mail")
        assert.strictEqual(to, began ? "compacting.extracting" : from)
        if (began) assert.strictEqual(context.compactingFrom, from.slice(from.indexOf(".") + 1))
        assert.deepStrictEqual([context.tick, context.envelope], [contextOf(before).tick, null])
      }
      const leaves = from.startsWith("compacting") && !to.startsWith("compacting")
      if (!leaves || to === "halted" || to === "retired") return
      const { compactingFrom, wakeWanted } = contextOf(before)
      if (compactingFrom !== "awake") {
        const rest = compactingFrom === "pausing" ? "dreaming.pausing" : "dreaming.resting"
        assert.strictEqual(to, wakeWanted || compactingFrom === "idle" ? "awake.idle" : rest)
        assert.strictEqual(context.envelope, null)
      } else {
        // Only a stop ends the tick that waits for it.
        if (to === "awake.idle") return assert.isTrue(wasCut || event.type === "stop")
        assert.strictEqual(to, assessTask ? "awake.assessing.weighing" : "awake.thinking.inferring")
        assert.strictEqual(context.envelope, contextOf(before).envelope)
      }
    })
  })

  it("no state is a dead end: when jobs and timers end, the assistant comes to rest", () => {
    const end = {
      pick: 0,
      breaks: false,
      reply: ANSWER,
      failure: { recovery: "retry" as const, reason: "" },
      tool: DONE,
      restriction: {},
      step: { skipped: false, signals: CALM }
    }
    const atRest = (decoded: Decoded) => receives(decoded).includes("mail") || statusOf(decoded) === "retired"
    fc.assert(
      fc.property(aLife, (life) => {
        const moments = live(life)
        const last = moments.at(-1)
        if (last === undefined) return
        let now = statusOf(last.after) === "halted" ? decide(last.after, { type: "resume" }).next : last.after
        for (let step = 0; step < 40 && !atRest(now); step++) {
          const [child] = Object.values(now.machine.children)
          const [timer] = now.machine._nodes.flatMap((node) => node.after)
          if (child !== undefined) now = decide(now, endOf(child.id, child.src as string, end)).next
          else if (timer !== undefined) now = decide(now, { type: timer.eventType }).next
        }
        assert.isTrue(atRest(now), statusOf(now))
      }),
      RUNS
    )
  })
})
