// Works: the pieces of work whose way through the code is followed.
// Owns the fleet that does them and what they are. Leaves watching to call-coverage.ts.
// W1  The embedded profile with the offline model: what a fleet without a key runs on. The model's own files count, since
//     it stands where another adapter would.
// W2  Before the work begins the fleet is open, the assistant created, and at rest after answers: what is done once in a
//     life is not of the work.
// W3  Nothing else happens meanwhile: the next sweep is hours away.

import { defineAssistant, defineFleet, Fleet } from "reverie"

export interface Work {
  /** What is said to the assistant before. */
  readonly before: ReadonlyArray<string>
  /** Ends with the work. */
  readonly run: (fleet: Fleet) => Promise<void>
}

const clerk = "clerk"

const answer = async (fleet: Fleet, text: string): Promise<void> => {
  if ((await fleet.answer(clerk, text)) === "") throw new Error(`${clerk} answered with nothing`)
}

/** Until a notice is of the kind that ends the work. */
const until = (fleet: Fleet, isEnd: (notice: Parameters<Parameters<Fleet["outbox"]["onEvery"]>[0]>[0]) => boolean) =>
  new Promise<void>((resolve) => {
    const stop = fleet.on("*", (notice) => {
      if (!isEnd(notice)) return
      stop()
      resolve()
    })
  })

/** A dream without anything to dream of would enter less. */
const facts = ["The Aurora moors at berth 7 on Monday.", "Captain Holm of the Aurora likes strong tea.", "Who are you?"]

export const works: Readonly<Record<string, Work>> = {
  answer: {
    before: ["Who are you?"],
    run: (fleet) => answer(fleet, "Are you there?")
  },
  dream: {
    before: facts,
    run: async (fleet) => {
      let steps = 0
      const over = until(fleet, (notice) => {
        if (notice.type === "step-finished") steps++
        return notice.type === "state-changed" && notice.status === "dreaming.resting"
      })
      await fleet.sleep(clerk, { forMs: 3_600_000 })
      await over
      if (steps === 0) throw new Error("the dream had no step")
    }
  },
  task: {
    before: ["Who are you?"],
    run: async (fleet) => {
      let children = 0
      const stop = fleet.on("tick-ended", ({ address }) => void (address.assistant === clerk || children++))
      await answer(fleet, '/delegate_task {"task":"Say who you are"}')
      stop()
      if (children === 0) throw new Error("no sub-agent did the task")
    }
  }
}

export const openFleet = (data: string): Promise<Fleet> =>
  Fleet.open({
    data,
    worker: { sweepMs: 86_400_000 },
    fleet: defineFleet({
      assistants: [defineAssistant({ id: clerk, instructions: "You run the front desk of a harbour.", subAgents: {} })]
    })
  })

/** Says what is said before, one after the other, and waits until nothing is left to do. */
export const prepare = async (fleet: Fleet, { before }: Work): Promise<void> => {
  for (const text of before) await answer(fleet, text)
  await fleet.idle()
}
