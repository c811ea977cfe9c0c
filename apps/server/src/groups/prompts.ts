// Prompts: the group about the prompt registry of a tenant.
// Owns the way from a written template to creating or changing one. Leaves every rule to `context`.
// P1  A template is written over the version that was seen, or not at all.

import { chart, type Fleet, type Json, type Prompts } from "reverie"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Api } from "../api/index.ts"
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

export const promptsLive = HttpApiBuilder.group(
  Api,
  "prompts",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll({
      templates: () => asking(async (fleet) => ({ items: (await fleet.prompts.listTemplates()).map(viewOf) })),
      components: () =>
        asking(async (fleet) => ({
          items: (await fleet.prompts.listComponents()) as unknown as ReadonlyArray<Json>
        })),
      write: ({ params: { key }, payload }) => changing("prompts.write", key, (fleet) => write(fleet, key, payload))
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
    return handlers.handleRaw("machine", () =>
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest
        const etag = `"${chart().hash}"`
        const told = { etag, "cache-control": CACHING }
        if (names(headers["if-none-match"], etag)) return HttpServerResponse.empty({ status: 304, headers: told })
        const picture = yield* asking(() => pictureFor(chart()))
        return HttpServerResponse.jsonUnsafe(picture, { headers: told })
      })
    )
  })
)
