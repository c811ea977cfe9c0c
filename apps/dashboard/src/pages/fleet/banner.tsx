// Banner: what is wrong in the fleet, said first.

import { Link } from "@tanstack/react-router"
import type { Counts, Outage } from "@reverie/server/api"
import { useAnswer } from "../../api/questions.ts"
import { many } from "../../parts/format.ts"
import { Visible } from "../../parts/text.tsx"
import { Ago, Since } from "../../parts/time.tsx"

const EVERY_MILLIS = 15_000

/** A model that is away: nobody need act for those that wait, but somebody may for the server. */
const Away = ({ away: { assistants, nextTry, reason, server, since } }: { readonly away: Outage }) => (
  <Link to="/" search={{ state: "awake.thinking.parked", sort: "since" }} data-banner-item="away" data-server={server}>
    the model at <Visible text={server} /> has not answered for <Since at={since} /> (<Visible text={reason} />
    ): {many(assistants, "assistant waits", "assistants wait")}
    {nextTry === undefined ? ", it is being tried" : ", tried again "}
    {nextTry === undefined ? null : <Ago at={nextTry} />}
  </Link>
)

export interface BannerProps {
  readonly counts: Counts | undefined
  readonly outages: ReadonlyArray<Outage> | undefined
}

export const Banner = ({ counts, outages = [] }: BannerProps) => {
  const dead = useAnswer("GET /v1/dead-letters", {}, { everyMillis: EVERY_MILLIS }).data?.items.length ?? 0
  const queues = useAnswer("GET /v1/queues", {}, { everyMillis: EVERY_MILLIS }).data?.queues ?? []
  const paused = queues.filter((queue) => queue.paused)
  const { halted = 0, stuck = 0 } = counts ?? {}
  if (halted + stuck + dead + paused.length + outages.length === 0) return null
  return (
    <div className="notice" data-tone="bad" role="status" data-banner="">
      <strong className="text-bad">Wants a look</strong>
      {outages.map((away) => (
        <Away key={away.server} away={away} />
      ))}
      {halted === 0 ? null : (
        <Link to="/" search={{ state: "halted", sort: "since" }} data-banner-item="halted">
          {many(halted, "assistant is halted", "assistants are halted")}
        </Link>
      )}
      {stuck === 0 ? null : (
        <Link to="/" search={{ state: "awake.thinking", sort: "since" }} data-banner-item="stuck">
          {many(stuck, "has been busy for more than 15 minutes", "have been busy for more than 15 minutes")}
        </Link>
      )}
      {dead === 0 ? null : (
        <Link to="/queues" data-banner-item="dead">
          {many(dead, "dead letter")}
          {dead === 50 ? " or more" : ""}
        </Link>
      )}
      {paused.map(({ name }) => (
        <Link key={name} to="/queues" data-banner-item="paused">
          queue <Visible text={name} /> is paused
        </Link>
      ))}
    </div>
  )
}
