// Disks and clocks: a disk that is full, a disk that fails to write, a clock that jumps. All of it was held before this lane
// existed, and has to go on being held.

import { execFileSync } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Attack, Check, Finding } from "../attack.ts"
import type { Posted } from "../client.ts"
import { judge, pause } from "../judge.ts"
import { judgeAgain, sendMany } from "../moves.ts"
import type { Scene, Server, ServerOptions } from "../scene.ts"
import { slowScript } from "../slow-model.ts"

const runs = (program: string, ...args: ReadonlyArray<string>): boolean => {
  try {
    execFileSync(program, args, { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

const DISK_MEGABYTES = 12

/** Sends while nothing can be written; what is acknowledged all the same is reported. */
const sendInNeed = async (server: Server, prefix: string): Promise<{ sent: number; posted: ReadonlyArray<Posted> }> => {
  const sent = 12
  return { sent, posted: await sendMany(server, sent, prefix, "hello ".repeat(2_000)) }
}

/** Sends until all of a few are acknowledged: by the same server, or by the next one where it has ended. */
const recovered = async (scene: Scene, server: Server, options: ServerOptions) => {
  let living = server
  for (const end = performance.now() + 30_000; performance.now() < end; await pause(250)) {
    if (living.hasEnded()) living = await scene.serve(options)
    const posted = await sendMany(living, 4, `again-${Math.round(performance.now())}`)
    if (posted.length === 4) return { living, posted }
  }
  return { living, posted: [] }
}

const inNeed = async (
  scene: Scene,
  options: ServerOptions & { readonly data: string },
  trouble: { readonly begin: () => void; readonly end: () => void }
): Promise<Finding> => {
  const server = await scene.serve(options)
  const before = await sendMany(server, 8, "before")
  trouble.begin()
  const during = await sendInNeed(server, "during")
  trouble.end()
  const { living, posted: after } = await recovered(scene, server, options)
  await living.kill()
  const judged = await judgeAgain(scene, [...before, ...during.posted, ...after], options)
  const checks: ReadonlyArray<Check> = [
    { says: "all was well before", ok: before.length === 8, seen: `${before.length} of 8` },
    {
      says: "while nothing can be written, nothing is acknowledged for ever",
      ok: during.posted.length < during.sent,
      seen: `${during.posted.length} of ${during.sent}`
    },
    {
      says: "it accepts again afterwards",
      ok: after.length > 0,
      seen: `${after.length} of 4: ${server.said().slice(-600)}`
    }
  ]
  return { ...judged, checks }
}

const fullDisk: Attack = {
  name: "full-disk",
  item: 0,
  says: `a disk of ${DISK_MEGABYTES} MB is filled while messages come in, and freed`,
  wants: () => (process.getuid?.() === 0 && runs("mount", "--version") ? undefined : "root, to mount a small disk"),
  run: async (scene) => {
    const disk = join(scene.directory, "disk")
    mkdirSync(disk)
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MEGABYTES}m`, "tmpfs", disk])
    const ballast = join(disk, "ballast")
    const fill = (): void => {
      for (let bytes = 1_048_576; bytes >= 1;) {
        try {
          writeFileSync(ballast, Buffer.alloc(bytes), { flag: "a" })
        } catch {
          bytes /= 4
        }
      }
    }
    try {
      return await inNeed(
        scene,
        { data: join(disk, "data") },
        { begin: fill, end: () => rmSync(ballast, { force: true }) }
      )
    } finally {
      execFileSync("umount", ["--lazy", disk])
    }
  }
}

/** Every write and every sync of the database's files fails while a file exists. */
const SHIM = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int failing(int fd) {
  char link[64], path[4096];
  if (access(getenv("REVERIE_ATTACK_TROUBLE"), F_OK) != 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, "reverie.db") != NULL;
}
#define WRAP(NAME, PARAMETERS, ARGUMENTS, TYPE) \\
  TYPE NAME PARAMETERS { \\
    static TYPE (*real) PARAMETERS; \\
    if (real == NULL) real = dlsym(RTLD_NEXT, #NAME); \\
    if (failing(fd)) { errno = EIO; return -1; } \\
    return real ARGUMENTS; \\
  }
WRAP(pwrite64, (int fd, const void *from, size_t count, off64_t at), (fd, from, count, at), ssize_t)
WRAP(pwrite, (int fd, const void *from, size_t count, off_t at), (fd, from, count, at), ssize_t)
WRAP(write, (int fd, const void *from, size_t count), (fd, from, count), ssize_t)
WRAP(fsync, (int fd), (fd), int)
WRAP(fdatasync, (int fd), (fd), int)
`

const failingDisk: Attack = {
  name: "failing-disk",
  item: 0,
  says: "every write to the database fails with EIO for a while, then the disk is well again",
  wants: () => (process.platform === "linux" && runs("cc", "--version") ? undefined : "Linux and a C compiler"),
  run: (scene) => {
    const [source, shim, trouble] = ["shim.c", "shim.so", "trouble"].map((name) => join(scene.directory, name))
    if (source === undefined || shim === undefined || trouble === undefined) throw new Error("unreachable")
    writeFileSync(source, SHIM)
    execFileSync("cc", ["-shared", "-fPIC", "-o", shim, source, "-ldl"])
    return inNeed(
      scene,
      { data: scene.data, env: { LD_PRELOAD: shim, REVERIE_ATTACK_TROUBLE: trouble } },
      { begin: () => writeFileSync(trouble, ""), end: () => rmSync(trouble) }
    )
  }
}

const DAY_MILLIS = 86_400_000

/** The clock of a server is as far off as a file says. */
const clockModule = (file: string): string => `
import { readFileSync } from "node:fs"
const real = Date.now
const offset = () => { try { return Number(readFileSync(${JSON.stringify(file)}, "utf8")) } catch { return 0 } }
Date.now = () => real() + offset()
globalThis.Date = new Proxy(Date, {
  construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [target.now()] : args, made)
})
`

const jumpingClock: Attack = {
  name: "jumping-clock",
  item: 0,
  says: "the clock jumps a day ahead, two days back and on again while messages come in, and back once more after a kill",
  isShort: true,
  run: async (scene) => {
    const [file, module] = [join(scene.directory, "offset"), join(scene.directory, "clock.mjs")]
    writeFileSync(module, clockModule(file))
    const planted = scene.environment()["NODE_OPTIONS"] ?? ""
    scene.model.become({ script: slowScript })
    const options = { env: { NODE_OPTIONS: `${planted} --import=${module}`.trim() } }
    const server = await scene.serve(options)
    const posted: Array<Posted> = []
    const jumps = [0, 1, -1, 0.5]
    for (const [at, days] of jumps.entries()) {
      writeFileSync(file, String(days * DAY_MILLIS))
      // The last ones still wait when the process is killed, in a time that is the future afterwards.
      const said = at === jumps.length - 1 ? "slow 5000" : "hello"
      posted.push(...(await sendMany(server, 8, `jump-${at}`, said)))
    }
    await server.kill()
    writeFileSync(file, String(-2 * DAY_MILLIS))
    const again = await scene.serve(options)
    // Judged before anything new comes: a new message would wake its assistant for the old ones too.
    const { lost } = await judge(again.client, posted)
    posted.push(...(await sendMany(again, 8, "after")))
    const judged = await judge(again.client, posted)
    await again.stop()
    return {
      ...judged,
      checks: [
        { says: "all were acknowledged", ok: posted.length === 40, seen: `${posted.length} of 40` },
        { says: "what waited at the kill is handled at once", ok: lost === 0, seen: `${lost} still wait` }
      ]
    }
  }
}

export const disksAndClocks: ReadonlyArray<Attack> = [fullDisk, failingDisk, jumpingClock]
