// What could not be brought down is forgotten: every tick tries again.

const get = Reflect.get(Map.prototype, "get") as (this: Map<unknown, unknown>, key: unknown) => unknown
Map.prototype.get = function (this: Map<unknown, unknown>, key: unknown) {
  return key === "history-floor" ? undefined : get.call(this, key)
}
