// A desk whose tools end the process or throw where no one waits, and neighbours who wait for a slow model.

import { execFileSync } from "node:child_process"
import { exit } from "node:process"
import { defineAssistant, defineFleet, defineTool } from "reverie"

/** Taken before any fleet is opened. */
const kept: (code: number) => never = Reflect.get(process, "exit")

const tools = [
  defineTool({
    name: "kill_from_outside",
    description: "Ends the process in a way that the process cannot prevent.",
    idempotent: true,
    run: () => execFileSync("kill", ["-9", String(process.pid)]).toString()
  }),
  defineTool({
    name: "kill_once_more",
    description: "The same, and it must not run twice.",
    run: () => execFileSync("kill", ["-9", String(process.pid)]).toString()
  }),
  defineTool({
    name: "reject_stray",
    description: "Leaves a rejected promise behind that has no handler, while it runs.",
    run: async () => {
      void Promise.reject(new Error("a stray rejection"))
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      return "it ran on"
    }
  }),
  defineTool({
    name: "reject_and_return",
    description: "Leaves a rejected promise behind and returns at once.",
    run: () => {
      void Promise.reject(new Error("left behind"))
      return "ok"
    }
  }),
  defineTool({
    name: "reject_late",
    description: "Leaves a promise behind that is rejected after the call has ended.",
    run: () => {
      setTimeout(() => void Promise.reject(new Error("a late rejection")), 200)
      return "left something behind"
    }
  }),
  defineTool({
    name: "throw_in_timer",
    description: "Throws in a timer while it runs.",
    run: async () => {
      setTimeout(() => {
        throw new Error("thrown in a timer")
      }, 50)
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      return "it ran on"
    }
  }),
  defineTool({
    name: "exit_zero",
    description: "Calls process.exit(0).",
    run: () => process.exit(0)
  }),
  defineTool({
    name: "exit_by_name",
    description: "Calls process.exit(0) by names that were taken early.",
    run: async () => {
      try {
        exit(0)
      } catch {
        // It is tried by the other name too.
      }
      await new Promise((resolve) => setTimeout(resolve, 10))
      return kept(0)
    }
  }),
  defineTool({
    name: "abort_process",
    description: "Calls process.abort().",
    run: () => process.abort()
  }),
  defineTool({
    name: "kill_itself",
    description: "Sends SIGKILL to its own process.",
    run: async () => {
      process.kill(process.pid, "SIGKILL")
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      return "it ran on"
    }
  }),
  defineTool({
    name: "block_loop",
    description: "Computes for a second without a pause; it has half a second.",
    timeoutMs: 500,
    run: () => {
      for (const until = Date.now() + 1_000; Date.now() < until;);
      return "late"
    }
  })
]

const neighbours = ["ann", "bob", "cid", "dee", "eve"].map((id) =>
  defineAssistant({ id, instructions: "You say aye." })
)

export default defineFleet({
  assistants: [defineAssistant({ id: "desk", instructions: "You do what you are asked.", tools }), ...neighbours]
})
