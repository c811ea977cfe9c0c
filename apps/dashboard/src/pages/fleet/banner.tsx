// Banner: what is wrong in the fleet, said first. Red is for what has failed, amber for what waits for a person.

import type { Counts, Outage } from "@reverie/server/api"
import { Link } from "@tanstack/react-router"
import { useAnswer } from "../../api/questions.ts"
import { many } from "../../parts/format.ts"
import { Visible } from "../../parts/text.tsx"
import { Ago, Since } from "../../parts/time.tsx"

const EVERY_MILLIS = 15_000

/** A model that is away: no one need act for those that wait, but someone may for the server. */
const Away = ({ away: { assistants, nextTry, reason, server, since } }: { readonly away: Outage }) => (
  <Link
    to="/fleet"
    search={{ state: "awake.thinking.parked", sort: "since" }}
    data-banner-item="away"
    data-server={server}
  >
    the model at <Visible text={server} /> has not answered for <Since at={since} /> (<Visible text={reason} />
    ): {many(assistants, "assistant waits", "assistants wait")}
    {nextTry === undefined ? ", it is being tried" : ", tried again "}
    {nextTry === undefined ? null : <Ago at={nextTry} />}
  </Link>
)

interface BannerProps {
  readonly counts: Counts | undefined
  readonly outages: ReadonlyArray<Outage> | undefined
}

export const Banner = ({ counts, outages = [] }: BannerProps) => {
  const dead = useAnswer("GET /v1/dead-letters", {}, { everyMillis: EVERY_MILLIS }).data?.items.length ?? 0
  const queues = useAnswer("GET /v1/queues", {}, { everyMillis: EVERY_MILLIS }).data?.queues ?? []
  const paused = queues.filter((queue) => queue.paused)
  const { awaitingApproval = 0, halted = 0, nearlyFull = 0, nearlySpent = 0, stuck = 0 } = counts ?? {}
  const failures = halted + stuck + dead + paused.length + outages.length
  if (failures + awaitingApproval + nearlyFull + nearlySpent === 0) return null
  // Red is for what has failed. One who waits for a person, or is close to a limit, does as it should.
  const isBad = failures > 0
  return (
    <div className="notice" data-tone={isBad ? "bad" : "waiting"} role="status" data-banner="">
      <strong className={isBad ? "text-bad" : "text-warn"}>Needs attention</strong>
      {awaitingApproval === 0 ? null : (
        <Link to="/approvals" className="text-warn" data-banner-item="approvals">
          {many(awaitingApproval, "assistant waits for an approval", "assistants wait for an approval")}
        </Link>
      )}
      {outages.map((away) => (
        <Away key={away.server} away={away} />
      ))}
      {halted === 0 ? null : (
        <Link to="/fleet" search={{ state: "halted", sort: "since" }} data-banner-item="halted">
          {many(halted, "assistant is halted", "assistants are halted")}
        </Link>
      )}
      {stuck === 0 ? null : (
        <Link to="/fleet" search={{ sort: "attention" }} data-banner-item="stuck">
          {many(stuck, "has been busy for more than 15 minutes", "have been busy for more than 15 minutes")}
        </Link>
      )}
      {dead === 0 ? null : (
        <Link to="/queues" data-banner-item="dead">
          {many(dead, "dead letter")}
          {dead === 50 ? " or more" : ""}
        </Link>
      )}
      {nearlySpent === 0 ? null : (
        <Link to="/usage" className="text-warn" data-banner-item="spent">
          {many(nearlySpent, "budget is nearly used up", "budgets are nearly used up")}
        </Link>
      )}
      {nearlyFull === 0 ? null : (
        <Link to="/fleet" search={{ sort: "context", desc: true }} className="text-warn" data-banner-item="full">
          {many(nearlyFull, "context window is nearly full", "context windows are nearly full")}
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
