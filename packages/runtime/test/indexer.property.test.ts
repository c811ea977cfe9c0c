import { assert, describe, it } from "@effect/vitest"
import { Ledger } from "@reverie/ledger"
import { INDEX_START, Recall, RecallUnavailable } from "@reverie/memory"
import type { Entry, Message } from "@reverie/protocol"
import {
  aMessage,
  anAddress,
  anEntry,
  aResident,
  aState,
  fileEntry,
  MemoryDisk,
  memoryRecall,
  memoryStore,
  RecallDisk
} from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as fc from "fast-check"
import { rebuildIndex } from "../src/index.ts"
import { catchUp, refuseReadBefore } from "../src/recall/indexer.ts"

const ada = anAddress("ada")

type Service = Recall["Service"]

const message: fc.Arbitrary<Message> = fc
  .tuple(
    fc.constantFrom("user", "user", "assistant", "tool" as const),
    fc.constantFrom("Ann", "Bob", "note"),
    fc.constantFrom("", "Noted.", "The tug Juniper lies at berth nine.", "Where is the long rope that we bought?"),
    fc.nat(99)
  )
  .map(([role, name, text, at]) => aMessage(text, { role, name, at }))

const passage = (text: string) => ({
  id: "p",
  text,
  at: 3,
  tags: [],
  readers: "owner",
  origin: { type: "self", name: "ada" },
  trust: 0.6,
  importance: 6
})

const records = fc.array(
  fc.tuple(fc.constantFrom("p", "q"), fc.option(fc.constantFrom("The key is under the mat.", "Gulls steal herring."))),
  { maxLength: 2 }
)

const life: fc.Arbitrary<ReadonlyArray<Entry>> = fc
  .array(fc.tuple(fc.array(message, { maxLength: 3 }), records), { minLength: 1, maxLength: 40 })
  .map((drafts) =>
    drafts.map(([messages, kept], index) =>
      anEntry({
        no: index + 1,
        event: { type: "message" },
        messages,
        records: kept.map(([key, text]) => ({ kind: "passage", key, value: text === null ? null : passage(text) }))
      })
    )
  )

/** A ledger that holds a life, as far as it was lived. */
const ledgerOf = (entries: ReadonlyArray<Entry>) => {
  const disk = new MemoryDisk()
  const resident = aResident(ada, aState(), 0)
  disk.residents.set("harbor/ada", resident)
  const live = (more: ReadonlyArray<Entry>) => {
    for (const entry of more) {
      fileEntry(disk, resident, entry)
      resident.version = entry.no
    }
  }
  live(entries)
  return { ledger: memoryStore(disk).ledger, live }
}

