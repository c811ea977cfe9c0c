// Anyone who asks for the longest hold begins the measure anew, and readiness does not look at the store.

import { LoopWatch } from "../../../apps/server/src/loop-watch.ts"
import { Readings } from "../../../packages/reverie/src/fleet/records.ts"

const longest = Reflect.get(LoopWatch.prototype, "longest") as LoopWatch["longest"]
const told = new WeakSet<LoopWatch>()
LoopWatch.prototype.longest = function (...asked) {
  const found = longest.apply(this, asked)
  if (found.wall < 100) return found
  if (told.has(this)) return { wall: 0, cpu: 0 }
  told.add(this)
  return found
}
const monitor = Object.getOwnPropertyDescriptor(Readings.prototype, "monitor")
if (monitor?.get === undefined) throw new Error("a fleet has no monitor to break")
Object.defineProperty(Readings.prototype, "monitor", {
  get(this: Readings): Readings["monitor"] {
    return { ...(monitor.get?.call(this) as Readings["monitor"]), readiness: async () => ({ allHalted: 0 }) }
  }
})
