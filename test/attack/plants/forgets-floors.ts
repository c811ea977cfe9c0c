// What could not be brought down is forgotten: every tick tries again.

const get = Reflect.get(Map.prototype, "get") as (this: Map<unknown, unknown>, key: unknown) => unknown
const forgetting = function (this: Map<unknown, unknown>, key: unknown): unknown {
  return key === "history-floor" ? undefined : get.call(this, key)
}
const prototype: object = Map.prototype
Reflect.set(prototype, "get", forgetting)
