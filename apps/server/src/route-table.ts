// RouteTable: which endpoint a method and a path mean.
// Owns finding it, and telling an unknown path from a wrong method. Leaves decoding and handling to the router.
// R1  It is made of the contract alone: what is in no group is not found.
// R2  A route has a pattern without any id in it, so that it can be measured by it.

import * as HttpApi from "effect/http-api/HttpApi"
import { Api } from "./api/index.ts"

export interface Route {
  readonly method: string
  /** e.g. `/v1/assistants/:id`. */
  readonly pattern: string
  /** `group.endpoint`. */
  readonly name: string
}

export type Found = { readonly route: Route } | { readonly allow: ReadonlyArray<string> } | undefined

interface Branch {
  readonly fixed: Map<string, Branch>
  any?: Branch
  readonly routes: Map<string, Route>
}

const branch = (): Branch => ({ fixed: new Map(), routes: new Map() })

const grown = (root: Branch, pattern: string): Branch => {
  let at = root
  for (const segment of pattern.split("/").slice(1)) {
    if (segment.startsWith(":")) at = at.any ??= branch()
    else {
      const next = at.fixed.get(segment) ?? branch()
      at.fixed.set(segment, next)
      at = next
    }
  }
  return at
}

/** A fixed segment is meant before one that may be anything. */
const reached = (at: Branch, segments: ReadonlyArray<string>, index: number): Branch | undefined => {
  const segment = segments[index]
  if (segment === undefined) return at.routes.size === 0 ? undefined : at
  const fixed = at.fixed.get(segment)
  const found = fixed === undefined ? undefined : reached(fixed, segments, index + 1)
  if (found !== undefined) return found
  return at.any === undefined || segment === "" ? undefined : reached(at.any, segments, index + 1)
}

const routesOfApi = (): ReadonlyArray<Route> => {
  const routes: Array<Route> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      routes.push({
        method: endpoint.method,
        pattern: endpoint.path,
        name: `${group.identifier}.${endpoint.identifier}`
      })
    }
  })
  return routes
}

export const routes: ReadonlyArray<Route> = routesOfApi()

const root = branch()
for (const route of routes) grown(root, route.pattern).routes.set(route.method, route)

/** `path` is as it stands in the request, without its query. HEAD means what GET does. */
export const find = (method: string, path: string): Found => {
  const at = reached(root, path.split("/").slice(1), 0)
  if (at === undefined) return undefined
  const route = at.routes.get(method) ?? (method === "HEAD" ? at.routes.get("GET") : undefined)
  return route === undefined ? { allow: [...at.routes.keys()].toSorted() } : { route }
}
