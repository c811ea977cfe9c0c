// Prompt store mutants: stores that are each wrong in one way, which the prompt store laws must kill.

import { type PromptChange, PromptConflict, PromptStore, type PromptVersion } from "@reverie/context"
import { TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FreshLayer } from "../law.ts"
import { memoryPromptStore, type PromptDisk } from "../memory-prompt-store.ts"
import { afterwards, throughUtf8 } from "./mutant.ts"

type Store = PromptStore["Service"]
type Mistake = (right: Store, disk: PromptDisk) => Partial<Store>

const anybody = TenantId.make("anybody")

/** Shows every version through a lens. */
const showing =
  (lens: (version: PromptVersion) => PromptVersion): Mistake =>
  ({ current, history }) => ({
    current: (tenant, kind) => Effect.map(current(tenant, kind), (versions) => versions.map(lens)),
    history: (tenant, line, page) => Effect.map(history(tenant, line, page), (versions) => versions.map(lens))
  })

/** Appends changes that were made to fit what is there. */
const onNewest =
  (fits: (change: PromptChange, newest: number) => boolean): Mistake =>
  ({ append, history }) => ({
    append: (tenant, changes) =>
      Effect.flatMap(
        Effect.forEach(changes, (change) =>
          Effect.map(Effect.orDie(history(tenant, change, { limit: 1 })), ([newest]) => {
            const version = newest?.version ?? 0
            return fits(change, version) ? { ...change, expected: version } : change
          })
        ),
        (fitting) => append(tenant, fitting)
      )
  })

