// Page: what every page is put into: its name, its title, and when it is ready.
// P1  `data-page` says which page it is, `data-ready` that what it shows is there: tests and people of the night wait for it.

import type { ReactNode } from "react"

interface PageProps {
  readonly name: string
  readonly title: string
  /** What it shows is there: an answer, an empty state or a failure, and no longer a skeleton. */
  readonly ready: boolean
  /** Beside the title. */
  readonly side?: ReactNode
  /** Takes the height there is, and scrolls inside: for pages that are a table. */
  readonly fill?: boolean
  readonly children: ReactNode
}

export const Page = ({ side, children, fill = false, name, ready, title }: PageProps) => (
  <div
    data-page={name}
    {...(ready ? { "data-ready": "" } : {})}
    aria-busy={!ready}
    className={
      fill
        ? "flex h-full min-h-128 flex-col gap-3 p-4 max-lg:has-[[data-stacked]]:h-auto"
        : "flex min-h-full flex-col gap-4 p-4"
    }
  >
    <title>{`${title} · Reverie`}</title>
    <header className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <h1 className="text-[1.2rem] font-semibold tracking-[-0.01em]">{title}</h1>
      {side}
    </header>
    {children}
  </div>
)

export const Section = ({
  side,
  children,
  className = "",
  title
}: {
  readonly title: string
  readonly side?: ReactNode
  readonly className?: string
  readonly children: ReactNode
}) => (
  // What scrolls sideways is reached by keyboard too.
  <section
    className={`card min-w-0 ${className}`}
    aria-label={title}
    tabIndex={className.includes("overflow-x-auto") ? 0 : undefined}
  >
    <header className="flex min-h-10 flex-wrap items-center justify-between gap-x-3 gap-y-1 border-b border-line px-3 py-1.5">
      <h2 className="font-semibold">{title}</h2>
      {side}
    </header>
    {children}
  </section>
)
