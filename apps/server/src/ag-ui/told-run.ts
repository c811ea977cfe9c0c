// ToldRun: a run for whoever reads it in this process.
// Owns listening from before it begins until its reader stops. Leaves the events to run.ts.
// D1  Whoever stops reading, or whose signal says so, listens no more.

import { NotFound } from "../api/index.ts"
import type { ReadFleet } from "../gateway.ts"
import { living } from "../views/living.ts"
import { Ear } from "./ear.ts"
import type { AgUiEvent } from "./events.ts"
import { beginningOf, eventsOf, type Listening, type RunRequest } from "./run.ts"

export const unknownEnvelope = ({ assistant, envelope }: RunRequest): NotFound =>
  new NotFound({ message: `${assistant} knows of no message ${envelope}` })

/** `prepare` comes after listening has begun and before anything is told; what it rejects with is rejected with. */
export async function* toldRun(
  fleet: ReadFleet,
  request: RunRequest,
  { explain, prepare, signal }: Pick<Listening, "explain" | "signal"> & { readonly prepare: () => Promise<unknown> }
): AsyncGenerator<AgUiEvent> {
  const { version: heardSince } = await living(fleet, request.assistant)
  const ear = new Ear(fleet, request)
  try {
    await prepare()
    const beginning = await beginningOf(fleet, request, signal)
    if (beginning === undefined) throw unknownEnvelope(request)
    yield* eventsOf({ fleet, request, ear, heardSince, beginning, signal, explain })
  } finally {
    ear.close()
  }
}
