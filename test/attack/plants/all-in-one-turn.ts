// Work on long texts never waits for a turn of the event loop.

import { longWork } from "@reverie/protocol"
import * as Effect from "effect/Effect"

Reflect.set(longWork, "room", Effect.void)
Reflect.set(longWork, "roomForSlice", Effect.void)
