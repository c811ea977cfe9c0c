// Machine: the statechart of an assistant, from top to bottom its life: awake, dreaming, compacting, halted, retired.
// Owns which state follows which, and which commands that brings. Names (machine/) and JSON only: machine.json is written from it.
// I1  It is only ever driven by the pure transition (decide.ts): nothing here runs, waits or throws away a result.
// I2  Control is heard in every state but `retired`; mail only where the assistant rests (tag `acceptsMail`).
// I3  Every job a state starts is stopped when the state is left, and its result fenced by its job id.
// I4  A tick that was begun ends once: after a halt it goes on, retired it fails, and a stop that names it ends it anywhere.
// I5  Compaction at the emergency ratio comes before everything else of a tick; by command it happens outside of one.
// I6  A halt and a retirement go through the whole subtree: an assistant that retires has all below it retire.
// I7  News of a sub-agent is heard in every state but `retired`.
// I8  Every leaf state has one condition (a tag) and one activity (meta): nothing else lists what is busy or at rest.
// Awake
// A1  `awake.idle` is the only state of `awake` that receives mail; every other one has a tick in hand.
// A2  A tick makes at most `maxIterations` model calls.
// A3  An outage of the model never ends a tick, nor a limit of the tenant: the call is made again after a pause, however
//     often. A call that fails for a reason of its own is tried `maxErrors` times, then its tick fails; so many ticks in a
//     row that failed halt the assistant, so that what waits for it is not lost as well. A refusal that only a person can
//     cure halts at once, with the tick in hand.
// A4  A model call that has no room in the budget is not made: the tick ends as cut.
// A5  A sub-agent retires with the end of its first tick.
// A6  An answer that has not the form it must have, or that a hook refused, is asked for again, twice in a tick at most and
//     within A2; a tick that has no more tries ends as misshapen, or as refused.
// Dreaming and compacting
// D1  An operation is isolated: its failure, or its being skipped, leads on to the next.
// D2  A wake-up waits until the step at hand has committed; mail waits in the mailbox until then. The end of the sleep
//     wakes the assistant in the same way.
// D3  Compaction goes back to where it came from, whatever happens in it; skipped at any phase, it changes nothing. A
//     failed extraction does not keep it from going on.
// D4  An operation or phase that has more to do is another job with another commit: a crash repeats one step, no more.
// D5  With a pace, a pause lies between two steps of a dream; what comes in a pause is heard at once.
// D6  A command to compact is followed whatever the ratio, and is no tick: idle goes back to idle, a sleeper to its rest,
//     or to its pause, whose operation begins to count anew. A halt cuts it off, as it does a dream.
// D7  An outage of the model is no failure of a step: the same step is tried again after a pause. A dream pauses as it does
//     where it is paced, until its sleep ends; a compaction waits as long as it takes: its tick needs the same model.

import type { CallPhase } from "./events.ts"
import { creationContext } from "./context.ts"
import type { CallEnd } from "./machine/tool-calls.ts"
import { type CompactionPhase, type DreamOperation, dreamOperations } from "./machine/phases.ts"
import { vocabulary } from "./machine/vocabulary.ts"

const IDLE = "#assistant.awake.idle"
const THINKING = "#assistant.awake.thinking"
const ACTING = "#assistant.awake.acting"
const COMPACTING = "#assistant.compacting"
const HALTED = "#assistant.halted"
const RETIRED = "#assistant.retired"

const endTick = (outcome: "answered" | "misshapen" | "refused" | "slept" | "terminal" | "max-iterations") =>
  [{ type: "endTick", params: { outcome } }, "clearTick"] as const

const failTick = (outcome: "failed" | "cut") =>
  [{ type: "endTickAsCallFailed", params: { outcome } }, "clearTick"] as const

const endCalls = (because: CallEnd, ...phases: ReadonlyArray<CallPhase>) =>
  ({ type: "endCalls", params: { phases, because } }) as const

/** Ends the tick in hand from outside: calls that are open have no result any more. */
const breakOff = (because: "retired" | "stopped", outcome: "failed" | "stopped", reason: string) =>
  [
    endCalls(because, "running", "ready", "waiting"),
    endCalls(`${because}Unapproved`, "asking"),
    { type: "endTick", params: { outcome, reason } },
    ...(because === "stopped" ? (["dismissUnneededSubAgents"] as const) : []),
    "clearTick"
  ] as const
const stop = { guard: "isTickToStop", actions: breakOff("stopped", "stopped", "A person stopped it.") } as const

