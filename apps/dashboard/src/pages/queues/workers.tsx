// Workers: who works, and what each holds.

import { Link } from "@tanstack/react-router"
import type { Answer } from "../../api/contract.ts"
import { count } from "../../parts/format.ts"
import { Section } from "../../parts/page.tsx"
import { Empty } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"

const SHOWN = 8

export const Workers = ({ workers }: { readonly workers: Answer<"GET /v1/queues">["workers"] }) => (
  <Section title="Workers">
    {workers === undefined ? (
      <Empty title="Not known">The queue does not say which processes work.</Empty>
    ) : workers.length === 0 ? (
      <Empty title="Nobody works">
        Events are taken in and kept; they are handled as soon as a worker comes:{" "}
        <code>reverie start --role worker</code>
      </Empty>
    ) : (
      <ul>
        {workers.map(({ holds, name, role }) => (
          <li key={name} className="strip-line" data-worker={name} data-holds={holds?.length}>
            <span className="w-32 flex-none truncate font-mono">
              <Visible text={name} />
            </span>
            <span className="w-16 flex-none text-ink-2">{role}</span>
            <span className="min-w-0 flex-1">
              {holds?.length === 0 ? <span className="text-ink-3">holds nobody</span> : null}
              {holds?.slice(0, SHOWN).map((id) => (
                <Link key={id} to="/a/$id" params={{ id }} className="mr-2 inline-block">
                  <Visible text={id} />
                </Link>
              ))}
              {holds !== undefined && holds.length > SHOWN ? (
                <span className="text-ink-2">and {count(holds.length - SHOWN)} more</span>
              ) : null}
            </span>
          </li>
        ))}
      </ul>
    )}
  </Section>
)
