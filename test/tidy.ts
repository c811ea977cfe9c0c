// Tidy: loaded before each test file, so that what its rigs opened is closed at its end.

import { tidy } from "@reverie/testkit/later"
import { afterAll } from "vitest"

/** A long run of random lives leaves thousands of directories. */
const MOST_MILLIS = 600_000

afterAll(tidy, MOST_MILLIS)
