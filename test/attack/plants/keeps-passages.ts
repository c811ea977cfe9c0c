// An order to delete a passage is accepted, and means a passage that there is not.

import { Fleet } from "../../../packages/reverie/src/fleet.ts"

const post = Reflect.get(Fleet.prototype, "post") as Fleet["post"]
Fleet.prototype.post = function (to, event, options) {
  return post.call(this, to, event.type === "deletePassage" ? { ...event, passage: "passage_none" } : event, options)
}
