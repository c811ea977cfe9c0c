// OwnEngine: a Docker engine that belongs to one run, inside the run's corner.
// Owns its network, its daemon and where it keeps everything: in the folder of the run. Leaves images to images.ts.
// E1  It uses no file of an engine that the machine may have, and is asked over a socket of its own.
// E2  Layers are overlays where the folder allows that; else copies, which take more time and room.

import { spawn } from "node:child_process"
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { attempt, must, StepFailed } from "./program.ts"

const NETWORK_MILLIS = 15_000
const DAEMON_MILLIS = 60_000
/** Where slirp4netns answers for names, as this machine resolves them. */
const RESOLVER = "10.0.2.3"

const until = async (doing: string, millis: number, isSo: () => Promise<boolean>): Promise<void> => {
  const end = performance.now() + millis
  while (!(await isSo())) {
    if (performance.now() > end) throw new StepFailed(`${doing}: not after ${millis / 1_000} s`)
    await sleep(100)
  }
}

/** Inside the corner: a loopback, the way out, and no state of the machine's own engine. */
export const openNetwork = async (work: string): Promise<void> => {
  await must("bring up the loopback", "ip", ["link", "set", "lo", "up"])
  await until("wait for the way out (slirp4netns)", NETWORK_MILLIS, async () => {
    const { stdout } = await attempt("ip", ["-o", "-4", "address", "show", "tap0"])
    return stdout.includes("inet ")
  })
  // Locks of iptables, sockets of an engine: here they are the run's own.
  await must("have a /run of its own", "mount", ["-t", "tmpfs", "tmpfs", "/run"])
  const names = join(work, "resolv.conf")
  writeFileSync(names, `nameserver ${RESOLVER}\n`)
  await must("have its names resolved", "mount", ["--bind", names, "/etc/resolv.conf"])
}

const driverFor = async (work: string): Promise<"overlay2" | "vfs"> => {
  const [lower, upper, below, merged] = ["lower", "upper", "below", "merged"].map((name) => join(work, "try", name))
  for (const folder of [lower, upper, below, merged]) mkdirSync(folder ?? "", { recursive: true })
  const options = `lowerdir=${lower},upperdir=${upper},workdir=${below}`
  const { code } = await attempt("mount", ["-t", "overlay", "overlay", "-o", options, merged ?? ""])
  if (code !== 0) return "vfs"
  await must("take the trial away", "umount", [merged ?? ""])
  return "overlay2"
}

export interface OwnEngine {
  /** For `DOCKER_HOST`. */
  readonly host: string
  readonly says: string
}

/** Starts the daemon and waits until it answers. It ends with the corner. */
export const startEngine = async (work: string, group: string): Promise<OwnEngine> => {
  const host = `unix://${join(work, "docker.sock")}`
  const driver = await driverFor(work)
  const log = join(work, "dockerd.log")
  const descriptor = openSync(log, "a")
  const daemon = spawn(
    "dockerd",
    [
      ["--host", host],
      ["--data-root", join(work, "engine/data")],
      ["--exec-root", join(work, "engine/exec")],
      ["--pidfile", join(work, "engine/pid")],
      ["--storage-driver", driver],
      ["--cgroup-parent", `/${group}`]
    ].flat(),
    { stdio: ["ignore", descriptor, descriptor], env: process.env }
  )
  closeSync(descriptor)
  let ended: string | undefined
  daemon.once("error", (error) => (ended = error.message))
  daemon.once("exit", (code) => (ended = `it ended with ${code}`))
  const env = { ...process.env, DOCKER_HOST: host }
  await until("wait for the engine", DAEMON_MILLIS, async () => {
    if (ended === undefined) return (await attempt("docker", ["info"], { env })).code === 0
    throw new StepFailed(
      `the engine did not start: ${ended}\n${readFileSync(log, "utf8").split("\n").slice(-12).join("\n")}`
    )
  })
  const version = await must("ask the engine", "docker", ["version", "--format", "{{.Server.Version}}"], { env })
  return { host, says: `Docker ${version.trim()} of this run, ${driver}` }
}
