// RegistryModel: what a registry should show and answer, said in a page: a stack for each key.
// Owns the steps, the model and playing both side by side.

import { assert } from "@effect/vitest"
import { type PromptRegistry } from "@reverie/context"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { builtInTemplates } from "../src/prompt/templates.ts"
import { orderedStaticIds } from "../src/layout/scheme.ts"

export const keys = ["a", "b", "default"] as const
const key = fc.constantFrom(...keys)
const content = fc.constantFrom("one", "{two}", "{{three}}", "{a}{b}{a}", "")
/** Few, so that components meet. */
export const after = fc.constantFrom(1000, 1000, 7000)

const isStale = fc.constantFrom(false, false, false, true)

/** What may be done to templates and components; a stale version is one lower than the newest. */
export const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("create" as const), key, content }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("update" as const), key, content, isStale }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), key, isStale }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("clone" as const), key, to: key }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("undo" as const), key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("plug" as const), key, after, content }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("move" as const), key, after }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("unplug" as const), key }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("undoPlug" as const), key }) }
)
export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

interface Plugged {
  readonly id: number
  readonly after: number
  readonly content: string
}

/** A registry as two maps of stacks: the top is what there is, each change pushes, each undo pops. */
export class Model {
  readonly templates = new Map<string, Array<string | undefined>>()
  readonly components = new Map<string, Array<Plugged | undefined>>()
  readonly versions = { template: new Map<string, number>(), component: new Map<string, number>() }

  top<A>(stacks: Map<string, Array<A | undefined>>, key: string): A | undefined {
    return stacks.get(key)?.at(-1)
  }

  push<A>(
    kind: "template" | "component",
    stacks: Map<string, Array<A | undefined>>,
    key: string,
    value: A | undefined
  ) {
    stacks.set(key, [...(stacks.get(key) ?? []), value])
    this.#count(kind, key)
  }

  pop<A>(kind: "template" | "component", stacks: Map<string, Array<A | undefined>>, key: string): boolean {
    const stack = stacks.get(key) ?? []
    if (stack.length === 0) return false
    stack.pop()
    this.#count(kind, key)
    return true
  }

  version(kind: "template" | "component", key: string): number {
    return this.versions[kind].get(key) ?? 0
  }

  /** The lowest id after a static one that no other component has, and the component itself has only for `request`. */
  freeId(key: string, after: number, request?: number): number {
    const others = [...this.components.keys()].filter((each) => each !== key || request === undefined)
    const taken = new Set(others.flatMap((each) => this.top(this.components, each)?.id ?? []))
    if (request !== undefined && !taken.has(request)) return request
    let id = after + 1
    while (taken.has(id)) id++
    return id
  }

  #count(kind: "template" | "component", key: string) {
    this.versions[kind].set(key, this.version(kind, key) + 1)
  }
}

const builtInContent = (key: string): string | undefined => builtInTemplates.get(key)?.content

/** Does a step to the model; answers the tag of the expected failure, or `done`. */
const expectTemplate = (model: Model, each: Step): string => {
  const { templates } = model
  const present = model.top(templates, each.key)
  const missing = builtInContent(each.key) === undefined ? "PromptUnknown" : "BuiltInLocked"
  if (each.do === "create") {
    if (present !== undefined) return "KeyTaken"
    model.push("template", templates, each.key, each.content)
  } else if (each.do === "clone") {
    const original = present ?? builtInContent(each.key)
    if (original === undefined) return "PromptUnknown"
    if (model.top(templates, each.to) !== undefined) return "KeyTaken"
    model.push("template", templates, each.to, original)
  } else if (each.do === "update" || each.do === "delete") {
    if (present === undefined) return missing
    if (each.isStale) return "PromptConflict"
    model.push("template", templates, each.key, each.do === "update" ? each.content : undefined)
  } else if (!model.pop("template", templates, each.key)) return "NothingToUndo"
  return "done"
}

