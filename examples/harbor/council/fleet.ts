// Fleet: the council of Port Merrow, which votes, and its notice office, where a text goes from hand to hand.

import { defineAssistant, defineFleet, defineTeam, sendMessage } from "reverie"

const councillor = (id: string, view: string) =>
  defineAssistant({
    id,
    instructions: `You sit on the council of Port Merrow. ${view} When you are asked to vote, vote as you see fit.`
  })

const warden = councillor("warden", "Ships and their crews come first: you close the harbour rather too early.")
const purser = councillor("purser", "A closed harbour earns nothing: you want figures before you close it.")
const pilot = councillor("pilot", "You know the water, and say what it will do.")

const drafter = defineAssistant({
  id: "drafter",
  instructions: "You draft notices to mariners: what, where, from when. Answer with the notice alone."
})
const checker = defineAssistant({
  id: "checker",
  instructions: "You check notices to mariners and put right what is wrong. Answer with the corrected notice alone."
})
const crier = defineAssistant({
  id: "crier",
  instructions: "You cut a notice down to what can be cried from the quay, in one sentence. Answer with it alone."
})

/** Overhears what the council is asked and what it decides, without a tick of its own. */
const clerk = defineAssistant({ id: "clerk", instructions: "You keep the minutes of the council." })

/** Who is asked at the gate: it can write to everybody by id, name, group or role. */
const porter = defineAssistant({
  id: "porter",
  instructions:
    "You keep the gate. What only the council can decide you bring before group:council, and expect an answer.",
  tools: [sendMessage]
})

/** A vote of three, with two of them at least; of a tie, the pilot's vote decides. */
const council = defineTeam({
  id: "council",
  members: [
    { assistant: warden },
    { assistant: purser },
    { assistant: pilot, role: "specialist", domain: "water" },
    { assistant: clerk, role: "observer" }
  ],
  pattern: {
    type: "voting",
    choices: ["close", "keep open"],
    quorum: 2,
    deadlineMs: 120_000,
    tieBreaker: "specific_member",
    decider: "pilot"
  }
})

/** Drafted, checked and cut: a checker that is away is skipped, a draft that fails is tried once more. */
const notices = defineTeam({
  id: "notices",
  members: [{ assistant: drafter }, { assistant: checker }, { assistant: crier }],
  pattern: {
    type: "pipeline",
    stages: [
      { member: "drafter", onFailure: "retry" },
      { member: "checker", onFailure: "skip", timeoutMs: 60_000 },
      { member: "crier" }
    ]
  }
})

export default defineFleet({
  assistants: [porter, warden, purser, pilot, drafter, checker, crier, clerk],
  teams: [council, notices]
})
