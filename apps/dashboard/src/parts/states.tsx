// States: what is shown while an answer is on its way, when there is none, and when it failed.

import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { type Trouble, troubleOf } from "../api/client.ts"
import { Visible } from "./text.tsx"

/** One clear line, the hint below it, and a way on. */
export const Failed = ({ onRetry, trouble }: { readonly trouble: Trouble; readonly onRetry?: () => void }) => (
  <div className="notice" data-tone="bad" role="alert" data-failed={trouble.tag}>
    <div className="min-w-0 flex-1">
      <p className="font-medium text-bad">
        <Visible text={trouble.message} />
      </p>
      {trouble.hint === undefined ? null : (
        <p className="text-ink-2">
          <Visible text={trouble.hint} />
        </p>
      )}
    </div>
    {onRetry === undefined ? null : (
      <button type="button" className="button button-small" onClick={onRetry}>
        Try again
      </button>
    )}
  </div>
)

export const Empty = ({ children, title }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="grid place-items-center px-6 py-10 text-center" data-empty="">
    <div className="max-w-md space-y-1">
      <p className="font-medium">{title}</p>
      {children === undefined ? null : <div className="text-ink-2">{children}</div>}
    </div>
  </div>
)

const widths = ["62%", "88%", "74%", "93%", "55%", "81%"]

export const Loading = ({ lines = 4 }: { readonly lines?: number }) => (
  <div className="space-y-2.5 p-3" data-loading="" role="status" aria-label="Loading">
    {Array.from({ length: lines }, (_, line) => (
      <div key={line} className="skeleton block h-3" style={{ width: widths[line % widths.length] ?? "70%" }} />
    ))}
  </div>
)

interface AnsweredProps<Value> {
  readonly of: UseQueryResult<Value>
  readonly lines?: number
  readonly children: (value: Value) => ReactNode
}

/** Loading, failed, or what there is; what was there before stays while it is asked again, with the failure above it. */
export const Answered = <Value,>({ children, lines = 4, of }: AnsweredProps<Value>) => (
  <>
    {of.error === null ? null : (
      <div className="p-3">
        <Failed trouble={troubleOf(of.error)} onRetry={() => void of.refetch()} />
      </div>
    )}
    {of.data === undefined ? of.error === null ? <Loading lines={lines} /> : null : children(of.data)}
  </>
)

/** Nothing is on its way for the first time. */
export const isReady = (...queries: ReadonlyArray<{ readonly isPending: boolean }>): boolean =>
  queries.every(({ isPending }) => !isPending)
