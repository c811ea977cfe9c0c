// Namespace: a corner of this machine with processes, mounts and a network of its own, in which a run takes place.
// Owns making and ending it, and that nothing of it is left. Leaves what happens inside to inside-child.ts.
// N1  Every process of a run lives in one process namespace, the engine and its containers too: when its first process
//     ends, the kernel ends all of them. That one ends when the pipe closes that only the starter holds.
// N2  Bridges, rules of the firewall and published ports exist in the run's own network only; what goes out of it goes
//     through slirp4netns, as this machine's own connections.
// N3  The keeper outlives the starter by a moment and removes the folder of the run and its control groups.

import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readlinkSync } from "node:fs"
import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { StepFailed } from "./program.ts"

/** Reads the id of the first process, then nothing until the pipe closes; ends that process and removes the rest. */
const KEEPER = `
read -r pid || pid=
while read -r _; do :; done
if [ -n "$pid" ]; then
  kill -KILL "$pid" 2>/dev/null
  turns=0
  while [ -d "/proc/$pid" ] && [ $turns -lt 200 ]; do sleep 0.05; turns=$((turns + 1)); done
fi
for tries in 1 2 3; do
  find /sys/fs/cgroup -depth -type d -path "*/$2*" -exec rmdir {} + 2>/dev/null && break
  sleep 0.3
done
for tries in 1 2 3 4 5; do rm -rf --one-file-system "$1" && break; sleep 0.5; done
`

export interface Corner {
  readonly keeper: ChildProcess
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Started before anything else: whatever happens from then on, the folder of the run goes, and the control group under
 * which its containers are.
 */
export const startKeeper = (folder: string, group: string): ChildProcess => {
  const keeper = spawn("/bin/sh", ["-c", KEEPER, "keeper", folder, group], {
    detached: true,
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"]
  })
  keeper.stdin?.on("error", () => undefined)
  return keeper
}

/** Lets it do its work, and waits for it. */
export const endKeeper = async (keeper: ChildProcess): Promise<void> => {
  const gone = once(keeper, "close")
  keeper.stdin?.end()
  await gone
}

const networkOf = (pid: number | "self"): string => {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`)
  } catch {
    return ""
  }
}

const START_MILLIS = 10_000

/** The program that leads the network out; ends with this process, as its exit pipe closes. */
const leadOut = (pid: number, env: Corner["env"]): ChildProcess => {
  const args = ["--configure", "--mtu=65520", "--disable-host-loopback", "--exit-fd=3", String(pid), "tap0"]
  const child = spawn("slirp4netns", args, { env: { ...env }, stdio: ["ignore", "ignore", "ignore", "pipe"] })
  const exit = child.stdio[3] as unknown as Socket
  exit.on("error", () => undefined)
  return child
}

const namespaced = async (child: ChildProcess): Promise<number> => {
  const { pid = 0 } = child
  const until = performance.now() + START_MILLIS
  for (;;) {
    const network = networkOf(pid)
    if (network !== "" && network !== networkOf("self")) return pid
    if (child.exitCode !== null || performance.now() > until) {
      throw new StepFailed("could not make a network of its own: unshare does not, here (a container without rights?)")
    }
    await sleep(20)
  }
}

const MAKE = ["--net", "--pid", "--mount", "--ipc", "--fork", "--kill-child=SIGKILL", "--mount-proc"]

/**
 * Runs a command in a corner of its own; answers its exit code. Its standard input is a pipe that closes when this process
 * ends, or when `signal` says so: then it has to end.
 */
export const runInCorner = async (
  { env, keeper }: Corner,
  command: ReadonlyArray<string>,
  signal: AbortSignal
): Promise<number> => {
  // The shell is the first process: it waits for anyone who has lost its parent, as a first process has to.
  const shell = ["sh", "-c", '"$@"; exit $?', "first", ...command]
  const child = spawn("unshare", [...MAKE, ...shell], {
    detached: true,
    env: { ...env },
    stdio: ["pipe", "inherit", "inherit"]
  })
  const ended = once(child, "close") as Promise<[number | null]>
  child.stdin?.on("error", () => undefined)
  let out: ChildProcess | undefined
  const end = (): void => void child.stdin?.end()
  signal.addEventListener("abort", end)
  try {
    const pid = await namespaced(child)
    keeper.stdin?.write(`${pid}\n`)
    out = leadOut(pid, env)
    if (signal.aborted) end()
    const [code] = await ended
    return code ?? 1
  } finally {
    signal.removeEventListener("abort", end)
    child.kill("SIGKILL")
    out?.kill("SIGKILL")
  }
}
