// Keeper: a shell that outlives its starter by a moment, ends the server and removes its directory.
// Owns the end of every server of our own. Leaves starting them to own-server.
// K1  It waits on a pipe that only the starter holds. However the starter ends, SIGKILL included, the pipe closes, and
//     then nothing stays: no process of the server, no directory.
// K2  It is out of reach of the terminal's Ctrl-C, which would otherwise end it together with those it watches for.
// K3  PostgreSQL is asked to end before it is killed: a killed one leaves a segment of shared memory to the machine.

import { type ChildProcess, execFile, spawn } from "node:child_process"
import type { Socket } from "node:net"
import { promisify } from "node:util"
import { once } from "./server.ts"

/** `family PID` prints the process and its children, after stopping it so that no child is created meanwhile. */
const subAgentTree = `
family() {
  kill -STOP "$1" 2>/dev/null || return 0
  echo "$1"
  if [ -d /proc/self ]
  then grep -ls "^PPid:[[:space:]]*$1\\$" /proc/[0-9]*/status | cut -d/ -f3
  else pgrep -P "$1"
  fi
}`

/** Reads pids, of which the last one counts and an empty line is none; at the end of the pipe it ends that process. */
const watch = `${subAgentTree}
# A dead one that no one has taken note of yet still has its pid.
lives() { kill -0 "$1" 2>/dev/null && ! grep -qs "^State:[[:space:]]*Z" "/proc/$1/status"; }
pid=
while read -r line; do pid=$line; done
if [ -n "$pid" ] && all=$(family "$pid") && [ -n "$all" ]; then
  kill -CONT $all 2>/dev/null
  kill -"$2" "$pid" 2>/dev/null
  turns=0
  while lives "$pid" && [ $turns -lt 100 ]; do sleep 0.05; turns=$((turns + 1)); done
  all=$(family "$pid")
  [ -z "$all" ] || kill -KILL $all 2>/dev/null
fi
rm -rf "$1"`

export interface Keeper {
  /** The process to end; undefined when there is none just now. */
  readonly holds: (pid: number | undefined) => void
  /** Ends the process and removes the directory. */
  readonly end: () => Promise<void>
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("exit", () => resolve())
  })

/** A keeper of a directory, and of the process that it will be told. */
export const startKeeper = (directory: string, farewell: "TERM" | "QUIT"): Keeper => {
  const shell = spawn("/bin/sh", ["-c", watch, "keeper", directory, farewell], {
    detached: true,
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"]
  })
  const gone = ended(shell)
  gone.catch(() => undefined)
  shell.unref()
  // A pipe to a child is a socket, which its type does not say.
  ;(shell.stdin as unknown as Socket).unref()
  // The one who ended the keeper: what it watches for is reported by `end`.
  shell.stdin.on("error", () => undefined)
  return {
    holds: (pid) => void shell.stdin.write(`${pid ?? ""}\n`),
    end: once(() => {
      shell.ref()
      shell.stdin.end()
      return gone
    })
  }
}

/** Sends a signal to a process and all its children; SIGCONT is also what wakes them. */
export const signalSubAgentTree = async (pid: number, signal: "STOP" | "CONT" | "KILL"): Promise<void> => {
  // One of the family may end in between: only what lives and receives nothing is a failure.
  const script = `${subAgentTree}
for pid in $(family "$1"); do kill -"$2" "$pid" 2>/dev/null || ! kill -0 "$pid" 2>/dev/null || exit 1; done`
  await promisify(execFile)("/bin/sh", ["-c", script, "signal", String(pid), signal])
}
