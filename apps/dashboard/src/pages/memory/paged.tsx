// Paged: a list that goes on when one asks for more.

import { useInfiniteQuery } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { ask, troubleOf } from "../../api/client.ts"
import type { Answer, Asked, Reading } from "../../api/contract.ts"
import { keyOf } from "../../api/questions.ts"
import { count } from "../../parts/format.ts"
import { Failed, Loading } from "../../parts/states.tsx"

type ItemOf<Of extends Reading> = Answer<Of> extends { readonly items: ReadonlyArray<infer Item> } ? Item : never

/** Pages of a route that has a cursor; `askedFor` says what is asked for with one. */
export const usePaged = <Of extends Reading>(route: Of, askedFor: (cursor: string | undefined) => Asked<Of>) => {
  const pages = useInfiniteQuery({
    queryKey: [...keyOf(route, askedFor(undefined)), "pages"],
    queryFn: ({ pageParam, signal }) => ask(route, askedFor(pageParam), signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => (last as { readonly next?: string | null }).next ?? undefined
  })
  const items = pages.data?.pages.flatMap((page) => (page as { readonly items: ReadonlyArray<ItemOf<Of>> }).items)
  return { items, pages }
}

interface PagedProps<Item> {
  readonly of: {
    readonly items: ReadonlyArray<Item> | undefined
    readonly pages: {
      readonly error: Error | null
      readonly hasNextPage: boolean
      readonly isFetchingNextPage: boolean
      readonly fetchNextPage: () => Promise<unknown>
      readonly refetch: () => Promise<unknown>
    }
  }
  readonly empty: ReactNode
  readonly children: (items: ReadonlyArray<Item>) => ReactNode
}

export const Paged = <Item,>({ children, empty, of: { items, pages } }: PagedProps<Item>) => (
  <>
    {pages.error === null ? null : (
      <div className="p-3">
        <Failed trouble={troubleOf(pages.error)} onRetry={() => void pages.refetch()} />
      </div>
    )}
    {items === undefined ? (
      pages.error === null ? (
        <Loading lines={8} />
      ) : null
    ) : items.length === 0 ? (
      empty
    ) : (
      children(items)
    )}
    {pages.hasNextPage ? (
      <p className="border-t border-line p-2 text-center">
        <button
          type="button"
          className="button button-small"
          disabled={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
          data-more=""
        >
          {pages.isFetchingNextPage ? "Loading" : `More, beyond these ${count(items?.length ?? 0)}`}
        </button>
      </p>
    ) : null}
  </>
)
