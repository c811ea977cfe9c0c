// A stream goes on for a while after its client has left.

import { Subscriber } from "../../../apps/server/src/feed/subscriber.ts"

const destroy = Reflect.get(Subscriber.prototype, "_destroy") as Subscriber["_destroy"]
Subscriber.prototype._destroy = function (error, done) {
  setTimeout(() => destroy.call(this, error, done), 30_000)
}
