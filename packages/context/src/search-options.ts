// SearchOptions: how memory and messages are searched (F107).
// Owns the options and their defaults. Leaves searching to `memory`.
// Q1  A mode that needs an embedder becomes the search for words where there is none.

/** fts: words, scored by BM25. vector: meaning. hybrid: both, fused. auto: hybrid where there is an embedder, else fts. */
export const searchModes = ["fts", "vector", "hybrid", "auto"] as const
export type SearchMode = (typeof searchModes)[number]

export const searchContentTypes = ["blocks", "archival", "messages"] as const
export type SearchContentType = (typeof searchContentTypes)[number]

export interface SearchOptions {
  readonly mode: SearchMode
  /** Empty for all. */
  readonly contentTypes: ReadonlyArray<SearchContentType>
  /** Most results. */
  readonly limit: number
}

export const DEFAULT_SEARCH_OPTIONS: SearchOptions = { mode: "fts", contentTypes: [], limit: 10 }

export const searchOptions = (chosen: Partial<SearchOptions> = {}): SearchOptions => {
  const { contentTypes, limit, mode } = { ...DEFAULT_SEARCH_OPTIONS, ...chosen }
  return {
    mode,
    contentTypes,
    limit: Number.isFinite(limit) ? Math.max(1, Math.floor(limit)) : DEFAULT_SEARCH_OPTIONS.limit
  }
}

/** How a search is done in fact. */
export const effectiveMode = (mode: SearchMode, hasEmbedder: boolean): Exclude<SearchMode, "auto"> =>
  hasEmbedder ? (mode === "auto" ? "hybrid" : mode) : "fts"
