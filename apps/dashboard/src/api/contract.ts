// Contract: the routes of the API as types, read off the server's own contract.
// Owns `Routes`, from "GET /v1/..." to what it takes and gives. Leaves asking to client.ts.
// C1  Only types are imported: nothing of the server, or of what it is made of, comes into the page.

import type { Api } from "@reverie/server/api"

type Groups = (typeof Api)["groups"]
type EndpointsOf<Name extends keyof Groups> = Groups[Name]["endpoints"][keyof Groups[Name]["endpoints"]]
type Endpoint = { [Name in keyof Groups]: EndpointsOf<Name> }[keyof Groups]

/** A schema's value; nothing where the endpoint has none. What crosses the wire is the same, for it is plain JSON. */
type Wire<Schema> = [Schema] extends [never] ? unknown : Schema extends { readonly Type: infer Value } ? Value : unknown

interface Described {
  readonly method: string
  readonly path: string
  readonly "~Params": unknown
  readonly "~Query": unknown
  readonly "~Payload": unknown
  readonly "~Success": unknown
}

/** A query as a page writes it: how many there are on a page has a default. */
type Loose<Query> = Query extends { readonly limit: number }
  ? Omit<Query, "limit"> & { readonly limit?: number }
  : Query

type Part<Name extends string, Value> = unknown extends Value
  ? unknown
  : Partial<Value> extends Value
    ? { readonly [Key in Name]?: Value }
    : { readonly [Key in Name]: Value }

type RouteOf<Each> = Each extends Described
  ? {
      readonly asked: Part<"params", Wire<Each["~Params"]>> &
        Part<"query", Loose<Wire<Each["~Query"]>>> &
        Part<"payload", Wire<Each["~Payload"]>>
      readonly answer: Wire<Each["~Success"]>
    }
  : never

/** From `GET /v1/assistants/:id` to what is asked and what is answered. */
export type Routes = {
  readonly [Each in Endpoint as `${Each["method"]} ${Each["path"]}`]: RouteOf<Each>
}
export type Route = keyof Routes
export type Reading = Extract<Route, `GET ${string}`>
export type Changing = Exclude<Route, Reading>
export type Asked<Of extends Route> = Routes[Of]["asked"]
export type Answer<Of extends Route> = Routes[Of]["answer"]
