// Models: which model each assistant of a fleet asks, for each purpose.
// Owns which choice is the nearest, and making what was chosen. Leaves what a choice may be to model-choice.ts, and the moment at
// which a model is asked to the runtime.
// M1  The nearest choice counts: the assistant's for the purpose, the assistant's, the fleet's for the purpose, the fleet's.
//     What profiles are made with is, where nothing is said of it, what dreams are made with.
// M2  An assistant whose nearest choice is the fleet's has no model of its own: a tick of it costs nothing more.
// M3  Everything is found out once, when a fleet opens; equal choices share connections and circuit.
// M4  A fleet that is opened offline, or by a test, asks no other model, whatever its definitions say.
// M5  A budget of cost reserves at what the models cost that may be asked, and is refused where no one knows that.
// M6  Where no model was chosen, and the key of a provider is there unused, opening says so in one line.

import { Model, type Tariff } from "@reverie/model"
import { type AssistantId, defined, type Purpose, purposes } from "@reverie/protocol"
import { type Definition, type DefinitionModels, Definitions, RulesModel } from "@reverie/runtime"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { FleetDefinitionInvalid } from "../errors.ts"
import { forModel } from "../options/contexts.ts"
import { isCosted, reservingSettings } from "../options/sub-agents.ts"
import { unusedKey } from "./model-names.ts"
import { flawOfModel, type ModelChoice, type ModelMaker, modelMaker, rules } from "./model-choice.ts"

/**
 * Models by what they are asked for. `answer`: ticks, and what tools ask meanwhile; `assess`: weighing a task before it;
 * `dream`: its nights; `profile`: the step of a night that makes profiles of those it met, as `dream` when left out; `compact`:
 * compacting its history.
 */
export type PurposeModels = { readonly [Name in Purpose]?: ModelChoice }

/** The models of an assistant, or of a fleet. */
export interface ModelOptions {
  /** Which model is asked, or several in their order. */
  readonly model?: ModelChoice
  /** Other models for some purposes: `answer`, `assess`, `dream`, `profile`, `compact`. */
  readonly models?: PurposeModels
}

/** An assistant with the models that its definition chooses. */
export interface AssistantModels extends Definition, ModelOptions {
  readonly id: AssistantId
  /** The model of its sub-agents. */
  readonly subAgentModel?: ModelChoice
  /** Of a team: models of members for what the team asks of them, by their ids. */
  readonly seatModels?: Readonly<Record<string, ModelChoice>>
}

const isPurpose = (name: string): name is Purpose => purposes.some((purpose) => purpose === name)

/** What is wrong with such options, in words that follow on "its"; undefined when nothing is. */
export const flawOfModels = ({ model, models }: ModelOptions): string | undefined => {
  const flaw = flawOfModel(model)
  if (flaw !== undefined) return `model ${flaw}`
  if (models === undefined) return undefined
  if (typeof models !== "object" || models === null || Array.isArray(models)) return "models must be an object"
  for (const [name, choice] of Object.entries(models)) {
    if (!isPurpose(name)) return `models have no ${JSON.stringify(name)}; there are ${purposes.join(", ")}`
    const wrong = flawOfModel(choice)
    if (wrong !== undefined) return `models.${name} ${wrong}`
  }
  return undefined
}

const nearest = (purpose: Purpose, { model, models = {} }: ModelOptions): ModelChoice | undefined =>
  models[purpose] ?? (purpose === "profile" ? models.dream : undefined) ?? model

/** The choice for an assistant of a fleet; undefined when the environment decides. */
export const choiceFor = (purpose: Purpose, assistant: ModelOptions, fleet: ModelOptions): ModelChoice | undefined =>
  nearest(purpose, assistant) ?? nearest(purpose, fleet)

/** Where a fleet's models are said: in its definition, and in what it is opened with, which goes before. */
export interface FleetModels extends ModelOptions {
  readonly assistants: ReadonlyArray<AssistantModels>
  /** The only model that is asked, of anyone and for anything. */
  readonly only?: ModelChoice
  /** What models cost in this fleet. */
  readonly prices?: Tariff
}

export const fleetModels = (
  definition: Omit<FleetModels, "only">,
  { model, models = {} }: ModelOptions,
  only?: ModelChoice
): FleetModels => ({
  assistants: definition.assistants,
  models: { ...definition.models, ...models },
  ...defined({ model: model ?? definition.model, only: only ?? (model === "offline" ? model : undefined) })
})

/** Every choice that is made anywhere in it. */
export const choicesIn = ({ assistants, model, models = {}, only }: FleetModels): ReadonlyArray<ModelChoice> => {
  const own = assistants.flatMap((each) => [
    each.model,
    ...Object.values(each.models ?? {}),
    each.subAgentModel,
    ...Object.values(each.seatModels ?? {})
  ])
  return [model, ...Object.values(models), only, ...own].filter((choice) => choice !== undefined)
}

