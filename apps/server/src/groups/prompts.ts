// Prompts: the group about the prompt registry of a tenant.
// Owns the way from a written template to creating or changing one. Leaves every rule to `context`.
// P1  A template or a component is written over the version that was seen, or not at all; an import without one, over nothing
//     unless it says so.
// P2  Every change can be undone, and the one before it after that.

import { defined } from "@reverie/protocol"
import { chart, type Fleet, type Json, type Prompts } from "reverie"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Api, Malformed } from "../api/index.ts"
import { asking, changing } from "../gateway.ts"
import { pictureFor } from "../layout/layout.ts"

type Template = Awaited<ReturnType<Prompts["listTemplates"]>>[number]

const viewOf = ({ category, content, description, isBuiltin, key, name, version }: Template) => ({
  key,
  name,
  category,
  description,
  text: content,
  builtin: isBuiltin,
  version
})

interface Written {
  readonly name: string
  readonly text: string
  readonly description?: string
  readonly category?: string
  readonly expected: number
}

const write = async (fleet: Fleet, key: string, { expected, text, ...texts }: Written) => {
  const prompts = fleet.prompts
  const draft = { ...texts, content: text }
  const { version } =
    expected === 0
      ? await prompts.createTemplate({ key, ...draft })
      : await prompts.updateTemplate(key, expected, draft)
  return { version }
}

/** The static ones, and those of the tenant with the version that a change must name. */
const componentsOf = async ({ prompts }: Pick<Fleet, "prompts">): Promise<ReadonlyArray<Json>> => {
  const own = await prompts.listPluggableComponents()
  const all = await prompts.listComponents()
  const items = all.map((each) => own.find(({ id }) => id === each.id) ?? each)
  return items as unknown as ReadonlyArray<Json>
}

interface WrittenComponent {
  readonly name?: string
  readonly text?: string
  readonly template?: string
  readonly description?: string
  readonly role?: string
  readonly enabled?: boolean
  readonly after?: number
  readonly expected: number
}

const writeComponent = async ({ prompts }: Fleet, key: string, written: WrittenComponent) => {
  const { after, description, enabled, expected, name, role, template, text } = written
  const content = template === undefined ? text : (await prompts.getTemplate(template)).content
  const patch = defined({ name, content, description, role, enabled })
  if (expected === 0) {
    if (content === undefined || after === undefined) {
      throw new Malformed({ message: `a new component needs a text or a template, and after which one it stands` })
    }
    return prompts.createComponent({ key, name: name ?? key, ...patch, content, afterStatic: after })
  }
  const present = await prompts.getComponentByKey(key)
  const isMoved = after !== undefined && after !== present.afterStatic
  const moved = isMoved ? await prompts.moveComponent(present.id, expected, after) : { ...present, version: expected }
  return Object.keys(patch).length === 0 && isMoved ? moved : prompts.updateComponent(moved.id, moved.version, patch)
}

const removeComponent = async ({ prompts }: Fleet, key: string, expected: number) => {
  await prompts.deleteComponent((await prompts.getComponentByKey(key)).id, expected)
  return { key }
}

interface Imported {
  readonly export: Json
  readonly overwrite?: boolean
  readonly expected?: number
}

const optionsOf = ({ expected, overwrite }: Imported) => defined({ overwrite, version: expected })

const parsed = (text: string) => JSON.parse(text) as Json

/** The key of an import is known only once it was read. */
const IMPORT = "import"

type Kind = Parameters<Prompts["undo"]>[0]

const pastOf = (kind: Kind, key: string) =>
  asking(async (fleet) => {
    const items = await fleet.prompts.history(kind, key, { limit: 200 })
    return { items: items as unknown as ReadonlyArray<(typeof items)[number] & { readonly definition?: Json }> }
  })

const undo = (kind: Kind, key: string, expected: number | undefined) =>
  changing(`prompts.undo-${kind}`, key, async ({ prompts }) => {
    const definition = await prompts.undo(kind, key, expected)
    return defined({ definition: definition as unknown as Json | undefined })
  })

