// Questions: what pages ask, kept and asked again when it has changed.
// Owns the keys, retries, and the hooks of pages. Leaves what makes an answer old to live/live.ts.
// Q1  A question's key is its route, whom it is about, and the rest: so a notice can tell whose answers are old.
// Q2  What the server refuses is not asked again by itself; silence and 5xx are, twice.

import { defined } from "./defined.ts"
import {
  keepPreviousData,
  QueryClient,
  queryOptions,
  useMutation,
  type UseMutationResult,
  useQuery,
  useQueryClient,
  type UseQueryResult
} from "@tanstack/react-query"
import { ask, change, freshKey, type Trouble, troubleOf } from "./client.ts"
import type { Answer, Asked, Changing, Reading } from "./contract.ts"

const mayPass = (error: unknown): boolean => {
  const { status } = troubleOf(error)
  return status === 0 || status >= 500
}

export const questions = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < 2 && mayPass(error),
      retryDelay: (attempt) => 400 * 2 ** attempt,
      refetchOnWindowFocus: true
    },
    mutations: { retry: false }
  }
})

const aboutWhom = (asked: unknown): string | null =>
  (asked as { readonly params?: { readonly id?: string } }).params?.id ?? null

/** `["GET /v1/...", id or null, what is asked]`. */
export const keyOf = <Of extends Reading>(route: Of, asked: Asked<Of>) => [route, aboutWhom(asked), asked] as const

export const question = <Of extends Reading>(route: Of, asked: Asked<Of>) =>
  queryOptions({
    queryKey: keyOf(route, asked),
    queryFn: ({ signal }): Promise<Answer<Of>> => ask(route, asked, signal)
  })

interface Asking {
  readonly enabled?: boolean
  /** Asked again that often; notices do the rest. */
  readonly everyMillis?: number
  /** So long nothing but a notice makes it old; 5 seconds where it is not said. */
  readonly staleMillis?: number
  /** Shows the answer to the question before until the new one is there. */
  readonly keep?: boolean
}

/** The answer to a question, kept up to date. */
export const useAnswer = <Of extends Reading>(
  route: Of,
  asked: Asked<Of>,
  { enabled = true, everyMillis, keep = false, staleMillis }: Asking = {}
): UseQueryResult<Answer<Of>> =>
  useQuery({
    ...question(route, asked),
    enabled,
    ...defined({
      staleTime: staleMillis,
      refetchInterval: everyMillis,
      placeholderData: keep ? (keepPreviousData as never) : undefined
    })
  }) as UseQueryResult<Answer<Of>>

/** Not so with `meta: { live: false }`: there the page itself says when: a list of thousands is not asked for anew with each notice. */
export const isAskedAgain = ({ meta }: { readonly meta?: Readonly<Record<string, unknown>> | undefined }): boolean =>
  meta?.["live"] !== false

/** What is to be changed; a function of its key where the key belongs in the payload too. */
export type Change<Of extends Changing> = Asked<Of> | ((key: string) => Asked<Of>)

/** Changes something: `mutate(asked)`. Everything shown is asked again afterwards, whether it worked or not. */
export const useChange = <Of extends Changing>(route: Of): UseMutationResult<Answer<Of>, Trouble, Change<Of>> => {
  const client = useQueryClient()
  return useMutation<Answer<Of>, Trouble, Change<Of>>({
    mutationFn: async (wanted) => {
      const key = freshKey()
      const asked = typeof wanted === "function" ? (wanted as (key: string) => Asked<Of>)(key) : wanted
      return change(route, asked, key).catch((error: unknown) => {
        throw troubleOf(error)
      })
    },
    // Not waited for: what came of it is reported before what it changed is read again.
    onSettled: () => void client.invalidateQueries({ predicate: isAskedAgain })
  })
}