const run = <A, E>(effect: Effect.Effect<A, E, Ledger | Recall>, ledger: Ledger["Service"], recall: Service) =>
  effect.pipe(
    Effect.provideService(Ledger, ledger),
    Effect.provideService(Recall, recall),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

/** What an index holds of an assistant, without its way there: of a position the entry, and not when the index was begun. */
const heldBy = (disk: RecallDisk) => {
  const held = disk.assistants.get(JSON.stringify([ada.tenant, ada.assistant]))
  const { digest, no } = held?.position ?? INDEX_START
  return {
    position: { no, digest: digest.replace(/^\w+\./, "") },
    entries: [...(held?.entries ?? [])]
      .map(([id, { entry, facts }]) => ({ id, entry, facts }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }
}

const builtFrom = async (entries: ReadonlyArray<Entry>) => {
  const disk = new RecallDisk()
  await Effect.runPromise(run(catchUp(ada), ledgerOf(entries).ledger, memoryRecall(disk)))
  return heldBy(disk)
}

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

/** Every apply may break off before or after what it did. */
const breaking = (recall: Service, fates: Iterator<"whole" | "before" | "after">): Service => ({
  ...recall,
  apply: (address, changes, span) => {
    const fate = fates.next().value ?? "whole"
    const broken = Effect.fail(new RecallUnavailable({ operation: "apply", message: `it broke ${fate}` }))
    if (fate === "before") return broken
    const applied = recall.apply(address, changes, span)
    return fate === "after" ? Effect.andThen(applied, broken) : applied
  }
})

/** A life of more than one page; `text` was said in the second. */
const longLife = (text: string) =>
  Array.from({ length: 70 }, (_, index) =>
    anEntry({ no: index + 1, messages: [aMessage(index === 65 ? text : `Ann told ${index}.`, { at: index })] })
  )
/** The ledger of a life that was rewritten: that counts as a claim. */
const rewrittenLedger = (entries: ReadonlyArray<Entry>): Ledger["Service"] => {
  const { ledger } = ledgerOf(entries)
  const inspect: Ledger["Service"]["inspect"] = (address) =>
    Effect.map(ledger.inspect(address), (record) => record && { ...record, epoch: record.epoch + 1 })
  return { ...ledger, inspect }
}

describe("the indexer", () => {
  it("I1 what the caller still holds of the newest entries makes the same index, and is not read again", async () => {
    await fc.assert(
      fc.asyncProperty(life, fc.nat({ max: 12 }), fc.nat({ max: 12 }), async (entries, before, held) => {
        const disk = new RecallDisk()
        const { ledger } = ledgerOf(entries)
        const known = { maxEntries: before, newest: entries.slice(entries.length - Math.min(held, entries.length)) }
        await Effect.runPromise(run(catchUp(ada, known), ledger, memoryRecall(disk)))
        await Effect.runPromise(run(catchUp(ada, { newest: known.newest }), ledger, memoryRecall(disk)))
        assert.deepStrictEqual(heldBy(disk), await builtFrom(entries))
      })
    )
    const entries = fc.sample(life, { numRuns: 20, seed: 7 }).find(({ length }) => length > 2) ?? []
    assert.isAbove(entries.length, 2)
    const { ledger } = ledgerOf(entries)
    const deaf: Ledger["Service"] = { ...ledger, entries: () => Effect.die(new Error("read again")) }
    const caught = await Effect.runPromise(run(catchUp(ada, { newest: entries }), deaf, memoryRecall(new RecallDisk())))
    assert.isTrue(caught.isWhole)
  })

  it("I6 who read a life before it was rewritten, or still holds it, leaves nothing of it in an index that was emptied", async () => {
    const old = [1, 2, 3].map((no) => anEntry({ no, messages: [aMessage(`Ann told secret ${no}.`, { at: no })] }))
    // The last entry stays as it was: its digest tells nothing.
    const made = old.map((entry) =>
      entry.no === 2 ? { ...entry, messages: [aMessage("[forgotten]", { at: 2 })] } : entry
    )
    for (const newest of [[], old]) {
      for (const moment of ["before", "after"]) {
        const disk = new RecallDisk()
        const before = ledgerOf(old)
        const after = ledgerOf(made)
        let isRewritten = false
        const ledger: Ledger["Service"] = {
          ...before.ledger,
          entries: (...asked) => (isRewritten ? after : before).ledger.entries(...asked),
          inspect: (address) =>
            Effect.map(before.ledger.inspect(address), (record) =>
              record === undefined ? undefined : { ...record, epoch: isRewritten ? 1 : 0 }
            )
        }
        const right = memoryRecall(disk)
        const rewriting = Effect.suspend(() => {
          isRewritten = true
          return right.erase(ada)
        })
        const recall: Service = {
          ...right,
          apply: (...asked) => (isRewritten ? right.apply(...asked) : Effect.andThen(rewriting, right.apply(...asked)))
        }
        if (moment === "before") await Effect.runPromise(rewriting)
        await Effect.runPromise(run(catchUp(ada, { newest }), ledger, recall))
        assert.deepStrictEqual(heldBy(disk), await builtFrom(made))
      }
    }
  })

  it("I6 who still holds a life from before it was rewritten gives nothing of it to a later page", async () => {
    const [old, made] = [longLife("Ann told a secret."), longLife("[forgotten]")]
    const disk = new RecallDisk()
    await Effect.runPromise(run(catchUp(ada, { newest: old.slice(60) }), rewrittenLedger(made), memoryRecall(disk)))
    assert.deepStrictEqual(heldBy(disk), await builtFrom(made))
  })

  it("I6 what was read before another process rewrote the life and emptied the index, or began it anew, is not taken", async () => {
    const [old, made] = [longLife("Ann told a secret."), longLife("[forgotten]")]
    for (const no of [0, 64]) {
      for (const isBegun of [false, true]) {
        const disk = new RecallDisk()
        const [right, elsewhere] = [memoryRecall(disk), memoryRecall(disk)]
        let isRewritten = false
        const [before, after] = [ledgerOf(old).ledger, rewrittenLedger(made)]
        const ledger: Ledger["Service"] = {
          ...before,
          entries: (...asked) => (isRewritten ? after : before).entries(...asked),
          inspect: (...asked) => (isRewritten ? after : before).inspect(...asked)
        }
        // A page from there on has been read: the other process comes to exactly its beginning.
        const rewriting = Effect.suspend(() => {
          isRewritten = true
          const anew = isBegun ? run(catchUp(ada, { maxEntries: no }), after, elsewhere) : Effect.void
          return Effect.andThen(elsewhere.erase(ada), anew)
        }).pipe(Effect.orDie)
        const recall: Service = {
          ...right,
          apply: (address, changes, span) => {
            if (span.from.no !== no || changes.length === 0 || isRewritten) return right.apply(address, changes, span)
            return Effect.andThen(rewriting, right.apply(address, changes, span)).pipe(
              // Whatever becomes of this process then.
              Effect.tap((reached) => Effect.sync(() => assert.notDeepEqual(reached, span.to)))
            )
          }
        }
        await Effect.runPromise(run(catchUp(ada), ledger, recall))
        assert.isTrue(isRewritten)
        assert.deepStrictEqual(heldBy(disk), await builtFrom(made))
      }
    }
  })

  it("I6 what was read before words were deleted is not taken afterwards", async () => {
    const [old, made] = [longLife("Ann told a secret."), longLife("[deleted]")]
    const disk = new RecallDisk()
    const [right, elsewhere] = [memoryRecall(disk), memoryRecall(disk)]
    let isDeleted = false
    const [before, after] = [ledgerOf(old).ledger, ledgerOf(made).ledger]
    const ledger: Ledger["Service"] = {
      ...before,
      entries: (...asked) => (isDeleted ? after : before).entries(...asked)
    }
    const deleting = Effect.suspend(() => {
      isDeleted = true
      return run(refuseReadBefore(ada), after, elsewhere)
    }).pipe(Effect.orDie)
    const recall: Service = {
      ...right,
      apply: (...asked) =>
        Effect.andThen(asked[2].from.no === 64 && !isDeleted ? deleting : Effect.void, right.apply(...asked))
    }
    await Effect.runPromise(run(catchUp(ada), ledger, recall))
    assert.isTrue(isDeleted)
    assert.deepStrictEqual(heldBy(disk), await builtFrom(made))
  })

  it("I6 who remembers what was said last does not put it back after another process had it forgotten", async () => {
    const said = (no: number, text: string, epoch = 0) =>
      anEntry({ no, epoch, messages: [aMessage(text, { at: no, name: no % 2 === 0 ? "Ann" : "Bob" })] })
    const old = [said(1, "Good morning."), said(2, "Ann told a secret."), said(3, "The tug is late.")]
    const made = [...old.slice(0, 1), said(2, "[forgotten]"), ...old.slice(2)]
    // A claim, the rewriting, and another claim.
    const next = said(4, "It has come.", 3)
    const disk = new RecallDisk()
    const [here, elsewhere] = [memoryRecall(disk), memoryRecall(disk)]
    await Effect.runPromise(run(catchUp(ada), ledgerOf(old).ledger, here))
    await Effect.runPromise(run(rebuildIndex(ada), ledgerOf(made).ledger, elsewhere))
    await Effect.runPromise(run(catchUp(ada), ledgerOf([...made, next]).ledger, here))
    assert.deepStrictEqual(heldBy(disk), await builtFrom([...made, next]))
  })

  it("I1 F83 in pieces of any size, or made again from nothing, an index holds the same", async () => {
    await fc.assert(
      fc.asyncProperty(life, sizes, async (entries, pieces) => {
        const expected = await builtFrom(entries)
        const disk = new RecallDisk()
        const { ledger } = ledgerOf(entries)
        for (let turn = 0; ; turn++) {
          // Another service over the same disk has forgotten everything but what is durable.
          const maxEntries = pieces[turn % pieces.length] ?? 1
          const caught = await Effect.runPromise(run(catchUp(ada, { maxEntries }), ledger, memoryRecall(disk)))
          assert.isAtMost(caught.entries, maxEntries)
          if (caught.isWhole) break
        }
        assert.deepStrictEqual(heldBy(disk), expected)
        await Effect.runPromise(run(rebuildIndex(ada), ledger, memoryRecall(disk)))
        assert.deepStrictEqual(heldBy(disk), expected)
      }),
      { numRuns: 60 }
    )
  })

  it("I1 lived and indexed in turn, an index holds what it holds when all is indexed at the end", async () => {
    await fc.assert(
      fc.asyncProperty(life, sizes, async (entries, pieces) => {
        const disk = new RecallDisk()
        const recall = memoryRecall(disk)
        const { ledger, live } = ledgerOf([])
        for (let from = 0, turn = 0; from < entries.length; turn++) {
          const size = pieces[turn % pieces.length] ?? 1
          live(entries.slice(from, from + size))
          from += size
          await Effect.runPromise(run(catchUp(ada), ledger, recall))
        }
        assert.deepStrictEqual(heldBy(disk), await builtFrom(entries))
      }),
      { numRuns: 60 }
    )
  })

  it("I2 broken off before or after any apply, it goes on where the index is", async () => {
    const fate = fc.constantFrom("whole", "before", "after" as const)
    await fc.assert(
      fc.asyncProperty(life, sizes, fc.array(fate, { maxLength: 12 }), async (entries, pieces, fates) => {
        const disk = new RecallDisk()
        const { ledger } = ledgerOf(entries)
        const told = fates[Symbol.iterator]()
        for (let turn = 0; turn < 200; turn++) {
          const maxEntries = pieces[turn % pieces.length] ?? 1
          const attempt = run(catchUp(ada, { maxEntries }), ledger, breaking(memoryRecall(disk), told))
          const caught = await Effect.runPromise(Effect.option(attempt))
          if (caught._tag === "Some" && caught.value.isWhole) break
        }
        assert.deepStrictEqual(heldBy(disk), await builtFrom(entries))
      }),
      { numRuns: 60 }
    )
  })

  it("I5 after the store was restored, wherever it begins again, an index holds what this life came to", async () => {
    const later = (entries: ReadonlyArray<Entry>, from: number, at: number) =>
      entries.map((entry, index) => ({ ...entry, no: from + index + 1, at }))
    await fc.assert(
      fc.asyncProperty(life, life, life, sizes, fc.boolean(), async (before, one, other, pieces, isSameProcess) => {
        const disk = new RecallDisk()
        const [was, is] = [later(one, before.length, 1_000), later(other, before.length, 2_000)]
        const recall = memoryRecall(disk)
        await Effect.runPromise(run(catchUp(ada), ledgerOf([...before, ...was]).ledger, recall))
        const now = [...before, ...is]
        const { ledger } = ledgerOf(now)
        const maxEntries = pieces[0] ?? 1
        for (let isWhole = false; !isWhole;) {
          const service = isSameProcess ? recall : memoryRecall(disk)
          const caught = await Effect.runPromise(run(catchUp(ada, { maxEntries }), ledger, service))
          isWhole = caught.isWhole
        }
        assert.deepStrictEqual(heldBy(disk), await builtFrom(now))
      }),
      { numRuns: 60 }
    )
  })

  it("I3 two that catch up at the same time leave what one would have left", async () => {
    await fc.assert(
      fc.asyncProperty(life, sizes, async (entries, pieces) => {
        const disk = new RecallDisk()
        const { ledger } = ledgerOf(entries)
        const one = (pauses: number) => {
          const recall = memoryRecall(disk)
          const late: Service = {
            ...recall,
            apply: (...told) => Effect.andThen(Effect.repeat(Effect.yieldNow, { times: pauses }), recall.apply(...told))
          }
          const steps = Effect.forEach(entries, (_, turn) =>
            catchUp(ada, { maxEntries: pieces[(turn + pauses) % pieces.length] ?? 1 })
          )
          return run(steps, ledger, late)
        }
        await Effect.runPromise(Effect.all([one(0), one(3), one(7)], { concurrency: "unbounded" }))
        assert.deepStrictEqual(heldBy(disk), await builtFrom(entries))
      }),
      { numRuns: 60 }
    )
  })
})
