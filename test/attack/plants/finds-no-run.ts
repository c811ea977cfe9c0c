// Plant: no asynchronous context leads to a run, so what a tool leaves behind belongs to no one.

import { AsyncLocalStorage } from "node:async_hooks"

AsyncLocalStorage.prototype.getStore = () => undefined