const mistakes: Readonly<Record<string, Mistake>> = {
  writesOver: ({ append }, disk) => ({
    append: (tenant, changes) =>
      afterwards(append(tenant, changes), () => {
        for (const [name, versions] of disk) {
          const last = versions.at(-1)
          if (last !== undefined)
            disk.set(
              name,
              versions.map((version) => ({ ...version, body: last.body }))
            )
        }
      })
  }),
  numbersOverAllLines: ({ append }, disk) => {
    let count = 0
    return {
      append: (tenant, changes) =>
        afterwards(append(tenant, changes), () => {
          for (const change of changes) {
            count++
            const versions = disk.get(JSON.stringify([tenant, change.kind, change.key])) ?? []
            const last = versions.pop()
            if (last !== undefined) versions.push({ ...last, version: count })
          }
        })
    }
  },
  tellsHistoryForwards: ({ history }) => ({
    history: (tenant, line, page) => Effect.map(history(tenant, line, page), (versions) => versions.toReversed())
  }),
  tellsAllOfHistory: ({ history }) => ({
    history: (tenant, line, page) => history(tenant, line, { ...page, limit: 1_000 })
  }),
  tellsOneTooMany: ({ history }) => ({
    history: (tenant, line, { before, limit }) =>
      history(tenant, line, { limit, ...(before === undefined ? {} : { before: before + 1 }) })
  }),
  writesWhatIsStale: onNewest(({ expected }, newest) => expected < newest),
  writesWhatIsAhead: onNewest(({ expected }, newest) => expected > newest),
  tellsTheWrongVersion: ({ append }) => ({
    append: (tenant, changes) =>
      Effect.catchTag(append(tenant, changes), "PromptConflict", ({ expected, key, kind }) =>
        Effect.fail(new PromptConflict({ kind, key, expected, current: expected }))
      )
  }),
  beginsAnewAfterADeletion: ({ append }, disk) => ({
    append: (tenant, changes) =>
      Effect.suspend(() => {
        for (const { expected, key, kind } of changes) {
          const name = JSON.stringify([tenant, kind, key])
          if (expected === 0 && disk.get(name)?.at(-1)?.body === null) disk.delete(name)
        }
        return append(tenant, changes)
      })
  }),
  writesOneByOne: ({ append }) => ({
    append: (tenant, changes) => Effect.forEach(changes, (change) => append(tenant, [change]), { discard: true })
  }),
  writesTheFirstOnly: ({ append }) => ({ append: (tenant, changes) => append(tenant, changes.slice(0, 1)) }),
  looksBeforeItWrites: ({ append, history }) => ({
    append: (tenant, changes) =>
      Effect.gen(function* () {
        for (const change of changes) {
          const [newest] = yield* Effect.orDie(history(tenant, change, { limit: 1 }))
          const current = newest?.version ?? 0
          const { expected, key, kind } = change
          if (current !== expected) return yield* new PromptConflict({ kind, key, expected, current })
        }
        yield* Effect.yieldNow
        for (const change of changes) {
          const [newest] = yield* Effect.orDie(history(tenant, change, { limit: 1 }))
          yield* append(tenant, [{ ...change, expected: newest?.version ?? 0 }])
        }
      })
  }),
  listsInOrderOfWriting: (_, disk) => ({
    current: (tenant, kind) =>
      Effect.sync(() =>
        [...disk]
          .filter(([name]) => name.startsWith(JSON.stringify([tenant, kind]).slice(0, -1)))
          .flatMap(([, versions]) => versions.slice(-1))
          .filter(({ body }) => body !== null)
      )
  }),
  ordersByLanguage: ({ current }) => ({
    current: (tenant, kind) =>
      Effect.map(current(tenant, kind), (versions) =>
        versions.toSorted((a, b) => a.key.localeCompare(b.key, "en", { numeric: true }))
      )
  }),
  showsTheFirst: ({ current, history }) => ({
    current: (tenant, kind) =>
      Effect.flatMap(current(tenant, kind), (versions) =>
        Effect.map(
          Effect.forEach(versions, (version) => history(tenant, version, { limit: 1, before: 2 })),
          (firsts) => firsts.flat()
        )
      )
  }),
  showsWhatWasBeforeADeletion: ({ history }, disk) => ({
    current: (tenant, kind) =>
      Effect.map(
        Effect.forEach(
          [...disk.values()].flatMap((versions) => versions.slice(0, 1)).filter((version) => version.kind === kind),
          (version) => history(tenant, version, { limit: 100 })
        ),
        (lines) =>
          lines
            .flatMap((versions) => versions.filter(({ body }) => body !== null).slice(0, 1))
            .toSorted((a, b) => (a.key < b.key ? -1 : 1))
      )
  }),
  sharesBetweenTenants: ({ append, current, history }) => ({
    append: (_, changes) => append(anybody, changes),
    current: (_, kind) => current(anybody, kind),
    history: (_, line, page) => history(anybody, line, page)
  }),
  listsForEverybody: ({ current }, disk) => ({
    current: (tenant, kind) =>
      Effect.flatMap(current(tenant, kind), (own) =>
        own.length > 0
          ? Effect.succeed(own)
          : Effect.sync(() =>
              [...disk.values()].flatMap((versions) => versions.slice(-1)).filter((version) => version.kind === kind)
            )
      )
  }),
  mixesKinds: ({ append, history }) => ({
    append: (tenant, changes) =>
      Effect.andThen(
        append(tenant, changes),
        Effect.forEach(
          changes.filter(({ body }) => body === null),
          ({ key, kind }) => {
            const line = { key, kind: kind === "template" ? ("component" as const) : ("template" as const) }
            return Effect.flatMap(Effect.orDie(history(tenant, line, { limit: 1 })), ([newest]) =>
              newest === undefined || newest.body === null
                ? Effect.void
                : append(tenant, [{ ...line, expected: newest.version, body: null }])
            )
          },
          { discard: true }
        )
      )
  }),
  damagesText: showing((version) => ({ ...version, body: throughUtf8(version.body) })),
  cutsLongText: showing((version) =>
    typeof version.body === "string" ? { ...version, body: version.body.slice(0, 65_535) } : version
  ),
  takesFalseForNothing: showing((version) => ({ ...version, body: version.body || null })),
  forgetsWhatIsRestored: showing(({ restores: _, ...version }) => version),
  restoresWhatIsWritten: showing((version) => ({ ...version, restores: version.restores ?? version.version })),
  takesTheBeginningForNothing: showing(({ restores, ...version }) =>
    restores === undefined || restores === 0 ? version : { ...version, restores }
  ),
  stampsWithZero: showing((version) => ({ ...version, at: 0 })),
  stampsWithTheFirstTime: (right, disk) =>
    showing((version) => ({
      ...version,
      at: [...disk.values()].find(([first]) => first?.key === version.key)?.[0]?.at ?? version.at
    }))(right, disk)
}

export const promptStoreMutants: Readonly<Record<string, FreshLayer<PromptStore>>> = Object.fromEntries(
  Object.entries(mistakes).map(([name, mistake]) => [
    name,
    () => {
      const disk: PromptDisk = new Map()
      const right = memoryPromptStore(disk)
      return Layer.succeed(PromptStore, { ...right, ...mistake(right, disk) })
    }
  ])
)