const expectComponent = (model: Model, each: Step): string => {
  const { components } = model
  const present = model.top(components, each.key)
  if (each.do === "plug") {
    if (present !== undefined) return "KeyTaken"
    model.push("component", components, each.key, {
      id: model.freeId(each.key, each.after),
      after: each.after,
      content: each.content
    })
  } else if (each.do === "undoPlug") {
    if (!model.pop("component", components, each.key)) return "NothingToUndo"
    const stack = components.get(each.key) ?? []
    const back = stack.pop()
    // It may keep the id it has: for the look around it has none.
    if (back !== undefined) stack.push({ ...back, id: model.freeId(each.key, back.after, back.id) })
    else if (stack.length > 0) stack.push(back)
    components.set(each.key, stack)
  } else if (present === undefined) return "PromptUnknown"
  else if (each.do === "move") {
    model.push("component", components, each.key, {
      ...present,
      id: model.freeId(each.key, each.after),
      after: each.after
    })
  } else model.push("component", components, each.key, undefined)
  return "done"
}

type Told = ReturnType<typeof told>

export const told = (effect: Effect.Effect<unknown, { readonly _tag: string }>) =>
  Effect.match(effect, { onSuccess: () => "done", onFailure: ({ _tag }) => _tag })

const doTemplate = (registry: PromptRegistry, model: Model, each: Step): Told => {
  const version = model.version("template", each.key) - ("isStale" in each && each.isStale ? 1 : 0)
  if (each.do === "create") return told(registry.createTemplate({ key: each.key, name: "N", content: each.content }))
  if (each.do === "clone") return told(registry.cloneTemplate(each.key, each.to))
  if (each.do === "update") return told(registry.updateTemplate(each.key, version, { content: each.content }))
  return told(each.do === "delete" ? registry.deleteTemplate(each.key, version) : registry.undo("template", each.key))
}

const doComponent = (registry: PromptRegistry, model: Model, each: Step): Told => {
  const id = model.top(model.components, each.key)?.id ?? 999
  const version = model.version("component", each.key)
  if (each.do === "plug") {
    const { after, content, key } = each
    return told(registry.createComponent({ key, name: "N", content, afterStatic: after }))
  }
  if (each.do === "move") return told(registry.moveComponent(id, version, each.after))
  return told(each.do === "unplug" ? registry.deleteComponent(id, version) : registry.undo("component", each.key))
}

const isOfComponents = (each: Step): boolean => ["plug", "move", "unplug", "undoPlug"].includes(each.do)

const byKey = (a: readonly [string, unknown], b: readonly [string, unknown]): number => (a[0] < b[0] ? -1 : 1)

const templatesIn = (model: Model) =>
  [...model.templates]
    .flatMap(([key, stack]) => (stack.at(-1) === undefined ? [] : [[key, stack.at(-1)] as const]))
    .toSorted(byKey)

const componentsIn = (model: Model) =>
  [...model.components.keys()]
    .flatMap((key) => {
      const plugged = model.top(model.components, key)
      return plugged === undefined ? [] : [{ key, ...plugged }]
    })
    .toSorted((a, b) => a.id - b.id)

export const shows = (registry: PromptRegistry, model: Model) =>
  Effect.gen(function* () {
    const templates = yield* registry.listTemplates({ includeBuiltin: false })
    assert.deepStrictEqual(
      templates.map(({ content, key }) => [key, content] as const),
      templatesIn(model)
    )
    const components = yield* registry.listPluggableComponents
    assert.deepStrictEqual(
      components.map(({ afterStatic, content, id, key }) => ({ key, id, after: afterStatic, content })),
      componentsIn(model)
    )
    for (const { id, key } of components) assert.strictEqual((yield* registry.getComponent(id)).key, key)
    const all = [...(yield* registry.listComponents())].map(({ id }) => id)
    assert.deepStrictEqual(
      all,
      [...new Set([...orderedStaticIds(), ...components.map(({ id }) => id)])].toSorted((a, b) => a - b)
    )
  })

/** Does a step to both; answers what came of it. */
export const play = (registry: PromptRegistry, model: Model, each: Step) =>
  Effect.gen(function* () {
    const isPlugged = isOfComponents(each)
    const answer = yield* isPlugged ? doComponent(registry, model, each) : doTemplate(registry, model, each)
    assert.strictEqual(answer, isPlugged ? expectComponent(model, each) : expectTemplate(model, each))
    return answer
  })
