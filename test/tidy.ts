// Tidy: loaded before each test file, so that what its rigs opened is closed at its end.

import { tidy } from "@reverie/testkit/later"
import { afterAll } from "vitest"

afterAll(tidy)
