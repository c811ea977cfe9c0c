// A process at rest keeps all the garbage of a burst.

import { IdleCollection } from "../../../apps/cli/src/idle-collection.ts"

IdleCollection.prototype.look = () => {}
