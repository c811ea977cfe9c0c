// Anyone who asks for the longest hold begins the measure anew, and readiness does not look at the store.

import { LoopWatch } from "../../../apps/server/src/loop-watch.ts"
import { Fleet } from "../../../packages/reverie/src/fleet.ts"

const longest = Reflect.get(LoopWatch.prototype, "longest") as LoopWatch["longest"]
const told = new WeakSet<LoopWatch>()
LoopWatch.prototype.longest = function (...asked) {
  const found = longest.apply(this, asked)
  if (found.wall < 100) return found
  if (told.has(this)) return { wall: 0, cpu: 0 }
  told.add(this)
  return found
}
const monitor = Object.getOwnPropertyDescriptor(Fleet.prototype, "monitor")
if (monitor?.get === undefined) throw new Error("a fleet has no monitor to break")
Object.defineProperty(Fleet.prototype, "monitor", {
  get(this: Fleet): Fleet["monitor"] {
    return { ...(monitor.get?.call(this) as Fleet["monitor"]), readiness: async () => ({ allHalted: 0 }) }
  }
})
