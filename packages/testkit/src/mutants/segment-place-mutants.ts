// Segment place mutants: places that lose, mix up or show too much, each in one way.

import { SegmentPlace } from "@reverie/ledger"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FreshLayer } from "../law.ts"
import { MemorySegmentPlace } from "../memory-segment-place.ts"

type Port = SegmentPlace["Service"]

const mutant =
  (change: (right: Port, place: MemorySegmentPlace) => Partial<Port>): FreshLayer<SegmentPlace> =>
  () =>
    Layer.sync(SegmentPlace, () => {
      const place = new MemorySegmentPlace()
      return { ...place.service, ...change(place.service, place) }
    })

export const segmentPlaceMutants: Readonly<Record<string, FreshLayer<SegmentPlace>>> = {
  cutsLongOnes: mutant((right) => ({ put: (key, bytes) => right.put(key, bytes.subarray(0, 65_536)) })),
  keepsTheArrayItWasGiven: mutant((right, { objects }) => ({
    put: (key, bytes) => Effect.tap(right.put(key, bytes), () => Effect.sync(() => objects.set(key, bytes)))
  })),
  givesTheArrayItKeeps: mutant((right, { objects }) => ({
    get: (key) => Effect.map(right.get(key), () => objects.get(key))
  })),
  findsByTheBeginning: mutant((right, { objects }) => ({
    get: (key) =>
      Effect.map(right.get(key), (found) => found ?? [...objects].find(([name]) => name.startsWith(key))?.[1])
  })),
  appends: mutant((right, { objects }) => ({
    put: (key, bytes) => right.put(key, Uint8Array.from([...(objects.get(key) ?? []), ...bytes]))
  })),
  removesTheFirstAlone: mutant((right) => ({ remove: (keys) => right.remove(keys.slice(0, 1)) })),
  removesWhatBeginsSo: mutant((right, { objects }) => ({
    remove: (keys) =>
      right.remove([...objects.keys()].filter((name) => keys.some((key) => name.startsWith(key.slice(0, 3)))))
  })),
  listsOnePage: mutant((right) => ({
    list: (prefix) => Effect.map(right.list(prefix), (found) => found.slice(0, 32))
  })),
  listsWithoutTheSlash: mutant((right) => ({ list: (prefix) => right.list(prefix.replace(/\/$/, "")) })),
  takesAnyKey: mutant((right, { objects }) => ({
    put: (key, bytes) => Effect.sync(() => void objects.set(key, Uint8Array.from(bytes)))
  }))
}