/** True when someone asks what the environment names. */
export const asksEnvironment = (fleet: FleetModels): boolean =>
  fleet.only === undefined &&
  fleet.assistants.some(
    (each) => each.team === undefined && purposes.some((purpose) => choiceFor(purpose, each, fleet) === undefined)
  )

type Failed = Config.ConfigError | FleetDefinitionInvalid

const modelsOf = Effect.fnUntraced(function* (assistant: AssistantModels, fleet: FleetModels, make: ModelMaker) {
  const found: { [Name in Purpose]?: Model["Service"] } = {}
  for (const purpose of purposes) {
    const choice = choiceFor(purpose, assistant, fleet)
    // What is the fleet's anyway is asked of the fleet.
    if (choice !== undefined && choice !== fleet.model) found[purpose] = yield* make(choice)
  }
  const forTeams = new Map<string, Model["Service"]>()
  for (const { id, seatModels = {} } of fleet.assistants) {
    const choice = Object.hasOwn(seatModels, assistant.id) ? seatModels[assistant.id] : undefined
    if (choice !== undefined) forTeams.set(id, yield* make(choice))
  }
  const { subAgentModel } = assistant
  const models: DefinitionModels = {
    ...found,
    ...defined({
      forTeams: forTeams.size === 0 ? undefined : forTeams,
      forSubAgents: subAgentModel === undefined ? undefined : yield* make(subAgentModel),
      isOwn: nearest("answer", assistant) === undefined ? undefined : (true as const)
    })
  }
  return Object.keys(models).length === 0 ? undefined : models
})

/** Names of all models that may answer it. */
const namesOf = (models: DefinitionModels = {}, fleet: Model["Service"]): ReadonlyArray<string> => {
  const own = purposes.map((purpose) => models[purpose] ?? fleet)
  const others = [
    ...(models.forTeams?.values() ?? []),
    ...(models.forSubAgents === undefined ? [] : [models.forSubAgents])
  ]
  const each = [...own, ...others].flatMap((model) => model.inOrder?.models ?? [model])
  return [...new Set(each.map(({ serves }) => serves?.model ?? "a model without a name"))]
}

/** With the prices at which its calls are reserved, where any assistant of the fleet has a budget of cost. */
const reserving = (
  definition: Definition,
  names: ReadonlyArray<string>,
  { assistants, only, prices = {} }: FleetModels
): Effect.Effect<Definition, FleetDefinitionInvalid> => {
  if (definition.team !== undefined || !assistants.some(({ settings }) => isCosted(settings)))
    return Effect.succeed(definition)
  const found = reservingSettings(names, prices, definition.prices)
  if (typeof found !== "string") {
    return Effect.succeed({ ...definition, settings: { ...definition.settings, ...found } })
  }
  // Models that stand in for all others cost nothing that anyone has to keep to.
  if (!isCosted(definition.settings) || only !== undefined) return Effect.succeed(definition)
  const subject = `assistant "${definition.name}"`
  const flaw = `its budget of costMicros can not be kept: no one knows what ${found} costs; say it in prices`
  return Effect.fail(new FleetDefinitionInvalid({ subject, message: `${subject}: ${flaw}` }))
}

const warned = Effect.fnUntraced(function* (fleet: FleetModels) {
  const text = asksEnvironment(fleet) ? yield* unusedKey : undefined
  if (text !== undefined) yield* Effect.logWarning(text)
})

/** The model of a fleet, and its definitions as they are with theirs. */
export const modelsLayer = (fleet: FleetModels): Layer.Layer<Model | Definitions, Failed> =>
  Layer.effectContext(
    Effect.gen(function* () {
      yield* warned(fleet)
      const make = modelMaker()
      const model = yield* make(fleet.only ?? fleet.model)
      const byName = new Map<string, Definition>()
      for (const assistant of fleet.assistants) {
        const models = fleet.only === undefined ? yield* modelsOf(assistant, fleet, make) : undefined
        const { serves } = models?.answer ?? model
        const definition = { ...forModel(assistant, serves?.model), ...defined({ accepts: serves?.accepts }) }
        const reserved = yield* reserving(definition, namesOf(models, model), fleet)
        byName.set(assistant.name, models === undefined ? reserved : { ...reserved, modelFor: models })
      }
      return Context.make(Model, model).pipe(Context.add(Definitions, { find: (name) => byName.get(name) }))
    })
  ).pipe(
    Layer.merge(Layer.succeed(RulesModel, rules)),
    // Standard output belongs to the program.
    Layer.provide(Layer.succeed(References.LogToStderr, true))
  )
