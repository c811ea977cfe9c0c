// ToldRun: a run for whoever reads it in this process.
// Owns listening from before it begins until its reader stops. Leaves the events to run.ts.
// D1  Whoever stops reading, or whose signal says so, listens no more.

import type { Fleet } from "reverie"
import { NotFound } from "../api/index.ts"
import { living } from "../living.ts"
import { Ear } from "./ear.ts"
import type { AgUiEvent } from "./events.ts"
import { beginningOf, eventsOf, type Listening, type RunWish } from "./run.ts"

export const unknownEnvelope = ({ assistant, envelope }: RunWish): NotFound =>
  new NotFound({ message: `${assistant} knows of no message ${envelope}` })

/** `prepare` comes after listening has begun and before anything is told; what it rejects with is rejected with. */
export async function* toldRun(
  fleet: Fleet,
  wish: RunWish,
  { explain, prepare, signal }: Pick<Listening, "explain" | "signal"> & { readonly prepare: () => Promise<unknown> }
): AsyncGenerator<AgUiEvent> {
  const { version: heardSince } = await living(fleet, wish.assistant)
  const ear = new Ear(fleet, wish)
  try {
    await prepare()
    const beginning = await beginningOf(fleet, wish, signal)
    if (beginning === undefined) throw unknownEnvelope(wish)
    yield* eventsOf({ fleet, wish, ear, heardSince, beginning, signal, explain })
  } finally {
    ear.close()
  }
}
