// Page: the files of the built dashboard.
// Owns which file a path means. Leaves who may ask to guard.ts.

import type { IncomingMessage, ServerResponse } from "node:http"

export class Page {
  readonly #folder: string
  constructor(folder: string) {
    this.#folder = folder
  }

  answer(_request: IncomingMessage, _response: ServerResponse, _path: string): Promise<boolean> {
    return Promise.resolve(this.#folder === "")
  }
}
