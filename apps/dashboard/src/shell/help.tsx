// Help: the keys, in a dialog.

import { Dialog } from "../parts/dialogs/confirm.tsx"
import { assistantPages, fleetPages } from "./pages.ts"

const general = [
  ["Ctrl-K", "go to or do anything, by its name"],
  ["/", "search on this page"],
  ["j  k", "next and previous row"],
  ["Enter", "open the row"],
  ["x", "choose the row, where rows can be chosen"],
  ["a  d", "approve, deny (on a card of Approvals)"],
  ["?", "this list"],
  ["Esc", "close"]
] as const

const List = ({ rows, title }: { readonly title: string; readonly rows: ReadonlyArray<readonly [string, string]> }) => (
  <section>
    <h3 className="mb-2 font-medium text-ink-2">{title}</h3>
    <dl className="grid grid-cols-[3.6rem_1fr] items-baseline gap-x-3 gap-y-1.5">
      {rows.map(([keys, what]) => (
        <div key={keys} className="contents">
          <dt className="space-x-1">
            {keys.split(/ +/).map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  </section>
)

export const Help = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Keys" onClose={onClose}>
    <div className="grid gap-6 sm:grid-cols-[1.35fr_1fr_1.1fr]">
      <List title="Everywhere" rows={general} />
      <List title="The fleet" rows={fleetPages.map(({ key, title }) => [`g ${key}`, title] as const)} />
      <List title="An assistant" rows={assistantPages.map(({ key, title }) => [`g ${key}`, title] as const)} />
    </div>
  </Dialog>
)
