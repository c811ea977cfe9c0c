// Upgrade: what the version before wrote, in the hands of the one that is packed now.
// Owns the one row, and where the version before comes from. Leaves formats to the stores.
// V1  From the first release on, the version before is the newest tag `v*` before this commit, packed as it was.
// V2  While there is none, this very package under an older number stands for it: then the row proves the steps, and no format.

import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/check/program.ts"
import { tarballOf } from "../../scripts/pack.ts"
import type { Row, Scene } from "./scene.ts"

const definition = `import { defineAssistant, defineFleet, exportFleet, Fleet, importFleet } from "reverie"
import { createReadStream, writeFileSync } from "node:fs"
const fleet = defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You run the front desk of a harbour." })] })
export default fleet
const open = (data) => Fleet.open({ data, model: "offline", fleet })
const texts = async (opened) => JSON.stringify(await opened.history.entries("desk"))
`

const before = `${definition}
const opened = await open("data")
console.log("answered", (await opened.answer("desk", "berth seven is free", { id: "m1" })).length > 0)
await opened.answer("desk", "hello again", { id: "m2" })
await opened.idle()
await opened.close()
const lines = []
for await (const line of exportFleet({ from: { data: "data" } })) lines.push(line.endsWith("\\n") ? line : line + "\\n")
writeFileSync("export.jsonl", lines.join(""))
console.log("exported", lines.length)
`

const after = `${definition}
const opened = await open("data")
console.log("kept", (await texts(opened)).includes("berth seven is free"))
console.log("once", (await opened.post("desk", { type: "message", text: "hello again" }, { id: "m2" })).outcome)
console.log("goes on", (await opened.answer("desk", "one more", { id: "m3" })).length > 0)
await opened.idle()
await opened.close()
const { moved } = await importFleet({ into: { data: "moved" }, source: () => createReadStream("export.jsonl") })
console.log("moved", moved.join(" "))
const elsewhere = await open("moved")
console.log("moved kept", (await texts(elsewhere)).includes("berth seven is free"))
console.log("moved goes on", (await elsewhere.answer("desk", "one more", { id: "m3" })).length > 0)
await elsewhere.close()
`

interface Former {
  readonly tarball: string
  readonly version: string
  readonly from: string
}

const manifestOf = (folder: string): { readonly version: string } =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { readonly version: string }

/** V1, V2. */
const formerOf = async (scene: Scene): Promise<Former> => {
  const listed = await scene.run(root, "git", ["tag", "--list", "v*", "--sort=-v:refname", "--merged", "HEAD^"])
  const tag = listed.stdout.split("\n")[0] ?? ""
  if (tag !== "") {
    await scene.must(scene.folder, "git", ["clone", "--quiet", "--no-local", "--branch", tag, root, "former"])
    const folder = join(scene.folder, "former")
    await scene.must(folder, "npm", ["ci", "--no-audit", "--no-fund"], { seconds: 600 })
    const packing = ["scripts/run.mjs", "scripts/pack.ts", "--tarball", "--json"]
    const packed = await scene.must(folder, "node", packing, { seconds: 600 })
    const { tarball } = JSON.parse(packed.stdout) as { readonly tarball: string }
    return { tarball, version: tag.slice(1), from: tag }
  }
  const unpacked = scene.program("former")
  await scene.must(unpacked, "tar", ["-xzf", scene.tarball])
  const folder = join(unpacked, "package")
  const version = "0.0.1"
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifestOf(folder), version }))
  return { tarball: await tarballOf(folder), version, from: "this package under an older number" }
}

export const upgrade: Row = {
  name: "upgrade",
  says: "a store, an export and a recorded life of the version before: opened, imported, replayed, gone on with",
  run: async (scene, figure) => {
    const former = await formerOf(scene)
    figure("isReleased", former.from.startsWith("v") ? 1 : 0)
    const folder = scene.program("upgrade", { "before.mjs": before, "after.mjs": after })
    const add = ["install", "--no-audit", "--no-fund", "--offline"]
    await scene.must(folder, "npm", [...add, former.tarball])
    const installed = manifestOf(join(folder, "node_modules/reverie")).version
    const wrote = await scene.run(folder, "node", ["before.mjs"])
    await scene.must(folder, "npm", [...add, scene.tarball])
    const now = manifestOf(join(folder, "node_modules/reverie")).version
    const replaying = ["--offline", "reverie", "replay", "desk", "--verify", "--data"]
    const replayed = await scene.run(folder, "npx", [...replaying, "data"])
    const went = await scene.run(folder, "node", ["after.mjs"])
    const again = await scene.run(folder, "npx", [...replaying, "moved"])
    return [
      [`the version before is ${former.version} (${former.from})`, installed === former.version && installed !== now],
      ["it writes a store and an export", wrote.code === 0 && /exported \d\d+/.test(wrote.stdout), wrote.text],
      ["its life is replayed, byte for byte", replayed.code === 0, replayed.text],
      ["its store is opened, with what it held", /^kept true$/m.test(went.stdout), went.text],
      ["what was accepted before is accepted once", /^once duplicate$/m.test(went.stdout), went.text],
      ["it goes on", /^goes on true$/m.test(went.stdout), went.text],
      ["its export is imported", /^moved default\/desk$/m.test(went.stdout), went.text],
      ["and goes on too", went.code === 0 && /^moved kept true\nmoved goes on true$/m.test(went.stdout), went.text],
      ["both lives are replayed after that", again.code === 0, again.text]
    ]
  }
}