const retire = ["retireSubAgents", "reportToParent"] as const
const retireInTick = [...breakOff("retired", "failed", "The assistant was retired."), ...retire] as const
const resume = ["recordResume", "resumeSubAgents"] as const

const beginTick = { target: "#assistant.awake.assessing", actions: "beginTick" } as const
const mail = { message: beginTick, timer: beginTick }

const compactFrom = (from: "idle" | "pausing" | "resting") =>
  ({ guard: "isCompactionOn", target: COMPACTING, actions: { type: "compactByCommand", params: { from } } }) as const

type AfterOperation = DreamOperation | "settling"
type AfterPhase = CompactionPhase | "returning"

const recordStep = (next: AfterOperation) => ({ type: "recordDreamStep", params: { next } }) as const

const operation = (name: DreamOperation, next: AfterOperation, description: string) =>
  vocabulary.createStateConfig({
    description,
    tags: ["busy"],
    on: { wake: { actions: "requestWake" } },
    invoke: {
      src: "dream",
      id: "dream",
      input: { operation: name },
      onDone: [
        { guard: "isSleepOver", target: IDLE, actions: "wakeUp" },
        { guard: "dreamHasMoreAndIsPaced", target: "pausing", actions: recordStep(name) },
        { guard: "dreamHasMore", target: name, reenter: true, actions: recordStep(name) },
        { guard: "dreamIsPaced", target: "pausing", actions: recordStep(next) },
        { target: next, actions: recordStep(next) }
      ],
      onError: [
        { guard: "isWakeDue", target: IDLE, actions: "wakeUp" },
        { guard: "isSleepOverInOutage", target: IDLE, actions: "wakeUp" },
        { guard: "isModelAway", target: "pausing", actions: { type: "recordDreamOutage", params: { next: name } } },
        { target: next, actions: "skipFailedStep" }
      ]
    }
  })

/** The pause of a dream is over: it goes on with this operation, if it is the next. */
const resumeWith = (name: DreamOperation) =>
  ({ guard: { type: "isNextOperation", params: { operation: name } }, target: name }) as const

const phase = (name: CompactionPhase, next: AfterPhase, failed: AfterPhase, description: string) =>
  vocabulary.createStateConfig({
    description,
    tags: ["busy"],
    on: { wake: { actions: "requestWake" } },
    invoke: {
      src: "compact",
      id: "compact",
      input: { phase: name },
      onDone: [
        { guard: "isCompactionSkipped", target: "returning", actions: "recordCompactionStep" },
        { guard: "compactionHasMore", target: name, reenter: true, actions: "recordCompactionStep" },
        { target: next, actions: "recordCompactionStep" }
      ],
      onError: [
        { guard: "isModelAway", target: "parked", actions: { type: "recordPhaseOutage", params: { phase: name } } },
        { target: failed, actions: "skipFailedStep" }
      ]
    }
  })

