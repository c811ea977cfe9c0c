// Place: where a test of recall on Qdrant takes place: on a server of its own, or on a real one when there is one.
// Owns the choice and cleaning up. Leaves what is tested to the test.
// P1  With `QDRANT_URL` set (and `QDRANT_API_KEY`, if it wants one) it is that server, and a collection that no one else
//     uses and that is gone afterwards. Otherwise it is a double.
// P2  A double that has the contract breaks the test that broke the contract.
// P3  The environment is read when a place is asked for, not when this is loaded: a run may start its server later.

import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Contract, findContract, openContract } from "./contract.ts"
import { startQdrantServer } from "./server.ts"
import { fieldsOf, listOf } from "./wire.ts"

export interface QdrantPlace {
  readonly url: string
  readonly apiKey?: string
  readonly collection: string
}

const named = (variable: string): string | undefined => {
  const value = process.env[variable]
  return value === "" ? undefined : value
}

const realUrl = (): string | undefined => named("QDRANT_URL")
const realKey = (): string | undefined => named("QDRANT_API_KEY")

/** Where tests take place now, for people. */
export const qdrantPlaceName = (): string => {
  const url = realUrl()
  return url === undefined ? "a double of Qdrant" : `Qdrant at ${url}`
}

let opened: Contract | undefined
/** The contract when its document is there, read once. */
export const contractIfThere = (): Contract | undefined => {
  const path = findContract()
  if (path !== undefined) opened ??= openContract(path)
  return opened
}

let places = 0
const newName = (): string => `reverie-test-${process.pid}-${++places}`

const send = async (url: string, method: string, path: string): Promise<unknown> => {
  const key = realKey()
  const headers = key === undefined ? {} : { "api-key": key }
  const response = await fetch(new URL(path, url.replace(/\/?$/, "/")), { method, headers })
  return fieldsOf(await response.json())["result"]
}

/** Removes the collection that an alias stands for. */
const clean = async (url: string, alias: string): Promise<void> => {
  const { aliases } = fieldsOf(await send(url, "GET", "aliases"))
  const found = listOf(aliases)
    .map(fieldsOf)
    .find(({ alias_name: name }) => name === alias)
  if (found !== undefined) await send(url, "DELETE", `collections/${String(found["collection_name"])}`)
}

const double = Effect.map(
  Effect.acquireRelease(
    Effect.promise(() => startQdrantServer({ contract: contractIfThere() })),
    ({ close, faults }) =>
      Effect.andThen(
        Effect.promise(close),
        Effect.suspend(() => (faults.length === 0 ? Effect.void : Effect.die(new Error(faults.join("\n")))))
      )
  ),
  ({ url }): QdrantPlace => ({ url, collection: newName() })
)

const real = (url: string) =>
  Effect.acquireRelease(
    Effect.sync((): QdrantPlace => {
      const apiKey = realKey()
      return { url, collection: newName(), ...(apiKey === undefined ? {} : { apiKey }) }
    }),
    ({ collection }) => Effect.promise(() => clean(url, collection))
  )

export const qdrantPlace: Effect.Effect<QdrantPlace, never, Scope.Scope> = Effect.suspend(() => {
  const url = realUrl()
  return url === undefined ? double : real(url)
})
