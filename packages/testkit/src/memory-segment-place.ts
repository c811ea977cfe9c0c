// MemorySegmentPlace: a place for segments that ends with the program, and that can fail, lose and damage by order.

import { isSegmentKey, SegmentPlace, SegmentPlaceUnavailable } from "@reverie/ledger"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

type Operation = SegmentPlaceUnavailable["operation"]

export class MemorySegmentPlace {
  /** What lies there, to be looked at and damaged. */
  readonly objects = new Map<string, Uint8Array>()
  /** Operations that are refused from now on. */
  readonly refuses = new Set<Operation>()

  readonly service: SegmentPlace["Service"] = {
    says: "memory",
    put: (key, bytes) => this.#do("put", [key], () => void this.objects.set(key, Uint8Array.from(bytes))),
    get: (key) =>
      this.#do("get", [key], () => {
        const found = this.objects.get(key)
        return found === undefined ? undefined : Uint8Array.from(found)
      }),
    remove: (keys) => this.#do("remove", keys, () => keys.forEach((key) => this.objects.delete(key))),
    list: (prefix) =>
      this.#do("list", [], () =>
        [...this.objects].flatMap(([key, { length }]) => (key.startsWith(prefix) ? [{ key, bytes: length }] : []))
      )
  }

  /** Whether a text stands in anything that lies there, as it lies there. */
  holds(text: string): boolean {
    return [...this.objects.values()].some((bytes) => Buffer.from(bytes).includes(text))
  }

  #do<A>(operation: Operation, keys: ReadonlyArray<string>, run: () => A): Effect.Effect<A, SegmentPlaceUnavailable> {
    return Effect.suspend(() => {
      const flawed = keys.find((key) => !isSegmentKey(key))
      const message = flawed === undefined ? "it is out of reach" : `${JSON.stringify(flawed)} is no key`
      return flawed !== undefined || this.refuses.has(operation)
        ? Effect.fail(new SegmentPlaceUnavailable({ operation, place: "memory", message }))
        : Effect.sync(run)
    })
  }
}

export const memorySegmentPlaceLayer = (): Layer.Layer<SegmentPlace> =>
  Layer.sync(SegmentPlace, () => new MemorySegmentPlace().service)
