// Recall mutants that read wrongly: they let the wrong ones find, find the wrong things, or tell the wrong reasons.

import {
  inRounds,
  joined,
  fits,
  type Hit,
  mayRead,
  type MemoryEntry,
  nameKey,
  queryTerms,
  rank,
  RecallUnavailable,
  threadsOf
} from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { memoryRecall, type RecallDisk } from "../memory-recall.ts"
import { throughUtf8 } from "./mutant.ts"
import { askingInstead, mutantsOf, type RecallMistake, ruled, showing } from "./recall-mistake.ts"

const why =
  (other: (hit: Hit) => Partial<Hit["why"]>): RecallMistake =>
  (right, disk) =>
    showing((hits) => hits.map((hit) => ({ ...hit, why: { ...hit.why, ...other(hit) } })))(right, disk)

const reading: Readonly<Record<string, RecallMistake>> = {
  leaksATenant: ruled(() => ({
    mayRead: (viewer, owner, entry, scope) => mayRead({ ...viewer, tenant: owner.tenant }, owner, entry, scope)
  })),
  leaksPrivateEntries: ruled(() => ({
    mayRead: (viewer, owner, entry, scope) => viewer.tenant === owner.tenant || mayRead(viewer, owner, entry, scope)
  })),
  leaksThroughFacts: ruled((disk) => ({
    mayRead: (viewer, owner, entry, scope) =>
      mayRead(viewer, owner, entry, scope) ||
      (viewer.tenant === owner.tenant &&
        [...disk.assistants.values()].some(({ entries }) => {
          const { facts = [] } = entries.get((entry as MemoryEntry).id) ?? {}
          return facts.length > 0
        }))
  })),
  forgetsTheReaders: ruled(() => ({
    mayRead: (viewer, owner, { readers }, scope) =>
      mayRead(viewer, owner, { readers: typeof readers === "string" ? readers : "owner" }, scope)
  })),
  forgetsTheFleet: ruled(() => ({
    mayRead: (viewer, owner, { readers }, scope) =>
      mayRead(viewer, owner, { readers: readers === "fleet" ? "owner" : readers }, scope)
  })),
  forgetsTheScope: askingInstead((query) => ({ ...query, scope: "fleet" })),
  forgetsTheScopeOnTheOuterQuery: ({ search }, disk) => {
    const unscoped = memoryRecall(disk, { mayRead: () => true, fits, rank }).search
    return {
      search: (viewer, query) => (query.vector === undefined ? search(viewer, query) : unscoped(viewer, query))
    }
  },
  ranksByRecencyAlone: ruled(() => ({
    rank: (candidates, query) =>
      rank(candidates, { ...query, limit: candidates.length })
        .toSorted((a, b) => b.entry.at - a.entry.at)
        .slice(0, query.limit)
  })),
  ranksTheWorstFirst: showing((hits) => hits.toReversed()),
  countsWordsOnly: ruled(() => ({
    rank: (candidates, query) =>
      rank(
        candidates.map((candidate) => (candidate.lexical === undefined ? candidate : { ...candidate, lexical: 1 })),
        query
      )
  })),
  forgetsImportance: ruled(() => ({
    rank: (candidates, query) =>
      rank(
        candidates.map((candidate) => ({ ...candidate, entry: { ...candidate.entry, importance: 1 } })),
        query
      )
  })),
  hearsNoReplies: ruled(() => ({
    rank: (candidates, query) => {
      const entries = new Map(candidates.map(({ entry }) => [entry.id, entry]))
      const said = candidates.map((candidate) => ({
        ...candidate,
        entry: { ...candidate.entry, text: candidate.entry.text.replaceAll("?", ".") }
      }))
      return rank(said, query).map((hit) => ({
        ...hit,
        entry: { ...hit.entry, text: entries.get(hit.entry.id)?.text ?? "" }
      }))
    }
  })),
  limitsNothing: askingInstead((query) => ({ ...query, limit: 1_000 })),
  comparesWordsExactly: showing((hits, { search }) =>
    hits.filter(({ entry, why: { terms } }) => search !== "fts" || terms.some((word) => entry.text.includes(word)))
  ),
  ignoresKinds: ruled(() => ({ fits: (entry, query) => fits(entry, { ...query, kinds: [entry.kind] }) })),
  findsProfilesToo: askingInstead((query) => ({
    ...query,
    kinds: query.kinds?.length ? query.kinds : ["message", "episode", "fact", "passage", "profile", "block"]
  })),
  excludesTheBounds: ruled(() => ({
    fits: (entry, query) => fits(entry, query) && entry.at !== query.since && entry.at !== query.until
  })),
  showsWhatIsInView: askingInstead(({ messagesUntil: _, ...query }) => query),
  holdsAllToWhatIsInView: ruled(() => ({
    fits: (entry, query) => fits(entry, query) && entry.at <= (query.messagesUntil ?? Infinity)
  })),
  holdsMessagesOnly: ruled(() => ({
    fits: (entry, { messagesUntil, ...query }) =>
      fits(entry, entry.kind === "answer" || messagesUntil === undefined ? query : { ...query, messagesUntil })
  })),
  leavesOutTheLastInView: ruled(() => ({
    fits: (entry, query) =>
      fits(entry, query) && !(["message", "answer"].includes(entry.kind) && entry.at === query.messagesUntil)
  })),
  ignoresEntities: askingInstead(({ entities: _, ...query }) => query),
  ignoresTags: askingInstead(({ tags: _, ...query }) => query),
  comparesNamesExactly: ruled(() => ({
    fits: (entry, query) =>
      fits(entry, query) && (query.tags === undefined || query.tags.some((tag) => entry.tags.includes(tag)))
  })),
  ignoresCaseOfThreads: ruled(() => ({
    fits: (entry, { thread, ...query }) =>
      fits(entry, query) &&
      (thread === undefined || threadsOf({ thread }).some((each) => nameKey(entry.thread ?? "-") === nameKey(each)))
  })),
  asksTheFirstThreadOnly: askingInstead((query) => ({ ...query, thread: threadsOf(query).slice(0, 1) })),
  findsWhatHasNoThread: ruled(() => ({
    fits: (entry, query) => fits(entry, query) || (entry.thread === undefined && fits(entry, { ...query, thread: [] }))
  })),
  ignoresTrust: askingInstead(({ minTrust: _, ...query }) => query),
  takesAnEmptyListForNothing: showing((hits, { entities, kinds, tags }) =>
    [entities, kinds, tags].some((names) => names?.length === 0) ? [] : hits
  ),
  filtersTheFirstFew: ({ search }) => ({
    search: (viewer, query) =>
      Effect.map(search(viewer, { ...query, kinds: [], tags: [], limit: 60 }), (hits) =>
        hits.filter(({ entry }) => fits(entry, query)).slice(0, query.limit)
      )
  }),
  handsTextToTheEngine: ({ search }) => ({
    search: (viewer, query) =>
      /["(){}^]/.test(query.text)
        ? Effect.fail(new RecallUnavailable({ operation: "search", message: "fts5: syntax error" }))
        : search(viewer, query)
  }),
  listsWhenNothingIsAsked: ({ search }) => ({
    search: (viewer, query) =>
      queryTerms(query.text).length === 0 && query.vector === undefined
        ? search(viewer, { ...query, text: "the" })
        : search(viewer, query)
  }),
  findsNothingByStopWords: showing((hits, { text, vector }) =>
    vector === undefined && text.split(" ").every((word) => ["at", "the"].includes(word)) ? [] : hits
  ),
  asksOneRound: ({ search }) => ({
    searchInRounds: (viewer, query) => Effect.map(search(viewer, query), (hits) => joined(query, hits, []))
  }),
  isSureOfNothing: ({ search }) => ({
    searchInRounds: (viewer, query) =>
      Effect.map(
        inRounds(query, (each) => search(viewer, each)),
        ({ hits }) => ({ hits })
      )
  }),
  tellsNoWords: why(() => ({ terms: [] })),
  tellsNoPlace: showing((hits) => hits.map(({ why: { lexical: _, ...rest }, ...hit }) => ({ ...hit, why: rest }))),
  tellsNoFacts: why(() => ({ facts: [] })),
  tellsNoBoosts: why(() => ({ boosts: [] })),
  showsTheContext: (right, disk) =>
    showing((hits) => hits.map((hit) => ({ ...hit, entry: { ...hit.entry, context: contextOf(disk, hit) } })))(
      right,
      disk
    ),
  damagesText: showing((hits) => hits.map((hit) => ({ ...hit, entry: throughUtf8(hit.entry) }))),
  searchesTheNextVectors: ({ search }, disk) => ({
    search: (viewer, query) =>
      Effect.suspend(() => {
        const { current, next } = disk
        if (next === undefined) return search(viewer, query)
        disk.current = { ...next, dimensions: query.vector?.length ?? 0 }
        return Effect.ensuring(
          search(viewer, query),
          Effect.sync(() => (disk.current = current))
        )
      })
  }),
  findsOnlyWhatHasAVector: ({ search }, disk) => ({
    search: (viewer, query) =>
      Effect.map(search(viewer, query), (hits) =>
        hits.filter((hit) => disk.current === undefined || vectorsOf(disk, hit).has(disk.current.id))
      )
  }),
  findsNothingWithoutAVector: showing((hits, { search, vector }) =>
    search === "vector" && vector === undefined ? [] : hits
  ),
  believesAnyVector: showing((hits, { limit }) => {
    const placeOf = ({ why: { lexical, vector } }: Hit) =>
      1 / (60 + (lexical?.rank ?? 99)) + 1 / (60 + (vector?.rank ?? 99))
    return hits.toSorted((a, b) => placeOf(b) - placeOf(a)).slice(0, limit)
  }),
  tellsNearnessOfTheNearest: showing((hits) =>
    hits.map((hit) => {
      const { vector, ...rest } = hit.why
      return vector !== undefined && vector.rank > 60 ? { ...hit, why: rest } : hit
    })
  ),
  searchesForMeaningOnly: askingInstead((query) =>
    query.search === "hybrid" ? { ...query, search: "vector" } : query
  ),
  ignoresConditionsOfMeaning: askingInstead((query) => {
    if (query.vector === undefined) return query
    const { kinds: _, minTrust: __, tags: ___, ...rest } = query
    return rest
  })
}

const indexedOf = (disk: RecallDisk, { entry, owner }: Hit) =>
  [...disk.assistants.values()]
    .find(({ address }: { readonly address: Address }) => address.assistant === owner)
    ?.entries.get(entry.id)

const contextOf = (disk: RecallDisk, hit: Hit): string => indexedOf(disk, hit)?.entry.context ?? ""

const vectorsOf = (disk: RecallDisk, hit: Hit): ReadonlyMap<string, unknown> =>
  indexedOf(disk, hit)?.vectors ?? new Map()

export const recallReadingMutants = mutantsOf(reading)