export const promptsLive = HttpApiBuilder.group(
  Api,
  "prompts",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll({
      templates: () => asking(async (fleet) => ({ items: (await fleet.prompts.listTemplates()).map(viewOf) })),
      components: () =>
        asking(async (fleet) => ({
          items: await componentsOf(fleet)
        })),
      write: ({ params: { key }, payload }) => changing("prompts.write", key, (fleet) => write(fleet, key, payload)),
      remove: ({ params: { key }, query: { expected } }) =>
        changing("prompts.remove", key, async ({ prompts }) => {
          await prompts.deleteTemplate(key, expected)
          return { key }
        }),
      history: ({ params: { key } }) => pastOf("template", key),
      undo: ({ params: { key }, payload }) => undo("template", key, payload.expected),
      clone: ({ params: { key }, payload: { name, to } }) =>
        changing("prompts.clone", to, async ({ prompts }) => {
          const { version } = await prompts.cloneTemplate(key, to, name)
          return { key: to, version }
        }),
      export: ({ params: { key } }) => asking(async ({ prompts }) => parsed(await prompts.exportTemplateJson(key))),
      import: ({ payload }) =>
        changing("prompts.import", IMPORT, async ({ prompts }) => {
          const text = JSON.stringify(payload.export)
          const { key, version } = await prompts.importTemplateJson(text, optionsOf(payload))
          return { key, version }
        }),
      writeComponent: ({ params: { key }, payload }) =>
        changing("prompts.write-component", key, async (fleet) => {
          const { id, version } = await writeComponent(fleet, key, payload)
          return { id, version }
        }),
      removeComponent: ({ params: { key }, query: { expected } }) =>
        changing("prompts.remove-component", key, (fleet) => removeComponent(fleet, key, expected)),
      componentHistory: ({ params: { key } }) => pastOf("component", key),
      undoComponent: ({ params: { key }, payload }) => undo("component", key, payload.expected),
      saveComponent: ({ params: { key }, payload: { name, to } }) =>
        changing("prompts.save-component", to, async ({ prompts }) => {
          const component = await prompts.getComponentByKey(key)
          const draft = { key: to, name: name ?? component.name }
          const { version } = await prompts.saveComponentAsTemplate(component.id, draft)
          return { key: to, version }
        }),
      exportComponent: ({ params: { key } }) =>
        asking(async ({ prompts }) =>
          parsed(await prompts.exportComponentJson((await prompts.getComponentByKey(key)).id))
        ),
      importComponent: ({ payload }) =>
        changing("prompts.import-component", IMPORT, async ({ prompts }) => {
          const text = JSON.stringify(payload.export)
          const { id, key, version } = await prompts.importComponentJson(text, optionsOf(payload))
          return { key, id, version }
        })
    })
  })
)

// Machine: the group about the statechart that every assistant lives by.
// H1  A client that names the present hash learns nothing but that it is the present one.

/** Asked each time whether it is the present one: a newer version of the server may live by another chart. */
const CACHING = "private, no-cache"

const names = (header: string | undefined, etag: string): boolean =>
  (header ?? "").split(",").some((each) => each.trim().replace(/^W\//, "") === etag || each.trim() === "*")

export const machineLive = HttpApiBuilder.group(
  Api,
  "machine",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleRaw("machine", ({ query: { view = "whole" } }) =>
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest
        const etag = `"${chart().hash}${view === "whole" ? "" : `-${view}`}"`
        const told = { etag, "cache-control": CACHING, vary: "accept-encoding" }
        if (names(headers["if-none-match"], etag)) return HttpServerResponse.empty({ status: 304, headers: told })
        const picture = yield* asking(() => pictureFor(chart(), view))
        return HttpServerResponse.jsonUnsafe(picture, { headers: told })
      })
    )
  })
)