export const assistantMachine = vocabulary.createMachine({
  id: "assistant",
  description: "One long-lived assistant: it handles events, sleeps and dreams, and makes room in its context window.",
  context: ({ input }) => creationContext(input?.settings ?? {}, input?.subAgentStart),
  initial: "awake",
  on: {
    // A failure that no state receives is late. Unheard, XState would end the whole assistant with it.
    "xstate.error.actor.*": {},
    news: { actions: "applyNews" },
    delegate: { actions: "delegate" },
    budget: { actions: "setBudget" },
    "xstate.done.actor.child.*": { actions: "recordSubAgentCreated" },
    "xstate.error.actor.child.*": { actions: "recordCreationFailed" },
    halt: { target: HALTED, actions: [endCalls("halted", "running", "ready"), "recordHalt"] },
    retire: [
      { guard: "isInTick", target: RETIRED, actions: retireInTick },
      { target: RETIRED, actions: retire }
    ]
  },
  states: {
    awake: {
      description: "Handles one event after the other, each in a tick.",
      initial: "idle",
      on: { stop: { ...stop, target: IDLE } },
      states: {
        idle: {
          description: "Nothing is in hand: the next mail begins a tick.",
          tags: ["atRest", "acceptsReplies", "acceptsMail"],
          meta: { activity: "idle" },
          always: { guard: "isAssignmentOver", target: RETIRED, actions: retire },
          on: {
            ...mail,
            stop: {},
            sleep: { target: "#assistant.dreaming", actions: ["beginTick", "beginSleep", ...endTick("slept")] },
            compact: compactFrom("idle")
          }
        },
        assessing: {
          description: "A tick has begun.",
          tags: ["busy", "inTick", "acceptsReplies"],
          meta: { activity: "thinking" },
          initial: "choosing",
          states: {
            choosing: {
              description: "Makes room first where the context window is nearly full.",
              always: [
                {
                  guard: "isWindowNearlyFull",
                  target: COMPACTING,
                  actions: { type: "beginCompaction", params: { from: "awake" } }
                },
                { guard: "isAssessmentOn", target: "weighing" },
                { target: THINKING, actions: "nextIteration" }
              ]
            },
            weighing: {
              description: "A job assesses the task, which may narrow what the tick is allowed.",
              invoke: {
                src: "assess",
                id: "assess",
                input: {},
                onDone: { target: THINKING, actions: ["recordAssessment", "nextIteration"] },
                onError: { target: THINKING, actions: "nextIteration" }
              }
            }
          }
        },
        thinking: {
          description: "Asks the model.",
          tags: ["inTick", "acceptsReplies"],
          meta: { activity: "thinking" },
          initial: "affording",
          states: {
            affording: {
              description: "Reserves what the call may take of the budget.",
              tags: ["busy"],
              always: [
                { guard: "isOutOfBudget", target: IDLE, actions: ["endTickAsOutOfBudget", "clearTick"] },
                { target: "inferring", actions: "reserveBudget" }
              ]
            },
            inferring: {
              description: "The model call is under way.",
              tags: ["busy"],
              exit: "settleBudget",
              invoke: {
                src: "infer",
                id: "infer",
                input: {},
                onDone: [
                  { guard: "hasToolCalls", target: ACTING, actions: "admitCalls" },
                  { guard: "mayRepairAnswer", target: "affording", actions: ["recordRepair", "nextIteration"] },
                  { guard: "isAnswerRefused", target: IDLE, actions: ["recordModelSuccess", ...endTick("refused")] },
                  { guard: "isMisshapen", target: IDLE, actions: ["recordModelSuccess", ...endTick("misshapen")] },
                  { target: IDLE, actions: ["recordModelSuccess", ...endTick("answered")] }
                ],
                onError: [
                  { guard: "isInterrupted", target: "affording" },
                  { guard: "waitsForServer", target: "parked", actions: "recordOutage" },
                  { guard: "waitsForLimit", target: "parked", actions: "recordLimit" },
                  { guard: "isRetryable", target: "parked", actions: "recordFailedTry" },
                  { guard: "needsPerson", target: HALTED, actions: "recordHaltByFailure" },
                  { guard: "isCutByBudget", target: IDLE, actions: failTick("cut") },
                  { guard: "isRefusedByLimit", target: IDLE, actions: failTick("failed") },
                  {
                    guard: "hasFailedTooOften",
                    target: HALTED,
                    actions: ["countFailedTick", "recordHaltByFailure", ...failTick("failed")]
                  },
                  { target: IDLE, actions: ["countFailedTick", ...failTick("failed")] }
                ]
              }
            },
            parked: {
              description: "The call failed and is made again after a pause, or at once when someone says so.",
              tags: ["waiting", "paused"],
              entry: "announceOutage",
              on: { resume: { target: "affording" } },
              after: { park: "affording" }
            }
          }
        },
        acting: {
          description: "Runs the tool calls of a reply.",
          tags: ["busy", "inTick"],
          meta: { activity: "acting" },
          initial: "running",
          states: {
            running: {
              // A report may come before the call it answers is known to wait for one: it stays in the mailbox until then.
              description: "Starts the calls that may run, and goes on when all of them have ended.",
              entry: "startReadyCalls",
              always: [
                { guard: "hasUnfinishedCalls" },
                { guard: "hasCallsToApprove", target: "#assistant.awake.awaitingApproval" },
                { guard: "hasCallsWithoutReport", target: "#assistant.awake.awaitingReports" },
                { guard: "hasEndedByTool", target: IDLE, actions: endTick("terminal") },
                { guard: "isIterationLimitReached", target: IDLE, actions: endTick("max-iterations") },
                { target: THINKING, actions: "nextIteration" }
              ],
              on: {
                "xstate.done.actor.tool.*": { guard: "isCallRunning", actions: ["recordResult", "applyDelegation"] },
                "xstate.error.actor.tool.*": { guard: "isCallRunning", actions: "recordBrokenCall" }
              }
            }
          }
        },
        awaitingApproval: {
          description: "A person decides on calls before they run.",
          tags: ["waiting", "inTick", "acceptsReplies"],
          meta: { activity: "awaitingApproval" },
          entry: "askApprovals",
          on: {
            report: { guard: "isReportExpected", actions: "recordReport" },
            approval: [
              { guard: "isCallApproved", target: "acting", actions: "approveCall" },
              { guard: "isCallDenied", target: "acting", actions: "denyCall" }
            ]
          },
          after: { approval: { target: "acting", actions: endCalls("unapproved", "asking") } }
        },
        awaitingReports: {
          description: "Calls have handed work on, to tools that report later or to sub-agents.",
          tags: ["waiting", "inTick", "acceptsReplies"],
          meta: { activity: "acting" },
          always: { guard: "hasAllReports", target: "acting" },
          on: { report: { guard: "isReportExpected", actions: "recordReport" } },
          after: {
            report: { target: "acting", actions: [endCalls("unreported", "waiting"), "dismissUnneededSubAgents"] }
          }
        }
      }
    },
    dreaming: {
      description: "Sleeps: digests what it lived through, then rests until the sleep ends or something wakes it.",
      tags: ["asleep", "maintaining", "acceptsReplies"],
      meta: { activity: "dreaming" },
      initial: "consolidating",
      states: {
        consolidating: operation("consolidating", "linking", "Turns the journal into semantic memory."),
        linking: operation("linking", "profiling", "Links what belongs together in memory."),
        profiling: operation("profiling", "reflecting", "Updates what is known of people."),
        reflecting: operation("reflecting", "pruning", "Reflects on what happened."),
        pruning: operation("pruning", "settling", "Retires what memory no longer needs."),
        pausing: {
          description: "The pause between two steps of a dream, or the wait for a model that is away.",
          tags: ["waiting", "paused", "acceptsMail"],
          entry: "announceOutage",
          on: { ...mail, wake: { target: IDLE, actions: "wakeUp" }, compact: compactFrom("pausing") },
          after: { dreamTick: [...dreamOperations.map(resumeWith), { target: "settling" }] }
        },
        settling: {
          description: "The dream is over: makes room before resting where the context window is full enough.",
          tags: ["busy"],
          always: [
            {
              guard: "isWindowFullForSleep",
              target: COMPACTING,
              actions: { type: "beginCompaction", params: { from: "dreaming" } }
            },
            { target: "resting" }
          ]
        },
        resting: {
          description: "Sleeps without dreaming until its time is over.",
          tags: ["atRest", "acceptsMail"],
          always: { guard: "isWakeRequested", target: IDLE, actions: "wakeUp" },
          on: { ...mail, wake: { target: IDLE }, compact: compactFrom("resting") },
          after: { sleep: { target: IDLE } }
        }
      }
    },
    compacting: {
      description: "Compacts the history; a tick that waits for it goes on afterwards.",
      tags: ["maintaining", "acceptsReplies"],
      meta: { activity: "compacting" },
      initial: "extracting",
      on: { stop: { ...stop, target: IDLE } },
      states: {
        extracting: phase("extracting", "summarizing", "summarizing", "Takes into memory what is worth keeping."),
        summarizing: phase("summarizing", "replacing", "returning", "Writes the summary."),
        replacing: phase("replacing", "returning", "returning", "Puts the summary in the place of the old messages."),
        parked: {
          description: "The model is away: the phase is tried again after a pause.",
          tags: ["waiting", "paused"],
          entry: "announceOutage",
          on: { wake: { actions: "requestWake" } },
          after: { park: [{ guard: "wasSummarizing", target: "summarizing" }, { target: "extracting" }] }
        },
        returning: {
          description: "Goes back to where the compaction came from.",
          tags: ["busy"],
          always: [
            { guard: "cameFromIdle", target: IDLE, actions: "wakeUp" },
            { guard: "cameFromPause", target: "#assistant.dreaming.pausing" },
            { guard: "cameFromSleep", target: "#assistant.dreaming.resting" },
            { guard: "isAssessmentOn", target: "#assistant.awake.assessing.weighing" },
            { target: THINKING, actions: "nextIteration" }
          ]
        }
      }
    },
    halted: {
      description: "Stands still, with its tick in hand, until it is resumed.",
      tags: ["halted"],
      meta: { activity: "halted" },
      entry: "haltSubAgents",
      on: {
        halt: {},
        stop,
        resume: [
          { guard: "hasCalls", target: ACTING, actions: resume },
          { guard: "isInIteration", target: THINKING, actions: resume },
          { guard: "isInTick", target: "#assistant.awake.assessing", actions: resume },
          { target: IDLE, actions: resume }
        ],
        delegate: { actions: "refuseDelegationWhileHalted" },
        "xstate.done.actor.child.*": { actions: "recordSubAgentCreatedWhileHalted" }
      }
    },
    retired: {
      description: "Has ended for good.",
      type: "final",
      tags: ["retired"],
      meta: { activity: "retired" }
    }
  }
})
