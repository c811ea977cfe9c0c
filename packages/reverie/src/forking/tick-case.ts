// TickCase: a tick put away to be judged again, and what a fork of one begins with.
// Owns the form of the case, the request fingerprints of it, and the line of an eval that holds one. Leaves the tick in it to
// fixture.ts, going through it again to the package's testing folder.
// T1  A case stands alone: no store, no key and no clock is needed to go through it. Making one asks no model.
// T2  Two requests are the same when their messages, tools and limits are, byte for byte; how the calls of the reply are to be
//     named is no part of it.
// T3  What a fork begins with is what the assistant was told then: the words of its definition, or those that its tenant had
//     written in their place by then.

import { createHash } from "node:crypto"
import { safeRenderTemplate } from "@reverie/context"
import { defined, isJsonObject } from "@reverie/protocol"
import type { Model, Prompt } from "@reverie/model"
import { recordedModel, type ToolStub } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import type { FleetDefinition } from "../fleet-options.ts"
import { ForkRefused } from "./errors.ts"
import { fixtureOfTick, type TickFixture } from "./fixture.ts"
import { forkTick } from "./fork.ts"
import type { TickSource, TickSources } from "./tick-source.ts"

/** The version of the form of a case. */
export const CASE_VERSION = 1

/** What tells requests apart: SHA-256 of the messages, tools and limits as JSON. */
export const requestHash = ({ maxOutputTokens, messages, tools }: Prompt): string =>
  createHash("sha256")
    .update(JSON.stringify([messages, tools, maxOutputTokens ?? null]))
    .digest("hex")

/** One call of the model in a tick: its answer stands in the entries. */
export interface TickRequest {
  readonly iteration: number
  readonly sha256: string
}

/** What a case changes of the tick that it holds, in the place of what the definitions of the day say. */
export interface CaseChanges {
  /** In the place of the instructions of the definition. */
  readonly instructions?: string
  /** Results of tools in the place of recorded ones. */
  readonly stubs?: ReadonlyArray<ToolStub>
}

/** A tick: what it began from, what was asked, and what it came to. */
export interface TickCase {
  /** The version of this form. */
  readonly v: typeof CASE_VERSION
  /** Tells it from a fixture of a dream or a compaction. */
  readonly kind: "tick"
  /** The fingerprint of each request, in their order. */
  readonly requests: ReadonlyArray<TickRequest>
  /** The tick, with everything that it began from. */
  readonly recorded: TickFixture
  /** What is changed whenever it is gone through; nothing when not said. */
  readonly changes?: CaseChanges
}

export const iterationIn = ({ callPrefix }: Prompt): number => Number(callPrefix.split(".")[1] ?? Number.NaN)

/** The tick goes its recorded way once more, for the requests of which the ledger keeps none. Rejects with ForkRefused. */
export const tickCase = async (
  records: TickSources,
  fleet: FleetDefinition,
  assistant: string,
  tick: number
): Promise<TickCase> => {
  const source = await records.replay.source(assistant, tick)
  const once = { replay: { source: async () => source } }
  const requests: Array<TickRequest> = []
  const then = recordedModel(source.recorded.asks)
  const model: Model["Service"] = {
    infer: (prompt, options) =>
      Effect.suspend(() => {
        requests.push({ iteration: iterationIn(prompt), sha256: requestHash(prompt) })
        return then.infer(prompt, options)
      })
  }
  await forkTick(once, fleet, { assistant, tick, model })
  const recorded = await fixtureOfTick(once, fleet, { assistant, tick, isWhole: true })
  return { v: CASE_VERSION, kind: "tick", requests, recorded }
}

/** Which tick becomes a case of an eval, and what is expected of it. */
export interface EvalCaseRequest extends CaseChanges {
  /** The id of the assistant. */
  readonly assistant: string
  /** The number of the tick. */
  readonly tick: number
  /** How reports call it; the assistant and the tick when not said. */
  readonly name?: string
  /** Texts that the answer must hold. */
  readonly expected?: ReadonlyArray<string>
  /** Tools that must be called. Where neither is said, the answer must be the recorded one. */
  readonly expectedTools?: ReadonlyArray<string>
}

/** A case as a line of a file keeps it, for `reverie eval FILE.jsonl`. */
export interface SavedCase {
  /** How reports call it. */
  readonly name: string
  /** The tick, as JSON text. */
  readonly input: string
  /** Texts that the answer must hold. */
  readonly expected?: ReadonlyArray<string>
  /** Tools that must be called. */
  readonly expectedTools?: ReadonlyArray<string>
}

/** Puts a tick away as a case of an eval. Rejects with UnknownAssistant or ForkRefused. */
export const evalCaseOf = async (
  records: TickSources,
  fleet: FleetDefinition,
  { assistant, expected, expectedTools, instructions, name, stubs, tick }: EvalCaseRequest
): Promise<SavedCase> => {
  const found = await tickCase(records, fleet, assistant, tick)
  const changes = defined({ instructions, stubs: stubs?.length === 0 ? undefined : stubs })
  const changed = Object.keys(changes).length === 0 ? found : { ...found, changes }
  return {
    name: name ?? `${assistant} tick ${tick}`,
    input: JSON.stringify(changed),
    ...defined({ expected, expectedTools })
  }
}

/** What a fork of a tick begins with. */
export interface ForkBeginning {
  /** The name of the definition that the assistant was created from. */
  readonly definition: string
  /** What the assistant was told in this tick. */
  readonly instructions: string
  /** The key of the template in `fleet.prompts` that stands in their place where there is one. */
  readonly promptKey: string
}

const writtenIn = ({ prompts }: TickSource, key: string): string | undefined => {
  const found = prompts.find((version) => version.kind === "template" && version.key === key)
  const content = isJsonObject(found?.body) ? found.body["content"] : undefined
  return typeof content === "string" ? content : undefined
}

/** What a fork of a tick begins with. Rejects with UnknownAssistant or ForkRefused. */
export const beginningOf = async (
  records: TickSources,
  fleet: FleetDefinition,
  assistant: string,
  tick: number
): Promise<ForkBeginning> => {
  const source = await records.replay.source(assistant, tick)
  const definition = fleet.assistants.find(({ name }) => name === source.definition)
  if (definition === undefined) {
    const message = `the fleet has no definition "${source.definition}", which the assistant was created from`
    throw new ForkRefused({ reason: "no-definition", message })
  }
  const { instructionsKey: key = "", name, systemPrompt } = definition
  const written = writtenIn(source, key)
  const values = { ...source.address, instructions: systemPrompt }
  const instructions = written === undefined ? systemPrompt : safeRenderTemplate({ content: written }, values)
  return { definition: name, instructions, promptKey: key }
}
